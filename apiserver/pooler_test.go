package apiserver_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// TestTheAPIThroughAPooler reads by way of a PgBouncer in session mode, follows commits, and notices a failover behind the pooler.
func TestTheAPIThroughAPooler(t *testing.T) {
	t.Parallel()
	p := storetest.NewPair(t)
	primary, err := store.Open(t.Context(), p.DSN)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, primary)
	pooler := storetest.NewPooler(t, p.DSN, dbserver.PoolerOptions{Mode: "session"})
	reader, err := store.OpenReader(t.Context(), pooler.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	c := start(t, reader)
	if i := get[contract.TokenInfo](t, c, "/api/token/info/"+token+"?chain=base"); !near(i.Price, 2) {
		t.Errorf("the token is %+v", i)
	}
	p.Lag()
	commitPrice(t, primary, 101, 0.003)
	commitPrice(t, primary, 102, 0)
	eventually(t, "the price of block 101 is told", func() bool { return near(livePrice(t, c), 6) })
	if err := primary.Close(); err != nil {
		t.Fatal(err)
	}
	p.FailOverAfter(func(dsn string) {
		st := storetest.OpenAt(t, dsn)
		commitPrice(t, st, 101, 0.005)
		commitPrice(t, st, 102, 0)
	})
	eventually(t, "the price that the new primary has is told", func() bool { return near(livePrice(t, c), 10) })
}
