package storetest

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
)

// Snapshot keeps the rows that a database has now. restore puts them back in one transaction beneath whoever has the
// database open, as a failover to a standby does that lacks the last commits.
func Snapshot(t *testing.T, kind, dsn string) (restore func()) {
	t.Helper()
	s := snapshot{t: t, db: connect(t, kind, dsn)}
	list := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if kind == "sqlite" {
		s.exec("ATTACH ? AS kept", filepath.Join(t.TempDir(), "kept.db"))
		s.begin, s.original = []string{"BEGIN IMMEDIATE"}, "main."
	} else {
		list = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
		s.exec("CREATE SCHEMA kept")
		// Every writer of a chain begins with the chain's row.
		s.begin, s.original = []string{"BEGIN", "LOCK TABLE public.chains IN ACCESS EXCLUSIVE MODE"}, "public."
	}
	for _, name := range s.names(list) {
		if name != "goose_db_version" && name != "schema_reader" {
			s.tables = append(s.tables, name)
			s.exec("CREATE TABLE kept." + name + " AS " + s.rowsOf(s.original+name))
		}
	}
	if len(s.tables) == 0 {
		t.Fatal("the database has no tables")
	}
	return s.restore
}

type snapshot struct {
	t        *testing.T
	db       *sql.Conn
	tables   []string
	begin    []string // how a transaction begins that has the database for itself
	original string   // the schema of the tables
}

// connect opens one connection to a database without the store.
func connect(t *testing.T, kind, dsn string) *sql.Conn {
	t.Helper()
	driver := "pgx"
	if kind == "sqlite" {
		driver, dsn = kind, strings.TrimPrefix(dsn, "sqlite:")+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = db.Close()
	})
	return conn
}

func (s *snapshot) restore() {
	s.t.Helper()
	for _, q := range s.begin {
		s.exec(q)
	}
	for _, name := range s.tables {
		s.exec("DELETE FROM " + s.original + name)
		s.exec("INSERT INTO " + s.original + name + " " + s.rowsOf("kept."+name))
	}
	s.exec("COMMIT")
}

// rowsOf reads all columns of a table, whatever they are.
func (*snapshot) rowsOf(table string) string {
	return "SELECT * FROM " + table //nolint:unqueryvet // a copy has all columns, those of later versions too
}

func (s *snapshot) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.db.ExecContext(context.WithoutCancel(s.t.Context()), query, args...); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
}

func (s *snapshot) names(query string) (names []string) {
	s.t.Helper()
	rows, err := s.db.QueryContext(s.t.Context(), query)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			s.t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return names
}
