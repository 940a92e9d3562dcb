package indexer_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestDatabaseThatWentBack takes the last commits away beneath a running indexer, twice, and wants the rows of a fresh index at the end.
func TestDatabaseThatWentBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 60)
			dsn := storetest.DSN(t, kind)
			st := storetest.OpenAt(t, dsn)
			stop := run(t, w.config(), st, 0)
			w.await(t, st)
			restore := storetest.Snapshot(t, kind, dsn)
			for _, lost := range []int{10, 1} {
				w.trade(t, lost)
				w.await(t, st)
				restore()
				w.trade(t, 3)
				w.await(t, st)
			}
			stop()
			w.compare(t, st, w.config())
		})
	}
}
