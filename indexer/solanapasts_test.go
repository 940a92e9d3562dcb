package indexer

import (
	"math"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestSolanaPasts: an index that begins late reads from the nodes what members did before, as one knows it that was there from the first block on. So
// it does after forks.
func TestSolanaPasts(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLocalSolana(t, 21)
			whole, late := storetest.Open(t, kind), storetest.Open(t, kind)
			for _, st := range []*store.Store{whole, late} {
				l.enrol(t, st, 0, len(l.People))
			}
			endWhole := startSolana(t, whole, l.config(t))
			l.grow(t, 120)
			cfg := l.config(t)
			cfg.Start, cfg.Tracking.PastDays = chainconfig.Start{Now: true}, 90
			for range 2 {
				same := func(text []byte) []byte { return text }
				cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: another(t, l.Chain.URL(), same), Weight: 1})
			}
			endLate := startSolanaWith(t, late, cfg, Options{PastSettle: 1})
			for range 20 {
				l.grow(t, 3)
				l.await(t, late)
			}
			l.awaitPasts(t, late)
			for range 3 {
				if err := l.Fork(t.Context(), 5); err != nil {
					t.Fatal(err)
				}
				l.grow(t, 8)
				l.await(t, late)
			}
			l.awaitPasts(t, late)
			l.await(t, whole)
			endWhole()
			endLate()
			l.wantPasts(t, late, whole)
		})
	}
}

// awaitPasts has the chain go on until the pasts of all people are taken in, each by a block.
func (l *localSolana) awaitPasts(t *testing.T, st *store.Store) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(300 * time.Millisecond) {
		list, err := st.Wallets.Watched(t.Context(), "solana")
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for _, w := range list {
			if w.PastIn > 0 {
				taken++
			}
		}
		if taken == len(l.People) {
			return
		}
		l.grow(t, 1)
		l.await(t, st)
	}
	t.Fatal("the wallets' pasts aren't taken in")
}

// wantPasts holds what an index that began late knows of the time before against what one knows that didn't: all trades in pools that it knows, by now. Of a curve it
// knows nothing whose launch it didn't see.
func (l *localSolana) wantPasts(t *testing.T, late, whole *store.Store) {
	t.Helper()
	status, _, err := late.Chain(t.Context(), "solana")
	if err != nil {
		t.Fatal(err)
	}
	pools, err := late.Inspect.Pools(t.Context(), "solana", 0)
	if err != nil {
		t.Fatal(err)
	}
	known := map[market.Address]bool{}
	for _, p := range pools {
		known[p.ID] = true
	}
	type trade struct {
		wallet, token, pool market.Address
		kind                market.EntryKind
		tx                  market.TxID
		amount              market.Amount
	}
	tradesOf := func(st *store.Store) map[trade]market.Entry {
		entries, err := st.Inspect.Entries(t.Context(), "solana")
		if err != nil {
			t.Fatal(err)
		}
		out := map[trade]market.Entry{}
		for _, e := range entries {
			if e.Block < status.StartBlock && known[e.Pool] {
				out[trade{e.Wallet, e.Token, e.Pool, e.Kind, e.Tx, e.Amount}] = e
			}
		}
		return out
	}
	want, got := tradesOf(whole), tradesOf(late)
	valued := 0
	for k, is := range got {
		of, ok := want[k]
		if !ok || is.Block != of.Block || is.Time != of.Time || is.Counts {
			t.Errorf("%+v, want %+v", is, of)
		}
		if is.HasUSD && of.HasUSD {
			if valued++; math.Abs(float64(is.NanoUSD-of.NanoUSD)) > 0.02*float64(of.NanoUSD) {
				t.Errorf("it is worth %d, want %d", is.NanoUSD, of.NanoUSD)
			}
		}
	}
	t.Logf("%d trades, want %d, %d valued", len(got), len(want), valued)
	if len(got) != len(want) || len(want) < 10 || valued < len(want)*9/10 {
		t.Errorf("%d trades in pools before the index began, want %d; %d of them are valued", len(got), len(want), valued)
	}
}
