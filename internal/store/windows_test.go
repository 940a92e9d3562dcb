package store_test

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAWindowKeepsEarlierBinariesAway: a binary that doesn't know windows would take the ticks of one for all of the pool's. From the first window on, of a pool or
// of a fact, it is refused.
func TestAWindowKeepsEarlierBinariesAway(t *testing.T) {
	t.Parallel()
	ofPool := func(c *store.Commit) { c.Changes.Pools[0].After.Window = market.TickWindow{Lower: -887272, Upper: 10} }
	ofFact := func(c *store.Commit) {
		c.Facts = append(c.Facts, store.StoredFact{
			Block: c.Last.Number, Hash: c.Last.Hash, Fact: market.PoolStateFact{Pool: markettest.Address("0x00000000000000000000000000000000000000a1"), Window: market.TickWindow{Upper: 10}},
		})
	}
	for name, window := range map[string]func(*store.Commit){"pool": ofPool, "fact": ofFact} {
		keepsEarlierBinariesAway(t, name, window)
	}
}

func keepsEarlierBinariesAway(t *testing.T, of string, window func(*store.Commit)) {
	t.Helper()
	for _, kind := range storetest.Both {
		t.Run(of+"/"+kind, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := storetest.Open(t, kind)
			l, err := s.Leases.Acquire(ctx, "base", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			before := map[string]*market.Changes{}
			for n, want := range []int{9, 29, 29} { // a whole map, a window, and the window again
				c := commitOf(n+1, 1, before)
				if n > 0 {
					window(c)
				}
				if err := s.Commit(ctx, l, c); err != nil {
					t.Fatal(err)
				}
				var oldest int
				if err := s.Inspect.Database().Read.QueryRowContext(ctx, "SELECT oldest FROM schema_reader").Scan(&oldest); err != nil || oldest != want {
					t.Errorf("after commit %d the oldest schema that a binary must know is %d, %v; want %d", n+1, oldest, err, want)
				}
			}
		})
	}
}
