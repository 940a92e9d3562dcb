package indexer_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestDatabaseThatWentBack takes the last commits away beneath a running indexer, twice, and wants the rows of a fresh
// index at the end.
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
			restore := storetest.Snapshot(t, dsn)
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

// TestFailover kills a real primary in the middle of writing and goes on with its standby, which lacks the last blocks.
func TestFailover(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 60)
	pair := storetest.NewPair(t)
	st := storetest.OpenAt(t, pair.DSN)
	stop := run(t, w.config(), st, 0)
	w.await(t, st)
	pair.Lag()
	w.trade(t, 10)
	w.await(t, st)
	w.trade(t, 5)
	pair.FailOver()
	after := storetest.OpenAt(t, pair.DSN) // the connections of the other are broken
	w.trade(t, 3)
	w.await(t, after)
	stop()
	if s, _, err := after.Chain(t.Context(), "base"); err != nil || s.Rewinds == 0 {
		t.Errorf("the chain is %+v, %v: the indexer didn't notice that blocks were lost, or none were", s, err)
	}
	w.compare(t, after, w.config())
}

// TestSilentDatabase has every connection to the database go silent beneath a running indexer, none of them closed: it
// goes on over new ones.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	dsn := storetest.DSN(t, "postgres")
	p := storetest.NewProxy(t, dsn, "statement_timeout", "2s")
	stop := run(t, w.config(), storetest.OpenAt(t, p.DSN), 0)
	st := storetest.OpenAt(t, dsn)
	w.await(t, st)
	for range 2 {
		p.Swallow()
		w.trade(t, 3)
		w.await(t, st)
	}
	stop()
	w.compare(t, st, w.config())
}

// TestASilentDatabaseIsTold: while a connection of the loop waits for a database that has fallen silent, and no other one can be made, the state says what
// is the matter, and no more once the database is back.
func TestASilentDatabaseIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	p := storetest.NewProxy(t, storetest.DSN(t, "postgres"), "statement_timeout", "1h") // so that the loop would wait
	st := storetest.OpenAt(t, p.DSN)
	ix, err := indexer.New(w.config(), st, indexer.Options{Log: logger(t), Now: time.Now, Holder: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	w.await(t, st)
	p.Silence()
	w.trade(t, 1)
	awaitState(t, ix, "without a database", func(s *chainconfig.State) bool {
		return s.Phase == chainconfig.PhaseFailing && s.Cause == chainconfig.CauseDatabase
	})
	p.Speak()
	awaitState(t, ix, "back", func(s *chainconfig.State) bool { return s.Phase == chainconfig.PhaseFollowing && s.Cause == "" })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestLockedRow has another session lock the chain's row for longer than the indexer waits for it: the indexer tries
// again, and keeps its lease.
func TestLockedRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	dsn := storetest.DSN(t, "postgres")
	st := storetest.OpenAt(t, storetest.NewProxy(t, dsn, "lock_timeout", "200").DSN)
	var log lockedBuffer
	ix, err := indexer.New(w.config(), st, indexer.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ix.Run(ctx) }()
	w.await(t, st)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	epoch := func(q interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	},
	) (n int64) {
		t.Helper()
		if err := q.QueryRow(t.Context(), "SELECT lease_epoch FROM chains FOR UPDATE").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := epoch(tx)
	w.trade(t, 1)
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(log.String(), "write interrupted"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was interrupted; the log is\n%s", log.String())
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.await(t, st)
	if after := epoch(conn); after != before || strings.Contains(log.String(), "indexing interrupted") {
		t.Errorf("the lease was taken %d times more; the log is\n%s", after-before, log.String())
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// clock is a clock that a test moves on.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// TestAlive moves the clock by more than the loop may go without a turn: an indexer that waits for a block, for a lease
// or for its nodes is alive, and so is one whose chain halted a moment ago; one whose database lets it wait is not.
func TestAlive(t *testing.T) {
	t.Parallel()
	const long = 6 * time.Minute
	w := newWorld(t, 20)
	m, url := w.behind(t, 0)
	cfg := w.config()
	cfg.Endpoints = []chainconfig.Endpoint{{URL: url, Weight: 1}}
	p := storetest.NewProxy(t, storetest.DSN(t, "postgres"), "statement_timeout", "1h") // so that it would wait
	st := storetest.OpenAt(t, p.DSN)
	var c clock
	start := func(holder string) (*indexer.Indexer, func()) {
		ix, err := indexer.New(cfg, st, indexer.Options{Log: logger(t), Now: c.now, Holder: holder})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- ix.Run(ctx) }()
		return ix, func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	ix, stop := start("first")
	defer stop()
	waiting, stopWaiting := start("second")
	w.await(t, st)
	await := func(ix *indexer.Indexer, what string) {
		t.Helper()
		for deadline := time.Now().Add(40 * time.Second); ix.Alive() != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", what, ix.Alive())
			}
		}
	}
	c.ahead.Add(int64(long))
	await(ix, "an indexer at the head")
	await(waiting, "an indexer that waits for the other's lease")
	stopWaiting()
	c.ahead.Add(int64(long))
	if waiting.Alive() == nil {
		t.Error("an indexer that has ended makes turns")
	}
	m.down.Store(true)
	await(ix, "an indexer without nodes")
	m.down.Store(false)
	await(ix, "an indexer whose nodes are back")
	p.Swallow()
	for deadline := time.Now().Add(40 * time.Second); ix.Alive() == nil; time.Sleep(100 * time.Millisecond) {
		c.ahead.Add(int64(long)) // turns that were under way come to an end
		if time.Now().After(deadline) {
			t.Fatal("an indexer whose database is silent passes for alive")
		}
	}
}
