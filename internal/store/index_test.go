package store_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// earlier makes a database of PostgreSQL as it was before its trades had an index by trader: two chains with trades of each.
func earlier(t *testing.T) (dsn string, db *sql.DB) {
	t.Helper()
	dsn = storetest.DSN(t, "postgres")
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, chain := range []string{"base", "bsc"} {
		if _, err := s.Leases.Acquire(t.Context(), chain, "test", time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db = raw(t, "postgres", dsn)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db, "DROP INDEX trades_trader")
	must(t, db, `INSERT INTO trades (chain, block, log_index, pool, time, trader, sell, base, base_amount, quote_amount, close_usd, close_native, tx)
		SELECT c, n, 0, '\x01', n, int4send(n % 50), false, '\x02', '\x03', '\x04', 5, 5, '\x06'
		FROM generate_series(1, 500) n, unnest(ARRAY['base', 'bsc']) c`)
	return dsn, db
}

func must(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// wantWholeIndex sees that an index and all its parts can be used.
func wantWholeIndex(t *testing.T, db *sql.DB, name string, parts int) {
	t.Helper()
	var valid bool
	var attached int
	err := db.QueryRowContext(t.Context(), `SELECT i.indisvalid, (SELECT count(*) FROM pg_inherits h JOIN pg_index p ON p.indexrelid = h.inhrelid
		WHERE h.inhparent = i.indexrelid AND p.indisvalid) FROM pg_index i WHERE i.indexrelid = to_regclass($1)`, name).Scan(&valid, &attached)
	if err != nil || !valid || attached != parts {
		t.Errorf("index %s: valid %t, %d whole parts, want %d: %v", name, valid, attached, parts, err)
	}
}

func open(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestANewDatabaseHasItsIndexesAtOnce(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	s := open(t, dsn)
	db := raw(t, "postgres", dsn)
	t.Cleanup(func() { _ = db.Close() })
	wantWholeIndex(t, db, "trades_trader", 0)
	if _, err := s.Leases.Acquire(t.Context(), "base", "test", time.Minute); err != nil {
		t.Fatal(err)
	}
	wantWholeIndex(t, db, "trades_trader", 1)
}

// TestIndexesAreBuiltWhileOthersWrite has a writer in the middle of a transaction: opening the database doesn't wait for it, and the
// building waits without keeping others out.
func TestIndexesAreBuiltWhileOthersWrite(t *testing.T) {
	t.Parallel()
	dsn, db := earlier(t)
	const insert = `INSERT INTO trades (chain, block, log_index, pool, time, trader, sell, base, base_amount, quote_amount, close_usd, close_native, tx)
		VALUES ('base', $1, 1, '\x01', 1, '\x00', false, '\x02', '\x03', '\x04', 5, 5, '\x06')`
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), insert, 1001); err != nil {
		t.Fatal(err)
	}
	s := open(t, dsn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		schema.BuildIndexes(t.Context(), s.Inspect.Database(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	}()
	for i := range 50 { // each would wait for ever if the building kept writers out while it waits for the transaction
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if _, err := db.ExecContext(ctx, insert, 2000+i); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	<-done
	wantWholeIndex(t, db, "trades_trader", 2)
}

// TestAHalfBuiltIndexIsBuiltAnew has what a build leaves that was cut off in the middle of a part.
func TestAHalfBuiltIndexIsBuiltAnew(t *testing.T) {
	t.Parallel()
	dsn, db := earlier(t)
	must(t, db, "CREATE INDEX trades_trader ON ONLY trades (trader)")
	must(t, db, "CREATE INDEX trades_trader_base ON trades_base (trader)")
	must(t, db, "ALTER INDEX trades_trader ATTACH PARTITION trades_trader_base")
	must(t, db, "CREATE INDEX trades_trader_bsc ON trades_bsc (trader)")
	must(t, db, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'trades_trader_bsc'::regclass")
	schema.BuildIndexes(t.Context(), open(t, dsn).Inspect.Database(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	wantWholeIndex(t, db, "trades_trader", 2)
}

// TestManyProgramsBuildAnIndexOnce has several programs that start at the same time.
func TestManyProgramsBuildAnIndexOnce(t *testing.T) {
	t.Parallel()
	dsn, db := earlier(t)
	done := make(chan struct{})
	const many = 4
	for range many {
		s := open(t, dsn)
		go func() {
			schema.BuildIndexes(t.Context(), s.Inspect.Database(), slog.New(slog.DiscardHandler))
			done <- struct{}{}
		}()
	}
	for range many {
		<-done
	}
	wantWholeIndex(t, db, "trades_trader", 2)
}

// TestNoMigrationIndexesATableThatMayBeLarge holds the rule: a migration indexes only tables that it makes itself; other indexes are late
// ones. The first three stand as they were.
func TestNoMigrationIndexesATableThatMayBeLarge(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("schema/migrations/*.sql")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d migrations: %v", len(files), err)
	}
	made := regexp.MustCompile(`(?i)CREATE TABLE\s+(\w+)`)
	indexed := regexp.MustCompile(`(?i)CREATE\s+(?:UNIQUE\s+)?INDEX\s+\w+\s+ON\s+(\w+)`)
	for _, file := range files {
		if filepath.Base(file) < "0004" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]bool{}
		for _, m := range made.FindAllStringSubmatch(string(text), -1) {
			own[m[1]] = true
		}
		for _, m := range indexed.FindAllStringSubmatch(string(text), -1) {
			if !own[m[1]] {
				t.Errorf("%s indexes %s, which it doesn't make: writers would wait until that is done. Put the index into lateIndexes (index.go)", file, m[1])
			}
		}
	}
}
