package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestLeaseOfANewChain: of several indexers that start at once on an empty database one has each chain's lease, and the others are told so.
func TestLeaseOfANewChain(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			stores := []*store.Store{storetest.OpenAt(t, dsn)}
			for len(stores) < 4 && kind == "postgres" { // a SQLite database has one process
				stores = append(stores, storetest.OpenAt(t, dsn))
			}
			for n := range 8 {
				chain := fmt.Sprint("chain-", n)
				var taking sync.WaitGroup
				errs := make([]error, 8)
				for i := range errs {
					taking.Go(func() {
						_, errs[i] = stores[i%len(stores)].Leases.Acquire(t.Context(), chain, fmt.Sprint("holder-", i), time.Minute)
					})
				}
				taking.Wait()
				taken := 0
				for _, err := range errs {
					switch {
					case err == nil:
						taken++
					case !errors.Is(err, store.ErrLeaseHeld):
						t.Errorf("%s: %v", chain, err)
					}
				}
				if taken != 1 {
					t.Errorf("%s: %d have the lease", chain, taken)
				}
			}
		})
	}
}

// TestSilenceIsByTheDatabasesClock: an indexer whose clock is wrong by ten minutes makes no chain silent, and keeps none from being so: until
// when its nodes may be silent is stored by the database's clock.
func TestSilenceIsByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	const within, most = 12, 60 // seconds: how long the nodes may be silent, and how long this test may take
	for _, kind := range storetest.Both {
		for _, wrong := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
			t.Run(kind+" "+wrong.String(), func(t *testing.T) {
				t.Parallel()
				s := storetest.Open(t, kind)
				l := lease(t, s)
				clock := time.Now().Add(wrong)
				h := store.HeadStatus{Number: 1, Time: clock.Unix(), ToldAt: clock.Unix(), SilentFrom: clock.Unix() + within}
				c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}, Undo: true, Head: h}
				for name, write := range map[string]func() error{
					"a commit": func() error { return s.Commit(t.Context(), l, c) },
					"a head":   func() error { return s.SetHead(t.Context(), l, h) },
				} {
					if err := write(); err != nil {
						t.Fatal(err)
					}
					list, err := s.Chains(t.Context())
					if err != nil || len(list) != 1 {
						t.Fatalf("%+v, %v", list, err)
					}
					got := list[0].Head
					if left := got.SilentFrom - clock.Add(-wrong).Unix(); left < within-1 || left > within+most || got.ToldAt != 0 {
						t.Errorf("after %s by a clock that is %s ahead the chain is silent in %d s (%+v); want %d s", name, wrong, left, got, within)
					}
				}
			})
		}
	}
}
