package indexer_test

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// recounting starts an indexer that waits for nothing between recounts.
func recounting(t *testing.T, cfg *chainconfig.Chain, st *store.Store) (stop func()) {
	t.Helper()
	ix, err := indexer.New(cfg, st, indexer.Options{
		Log: logger(t), Now: time.Now, Holder: t.Name(), CachedRows: 1000, RereadPause: 2 * time.Millisecond, RecountPause: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// balancesLiar stands before the world's node and tells wrong balances while it is armed.
func (w *testWorld) balancesLiar(t *testing.T) (armed *atomic.Bool, url string) {
	t.Helper()
	armed = new(atomic.Bool)
	armed.Store(true)
	return armed, w.relay(t, func(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
		if armed.Load() && callOf(method, params, selector("balanceOf(address)")) {
			return oneMore(result)
		}
		return result
	})
}

// givenUp lists the tokens whose count of holders was given up, but for one.
func givenUp(t *testing.T, st *store.Store, but market.Address) (mints []market.Address) {
	t.Helper()
	for mint, tok := range tokens(t, st) {
		if tok.Holders.Status == market.HoldersUnavailable && mint != but {
			mints = append(mints, mint)
		}
	}
	return mints
}

// untilGivenUp trades until a token whose transfers tell its balances has no count of holders any more.
func (w *testWorld) untilGivenUp(t *testing.T, st *store.Store) (mints []market.Address) {
	t.Helper()
	for n := 0; len(mints) == 0; n++ {
		if n == 40 {
			t.Fatal("no count of holders was given up: the test shows nothing")
		}
		w.trade(t, 10)
		w.await(t, st)
		mints = givenUp(t, st, w.rebasing(t))
	}
	return mints
}

// untilRecounted trades until the holders of the tokens are known, and holds them against the contracts.
func (w *testWorld) untilRecounted(t *testing.T, st *store.Store, mints []market.Address) {
	t.Helper()
	names := make([]string, len(mints))
	for i, m := range mints {
		names[i] = m.String()
	}
	w.awaitHolders(t, st, names...)
}

// untilCountedAnew trades until a token was counted anew, without a result.
func (w *testWorld) untilCountedAnew(t *testing.T, st *store.Store, mint market.Address) {
	t.Helper()
	seen := false
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		w.trade(t, 1)
		w.await(t, st)
		_, running := recountOf(t, st, mint)
		if seen && !running {
			return // it has ended; the next one may begin before anybody sees that it is due
		}
		seen = seen || running
		r, ok, err := st.Jobs.DueRecount(t.Context(), "base", math.MaxInt64, "", mint, nil)
		if err != nil {
			t.Fatal(err)
		}
		if ok && r.Token == mint && r.Times > 1 {
			return
		}
	}
	t.Errorf("%s was not counted anew", mint)
}

// compareRecounted holds an index against one that was made from scratch. Of tokens that were counted anew neither says since when their
// transfers were booked in their own blocks, nor how the count grew before, nor what a trader had before a trade.
func (w *testWorld) compareRecounted(t *testing.T, got *store.Store, cfg *chainconfig.Chain, recounted []market.Address) {
	t.Helper()
	fresh := storetest.Open(t, "sqlite")
	stop := run(t, cfg, fresh, 0)
	w.await(t, fresh)
	stop()
	w.compareTables(t, derivedRows(t, got), derivedRows(t, fresh), "pools", "pool_ticks", "quote_prices", "candles")
	have, want := tokens(t, got), tokens(t, fresh)
	for mint, b := range want {
		if mint == w.rebasing(t) { // which sample found it out isn't the same
			continue
		}
		ours, err := got.Balances.All(t.Context(), "base", mint)
		theirs, e := fresh.Balances.All(t.Context(), "base", mint)
		if err != nil || e != nil || !maps.Equal(ours, theirs) {
			t.Errorf("token %q has the balances\n  %v, %v\na fresh index has\n  %v, %v", b.Symbol, ours, err, theirs, e)
		}
		a := have[mint]
		a.Holders.Strikes = b.Holders.Strikes // a false sample is a kept fact
		if slices.Contains(recounted, mint) {
			a.SinceCreation, a.Holders.Gained = b.SinceCreation, b.Holders.Gained
		}
		if a != b {
			t.Errorf("token %q is\n  %+v\na fresh index has\n  %+v", b.Symbol, a, b)
		}
	}
	ours, theirs := all[market.Trade](t)(got.Inspect.Trades(t.Context(), "base", 0, 0)), all[market.Trade](t)(fresh.Inspect.Trades(t.Context(), "base", 0, 0))
	if len(ours) != len(theirs) {
		t.Fatalf("%d trades, a fresh index has %d", len(ours), len(theirs))
	}
	for i := range theirs {
		if slices.Contains(recounted, theirs[i].Base) {
			ours[i].HasTraderBefore, ours[i].TraderBefore = theirs[i].HasTraderBefore, theirs[i].TraderBefore
		}
		if ours[i] != theirs[i] {
			t.Fatalf("trade %d is\n  %+v\na fresh index has\n  %+v", i, ours[i], theirs[i])
		}
	}
}

// TestHoldersComeBack: the only node of a chain tells wrong balances until counts of holders are given up, and right ones from then on. The
// counts come back, and are those of the contracts and of a fresh index. That of a token whose transfers don't tell its balances does not.
func TestHoldersComeBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 40)
			armed, url := w.balancesLiar(t)
			cfg := w.config()
			cfg.ReorgBlocks, cfg.FinalityDepth = 8, 8
			honest := *cfg
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
			st := storetest.Open(t, kind)
			stop := recounting(t, cfg, st)
			mints := w.untilGivenUp(t, st)
			armed.Store(false)
			w.rebase(t, w.TokensLike(world.Rebasing)[0].Address, 1_003_000)
			w.awaitRebaseSeen(t, st)
			mints = append(mints, givenUp(t, st, w.rebasing(t))...)
			w.untilRecounted(t, st, mints)
			w.untilCountedAnew(t, st, w.rebasing(t))
			if h := tokens(t, st)[w.rebasing(t)].Holders; h.Status != market.HoldersUnavailable {
				t.Errorf("the holders of the token that rebases are %+v", h)
			}
			stop()
			w.compareRecounted(t, st, &honest, mints)
		})
	}
}

