package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

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
