package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAReaderOfAStandby reads what the standby has, which can't be written, and takes it for another server's when that one takes over.
func TestAReaderOfAStandby(t *testing.T) {
	t.Parallel()
	p := storetest.NewPair(t)
	primary := storetest.OpenAt(t, p.DSN)
	l := lease(t, primary)
	commit := func(n int) {
		t.Helper()
		if err := primary.Commit(t.Context(), l, commitOf(n, 1, map[string]*market.Changes{})); err != nil {
			t.Fatal(err)
		}
	}
	commit(1)
	p.Follow()
	open := func(dsn string) *store.Store {
		t.Helper()
		st, err := store.OpenReader(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		return st
	}
	status := func(st *store.Store) store.ChainStatus {
		t.Helper()
		var all []store.ChainStatus
		for range 20 { // after a server is gone some connections to it are still to fail
			var err error
			if all, err = st.Chains(t.Context()); err == nil {
				break
			}
			t.Log(err)
		}
		if len(all) != 1 {
			t.Fatalf("%d chains", len(all))
		}
		return all[0]
	}
	standby, follower := open(p.Standby()), open(p.DSN)
	if n := status(standby).Last.Number; n != 1 {
		t.Errorf("the standby has block %d", n)
	}
	if _, err := standby.Leases.Acquire(t.Context(), "base", "reader", time.Minute); err == nil {
		t.Error("a standby was written")
	}
	p.Lag()
	commit(2)
	if n := status(standby).Last.Number; n != 1 {
		t.Errorf("the standby that is cut off has block %d", n)
	}
	before, of := status(follower), status(standby)
	if before.Last.Number != 2 || before.Rewinds != 0 || of.Rewinds != 0 {
		t.Errorf("before the failover: %+v, %+v", before, of)
	}
	p.FailOver()
	if after := status(follower); after.Last.Number != 1 {
		t.Errorf("after the failover there is block %d", after.Last.Number)
	}
	for range 2 { // the first look is the one that finds the other server
		if after := status(follower); after.Rewinds != 1 {
			t.Errorf("%d times rows may be gone after one failover", after.Rewinds)
		}
	}
	if after := status(standby); after.Rewinds != 0 {
		t.Errorf("a standby that took over counts as another server: %d", after.Rewinds)
	}
}

// TestAnAddressOfSeveralServers is refused: what one of them has doesn't fit what another has.
func TestAnAddressOfSeveralServers(t *testing.T) {
	t.Parallel()
	p := storetest.NewPair(t)
	storetest.OpenAt(t, p.DSN)
	p.Follow()
	st, err := store.OpenReader(t.Context(), p.ByTurns())
	if err == nil {
		_ = st.Close()
	}
	if err == nil || errors.Is(err, schema.ErrNoSchema) || errors.Is(err, database.ErrUnreachable) || !strings.Contains(err.Error(), "leads to several servers") {
		t.Errorf("%v", err)
	}
}
