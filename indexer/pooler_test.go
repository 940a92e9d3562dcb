package indexer_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// TestIndexerThroughAPooler indexes by way of a PgBouncer in session mode, through a reorg and a failover that loses the last blocks, and wants
// the rows of a fresh index.
func TestIndexerThroughAPooler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40)
	pair := storetest.NewPair(t)
	direct := storetest.OpenAt(t, pair.DSN)
	pooler := storetest.NewPooler(t, pair.DSN, dbserver.PoolerOptions{Mode: "session"})
	stop := run(t, w.config(), storetest.OpenAt(t, pooler.DSN), 0)
	w.await(t, direct)
	w.trade(t, 6)
	w.await(t, direct)
	if err := w.node.Reorg(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 3)
	w.await(t, direct)
	before, _, err := direct.Chain(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	pair.Lag()
	w.trade(t, 5)
	w.await(t, direct)
	pair.FailOver()
	after := storetest.OpenAt(t, pair.DSN)
	w.trade(t, 3)
	w.await(t, after)
	stop()
	if s, _, err := after.Chain(t.Context(), "base"); err != nil || before.Rewinds == 0 || s.Rewinds <= before.Rewinds {
		t.Errorf("the chain is %+v, %v; want a rewind for the reorg, and after %d of them one for the lost blocks", s, err, before.Rewinds)
	}
	w.compare(t, after, w.config())
}
