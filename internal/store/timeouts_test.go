package store_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// TestWritersTimeouts asks a writer's session for its settings.
func TestWritersTimeouts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings []string
		want     map[string]string
	}{
		"by default": {nil, map[string]string{
			"statement_timeout": "60000", "lock_timeout": "2000", "idle_in_transaction_session_timeout": "5000", "tcp_user_timeout": "15000",
		}},
		"as the address says": {[]string{"statement_timeout", "10min", "lock_timeout", "7s"}, map[string]string{
			"statement_timeout": "600000", "lock_timeout": "7000", "idle_in_transaction_session_timeout": "5000", "tcp_user_timeout": "15000",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.OpenAt(t, storetest.NewProxy(t, storetest.DSN(t, "postgres"), c.settings...).DSN)
			got := map[string]string{}
			err := s.Inspect.TakeNumbers(t.Context(), 1, func(ctx context.Context, db bun.IDB, _ int64) error {
				// The server's end of the proxy is a Unix socket, which has no tcp_user_timeout and shows 0.
				rows, err := db.QueryContext(ctx, "SELECT name, CASE name WHEN 'tcp_user_timeout' THEN '15000' ELSE setting END FROM pg_settings "+
					"WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'tcp_user_timeout')")
				if err != nil {
					return err
				}
				defer func() { _ = rows.Close() }()
				for rows.Next() {
					var name, setting string
					if err := rows.Scan(&name, &setting); err != nil {
						return err
					}
					got[name] = setting
				}
				return rows.Err()
			})
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("a writer's session has %v, %v; want %v", got, err, c.want)
			}
		})
	}
	t.Run("an address that says no time", func(t *testing.T) {
		t.Parallel()
		_, err := store.Open(t.Context(), "postgres://u@127.0.0.1:1/d?statement_timeout=soon")
		if err == nil || errors.Is(err, database.ErrUnreachable) {
			t.Errorf("statement_timeout=soon: %v", err)
		}
	})
}

// TestInterruptedWrites has PostgreSQL, or a connection of which nothing is heard any more, end a write: it leaves
// everything as it was, and the same goes through afterwards, under the same lease.
func TestInterruptedWrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings  []string
		interrupt func(t *testing.T, p *dbserver.Proxy) (end func())
	}{
		"a lock": {[]string{"lock_timeout", "100"}, func(t *testing.T, p *dbserver.Proxy) func() {
			t.Helper()
			db := raw(t, "postgres", p.DSN)
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM chains FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			return func() { _ = tx.Rollback(); _ = db.Close() }
		}},
		"a statement": {[]string{"lock_timeout", "1min", "statement_timeout", "2s"}, func(t *testing.T, p *dbserver.Proxy) func() {
			t.Helper()
			db := raw(t, "postgres", p.DSN)
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE"); err != nil {
				t.Fatal(err)
			}
			return func() { _ = tx.Rollback(); _ = db.Close() }
		}},
		"silence": {[]string{"statement_timeout", "2s"}, func(t *testing.T, p *dbserver.Proxy) func() {
			t.Helper()
			p.Swallow()
			return func() {}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, "postgres")
			p := storetest.NewProxy(t, dsn, c.settings...)
			s := storetest.OpenAt(t, p.DSN)
			l := lease(t, s)
			if err := s.Commit(t.Context(), l, commitOf(1, 2, map[string]*market.Changes{})); err != nil {
				t.Fatal(err)
			}
			was := chain(t, storetest.OpenAt(t, dsn))
			end := c.interrupt(t, p)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			second := commitOf(2, 200, map[string]*market.Changes{})
			if err := s.Commit(ctx, l, second); !errors.Is(err, database.ErrInterrupted) || ctx.Err() != nil {
				t.Errorf("a commit that meets it: %v; want %v", err, database.ErrInterrupted)
			}
			end()
			if is := chain(t, storetest.OpenAt(t, dsn)); is != was {
				t.Errorf("the interrupted commit left the chain at %+v, was %+v", is, was)
			}
			if err := s.Commit(t.Context(), l, second); err != nil {
				t.Errorf("the same commit again: %v", err)
			}
			if rows := derivedRows(t, storetest.OpenAt(t, dsn)); len(rows["tokens"]) != 200 {
				t.Errorf("%d tokens are there, want 200", len(rows["tokens"]))
			}
		})
	}
}

// TestSilenceIsMetOnce has all connections of the pools fall silent at once: the time to notice that is spent once, however many of
// them there are.
func TestSilenceIsMetOnce(t *testing.T) {
	t.Parallel()
	p := storetest.NewProxy(t, storetest.DSN(t, "postgres"), "statement_timeout", "2s")
	s := storetest.OpenAt(t, p.DSN)
	var g errgroup.Group
	for range 8 { // each by a connection of its own
		g.Go(func() error {
			_, err := s.Chains(t.Context())
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	p.Swallow()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	failed := 0
	for range 9 {
		if _, err := s.Chains(ctx); err != nil {
			failed++
		}
	}
	if failed > 1 {
		t.Errorf("%d reads met a silent connection, want at most 1", failed)
	}
}

// TestAStartMeetsSilence has the connections of a program that starts fall silent: the start fails, and the next one goes through.
func TestAStartMeetsSilence(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	storetest.OpenAt(t, dsn)
	p := storetest.NewProxy(t, dsn, "statement_timeout", "2s")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p.SwallowAfter(3)
	s, err := store.Open(ctx, p.DSN)
	for try := 0; err != nil && ctx.Err() == nil && try < 5; try++ {
		s, err = store.Open(ctx, p.DSN)
	}
	if err != nil {
		t.Fatalf("no start goes through: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestPauseInATransaction leaves a transaction alone for longer than it may be: its lock is given up, and the writer
// hears of it.
func TestPauseInATransaction(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	storetest.OpenAt(t, dsn) // a migration may pause for longer on a busy machine
	s := storetest.OpenAt(t, storetest.NewProxy(t, dsn, "idle_in_transaction_session_timeout", "100").DSN)
	db := raw(t, "postgres", dsn)
	defer func() { _ = db.Close() }()
	err := s.Inspect.TakeNumbers(t.Context(), 1, func(ctx context.Context, tx bun.IDB, _ int64) error {
		var pid int
		if err := tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return err
		}
		for left := 1; left > 0; {
			if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid).Scan(&left); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "SELECT 1")
		return err
	})
	if !errors.Is(err, database.ErrInterrupted) {
		t.Errorf("after the pause: %v; want %v", err, database.ErrInterrupted)
	}
}