// recountOf is the step of a token's recount; ok is false where there is none.
func recountOf(t *testing.T, st *store.Store, mint market.Address) (step market.RecountStep, ok bool) {
	t.Helper()
	jobs, err := st.Jobs.List(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if j.Token == mint {
			return j.Recount, true
		}
	}
	return "", false
}

// TestRecountsSurviveReorgsAndRestarts: a recount is taken back by a reorg as it begins, by a restart at each of its steps, and by a reorg after
// its result is there. The counts come back all the same, and are those of a fresh index.
func TestRecountsSurviveReorgsAndRestarts(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 40)
			armed, url := w.balancesLiar(t)
			cfg := w.config()
			cfg.ReorgBlocks, cfg.FinalityDepth = 8, 8
			honest := *cfg
			cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
			st := storetest.Open(t, kind)
			_, stop := startImpatient(t, cfg, st) // counts nothing anew for ten minutes
			mints := w.untilGivenUp(t, st)
			armed.Store(false)
			w.trade(t, 10) // beyond the reach of reorgs, which would take the false samples back
			w.await(t, st)
			stop()

			stop = recounting(t, cfg, st)
			reorged, restarted, undone := 0, 0, 0
			seen := map[market.RecountStep]bool{}
			for deadline := time.Now().Add(90 * time.Second); reorged < 2 || restarted < 1 || undone < 2; time.Sleep(100 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d reorgs of a beginning, %d restarts, %d reorgs of a result: the test shows little", reorged, restarted, undone)
				}
				w.trade(t, 1)
				w.await(t, st)
				for _, mint := range mints {
					step, running := recountOf(t, st, mint)
					switch current := tokens(t, st)[mint].Holders.Status == market.HoldersCurrent; {
					case running && step == market.RecountBegun && reorged < 2:
						reorged++
						w.reorg(t, 3)
					case running && !seen[step]:
						seen[step] = true
						restarted++
						stop()
						stop = recounting(t, cfg, st)
					case current && undone < 2:
						undone++
						w.reorg(t, 2)
					}
				}
			}
			w.untilRecounted(t, st, mints)
			stop()
			if jobs, err := st.Jobs.List(t.Context(), "base"); err != nil || slices.ContainsFunc(jobs, func(j market.HolderJob) bool { return slices.Contains(mints, j.Token) }) {
				t.Errorf("jobs are left: %+v, %v", jobs, err)
			}
			w.compareRecounted(t, st, &honest, mints)
		})
	}
}

// reorg replaces the newest blocks by others.
func (w *testWorld) reorg(t *testing.T, depth int) {
	t.Helper()
	if err := w.node.Rollback(t.Context(), depth); err != nil {
		t.Fatal(err)
	}
	w.trade(t, depth+1)
}
