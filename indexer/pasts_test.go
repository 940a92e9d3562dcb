package indexer_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestWhatWalletsDidBeforeTheIndexBegan: an index that begins late reads from the node what members did before, and then has the positions of one that was there
// from the first block on. So it has after a reorg, and a fresh index with its facts.
func TestWhatWalletsDidBeforeTheIndexBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	var records []member.Record
	for i, wallet := range w.Traders[:8] {
		id := fmt.Sprint("u", i)
		records = append(records, joins(id, 1), has(id, wallet))
	}
	whole := storetest.Open(t, "sqlite")
	enrol(t, whole, 1_000, records...)
	cfg := w.config()
	end := run(t, cfg, whole, 0)
	w.trade(t, 50) // most pools are traded in again after the late index has begun
	w.await(t, whole)
	status, _, err := whole.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}

	late := storetest.Open(t, "sqlite")
	enrol(t, late, 1_000, records...)
	lateCfg := w.config()
	lateCfg.Start.Block, lateCfg.Tracking.PastDays = status.Last.Number-45, 90
	stop := runSettled(t, lateCfg, late, 0)
	w.await(t, late)
	w.awaitPasts(t, late, 8)
	w.await(t, whole)
	w.holdPast(t, late, whole, lateCfg.Start.Block)

	if err := w.node.Reorg(t.Context(), 6); err != nil { // some of the pasts go with it
		t.Fatal(err)
	}
	w.trade(t, 8)
	w.await(t, late)
	w.awaitPasts(t, late, 8)
	w.await(t, whole)
	w.holdPast(t, late, whole, lateCfg.Start.Block)
	end()
	stop()

	facts, err := late.Facts.Between(t.Context(), "base", 0, math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	pasts, err := late.Wallets.PastFacts(t.Context(), "base", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range pasts {
		of, _ := f.Fact.(market.PastFact)
		if f.Fact, _, err = late.Wallets.KeptPast(t.Context(), "base", f.Block, of.Wallet); err != nil {
			t.Fatal(err)
		}
		facts = append(facts, f)
	}
	fresh := storetest.Open(t, "sqlite")
	l, err := fresh.Leases.Acquire(t.Context(), "base", t.Name(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := fresh.Inspect.KeepFacts(t.Context(), l, facts); err != nil {
		t.Fatal(err)
	}
	enrol(t, fresh, 1_000, records...)
	stop = runSettled(t, lateCfg, fresh, 10)
	w.await(t, fresh)
	stop()
	want, got := ofWallets(t, late), ofWallets(t, fresh)
	for table := range want {
		if !slices.Equal(want[table], got[table]) {
			t.Errorf("a fresh index has others of %s: %d rows, want %d", table, len(got[table]), len(want[table]))
		}
	}
}

// runSettled starts an indexer that reads pasts at once.
func runSettled(t *testing.T, cfg *chainconfig.Chain, st *store.Store, cachedRows int) (stop func()) {
	t.Helper()
	return runWith(t, cfg, st, indexer.Options{CachedRows: cachedRows, PastSettle: 1})
}

// awaitPasts makes blocks until so many wallets' pasts are taken in, each by a block.
func (w *testWorld) awaitPasts(t *testing.T, st *store.Store, wallets int) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		list, err := st.Wallets.Watched(t.Context(), "base")
		if err != nil {
			t.Fatal(err)
		}
		list = slices.DeleteFunc(list, func(w market.WatchedWallet) bool { return w.PastIn == 0 })
		if len(list) == wallets {
			return
		}
		w.quiet(t, st)
	}
	t.Fatal("the wallets' pasts aren't taken in")
}

// holdPast holds the positions of an index that began late against those of one that didn't.
func (w *testWorld) holdPast(t *testing.T, late, whole *store.Store, began uint64) {
	t.Helper()
	want, got := positionsOf(t, whole), positionsOf(t, late)
	poolsOf := func(st *store.Store) map[market.Address]market.Address {
		list, err := st.Inspect.Pools(t.Context(), "base", 0)
		if err != nil {
			t.Fatal(err)
		}
		bases := map[market.Address]market.Address{}
		for _, p := range list {
			bases[p.ID] = p.Base
		}
		return bases
	}
	tokens, known := map[market.Address]bool{}, poolsOf(late) // tokens all of whose pools the late index knows
	for _, base := range known {
		tokens[base] = true
	}
	for pool, base := range poolsOf(whole) {
		if _, ok := known[pool]; !ok {
			delete(tokens, base)
		}
	}
	for _, token := range w.Tokens {
		if token.Behaviour == world.Rebasing { // balances that no transfer tells
			delete(tokens, markettest.Address(token.Address))
		}
	}
	held := 0
	for k, p := range want {
		if !tokens[k.Token] || p.Quantity.IsZero() {
			continue
		}
		held++
		is := got[k]
		// The quote may be priced by another pool of then: the world's pools are some percent apart.
		if cost, of := is.Cost.Dollars(), p.Cost.Dollars(); is.Quantity != p.Quantity || math.Abs(cost-of) > 0.05*of {
			t.Errorf("%v of %v: %s at %v USD, want %s at %v", k.Wallet, k.Token, is.Quantity.Dec(), cost, p.Quantity.Dec(), of)
		}
	}
	entries, err := late.Inspect.Entries(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	before, valued := 0, 0
	for _, e := range entries {
		if e.Block >= began {
			continue
		}
		if before++; e.Counts {
			t.Errorf("an entry of before the index counts: %+v", e)
		}
		if e.HasUSD {
			valued++
		}
	}
	if held < 8 || before < 30 || valued < 20 {
		t.Errorf("%d positions, %d entries of before the index, %d of them valued", held, before, valued)
	}
}

func positionsOf(t *testing.T, st *store.Store) map[market.PositionKey]market.Position {
	t.Helper()
	list, err := st.Inspect.Positions(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	return list
}
