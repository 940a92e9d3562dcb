package indexer_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// postgresTool is one of PostgreSQL's programs, with the version of the tests' server.
func postgresTool(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		t.Fatalf("%s is not installed; run hack/setup.sh, which installs it", name)
	}
	return exec.CommandContext(t.Context(), found[len(found)-1], args...)
}

// dumpAfter begins a dump of a database, calls work once the dump has its snapshot, and then lets it read the rows. So what work has the
// database take in is never in the dump, however fast the machine is.
func dumpAfter(t *testing.T, st *store.Store, dsn string, work func()) (file string) {
	t.Helper()
	db := st.Inspect.Database().Write
	// pg_dump takes its snapshot, then locks all tables. No indexer writes to this one.
	lock, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.ExecContext(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE presence_minutes IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "boardwalk.dump")
	done := make(chan error, 1)
	var said []byte
	cmd := postgresTool(t, "pg_dump", "--format=custom", "--file="+file, dsn)
	go func() {
		var err error
		said, err = cmd.CombinedOutput()
		done <- err
	}()
	for waits, deadline := false, time.Now().Add(60*time.Second); !waits; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("pg_dump doesn't wait for the lock")
		}
		err := db.QueryRowContext(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND "+
			"application_name = 'pg_dump' AND wait_event_type = 'Lock')").Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	work()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatalf("pg_dump: %v: %s", err, said)
	}
	return file
}

// registry is what a database has of members: no chain tells it.
func registry(t *testing.T, st *store.Store) (changes []social.Change, secret []byte) {
	t.Helper()
	changes, err := st.Social.Registry.Changes(t.Context(), 0, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Inspect.Database().Read.QueryRowContext(t.Context(), "SELECT secret FROM registry_secret").Scan(&secret); err != nil {
		t.Fatal(err)
	}
	return changes, secret
}

// TestRestoredBackup dumps the database beneath a running indexer, has a reorg reach below the dump's newest block, restores the dump into an
// empty database, and wants an indexer to go on there and to arrive at the rows of a fresh index.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 40, venues.BoardwalkCurve)
	w.trader.UsePlatform()
	w.desk = desk.New(w.World, desk.Options{Seed: 1, Every: 4 * time.Second})
	cfg := w.config()
	dsn := storetest.DSN(t, "postgres")
	w.enrolTraders(t, dsn)
	st := storetest.OpenAt(t, dsn)
	stop := run(t, cfg, st, 0)
	w.await(t, st)
	w.trade(t, 6)
	w.await(t, st)
	at, _, err := st.Chain(t.Context(), cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	const during, after, below = 5, 3, 4
	file := dumpAfter(t, st, dsn, func() {
		w.trade(t, during)
		w.await(t, st)
	})
	w.trade(t, after)
	w.await(t, st)
	if err := w.node.Reorg(t.Context(), during+after+below); err != nil {
		t.Fatal(err)
	}
	w.trade(t, 3)
	w.await(t, st)
	stop()

	dsn = storetest.DSN(t, "postgres")
	if said, err := postgresTool(t, "pg_restore", "--exit-on-error", "--no-owner", "--no-privileges", "--dbname="+dsn, file).CombinedOutput(); err != nil {
		t.Fatalf("pg_restore: %v: %s", err, said)
	}
	restored := storetest.OpenAt(t, dsn)
	if s, _, err := restored.Chain(t.Context(), cfg.ID); err != nil || s.Last != at.Last {
		t.Fatalf("the dump is of block %+v, %v; want the block at which it was begun, %+v", s.Last, err, at.Last)
	}
	// The dump has the nodes' answers about tokens and pools. Not every node could give them again.
	if facts, err := restored.Facts.Between(t.Context(), cfg.ID, 0, at.Last.Number); err != nil || len(facts) == 0 {
		t.Errorf("the restored database has %d facts, %v", len(facts), err)
	}
	members, secret := registry(t, st)
	if m, s := registry(t, restored); len(members) == 0 || !reflect.DeepEqual(m, members) || !reflect.DeepEqual(s, secret) {
		t.Errorf("the registry has %d entries in the restored database, or others; want %d", len(m), len(members))
	}
	// The dump has the lease of the indexer that was running. It ends at the time that stands in it, by the database's clock: 15 seconds after that indexer
	// renewed it last. So the next one waits for 15 seconds at most, and not at all where the dump is older.
	type lease struct {
		holder string
		epoch  int64
		isLong bool
	}
	leaseOf := func() (l lease) {
		t.Helper()
		err := restored.Inspect.Database().Read.QueryRowContext(t.Context(), "SELECT lease_holder, lease_epoch, "+
			"lease_expires_ms > extract(epoch FROM clock_timestamp()) * 1000 + 15000 FROM chains").Scan(&l.holder, &l.epoch, &l.isLong)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	left := leaseOf()
	if left.holder != t.Name() || left.isLong {
		t.Errorf("the dump has the lease %+v; want that of the indexer that was running, for 15 seconds at most", left)
	}

	ix, err := indexer.New(cfg, restored, indexer.Options{Log: logger(t), Now: time.Now, Holder: "another one"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	w.await(t, restored)
	if l := leaseOf(); l.holder != "another one" || l.epoch <= left.epoch {
		t.Errorf("the lease is %+v", l)
	}
	w.trade(t, 2)
	w.await(t, restored)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s, _, err := restored.Chain(t.Context(), cfg.ID); err != nil || s.Rewinds == at.Rewinds {
		t.Errorf("the chain is %+v, %v: no block of the dump was taken back", s, err)
	}
	w.compare(t, restored, cfg)
}
