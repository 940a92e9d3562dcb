package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestRewindNamesWhatItTouches: rows that come back, rows that go, and what both belong to.
func TestRewindNamesWhatItTouches(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			empty := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}, Undo: true}
			before := map[string]*market.Changes{}
			made := commitOf(2, 3, before)
			changed, gone := commitOf(3, 3, before), commitOf(4, 3, before)
			for i := range gone.Changes.Pools {
				gone.Changes.Pools[i].After, gone.Changes.Launches[i].After = nil, nil
			}
			for _, c := range []*store.Commit{empty, made, changed, gone} {
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []*store.Commit{gone, changed, made} {
				touched, err := s.Rewind(t.Context(), l, c.Last.Number-1)
				if err != nil {
					t.Fatal(err)
				}
				ch := &c.Changes
				bases := []market.Address{address(0), address(1), address(2)}
				sameKeys(t, "tokens", touched.Tokens, keysOf(ch.Tokens))
				sameKeys(t, "pools", touched.Pools, keysOf(ch.Pools))
				sameKeys(t, "bases", touched.Bases, bases)
				sameKeys(t, "ticks", touched.Ticks, keysOf(ch.Ticks))
				sameKeys(t, "candles", touched.Candles, keysOf(ch.Candles))
				sameKeys(t, "balances", touched.Balances, keysOf(ch.Balances))
				sameKeys(t, "launches", touched.Launches, keysOf(ch.Launches))
				sameKeys(t, "watched wallets", touched.Watched, keysOf(ch.Watched))
				sameKeys(t, "positions", touched.Positions, keysOf(ch.Positions))
				sameKeys(t, "hours", touched.Hours, keysOf(ch.Hours))
				sameKeys(t, "curves", touched.Curves, []market.Address{address(800)})
			}
			touched, err := s.Rewind(t.Context(), l, 0)
			if !errors.Is(err, store.ErrBelowHorizon) || len(touched.Tokens) > 0 {
				t.Errorf("a rewind that can't be: %v, %v", touched, err)
			}
		})
	}
}

func keysOf[K comparable, V any](changes []market.Change[K, V]) (keys []K) {
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	return keys
}

// sameKeys wants the same keys, however often and in whatever order.
func sameKeys[K comparable](t *testing.T, what string, got, want []K) {
	t.Helper()
	words := func(keys []K) (out []string) {
		for _, k := range keys {
			out = append(out, fmt.Sprint(k))
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	if g, w := words(got), words(want); !slices.Equal(g, w) {
		t.Errorf("the rewind touched %s %v, want %v", what, g, w)
	}
}
