package dbserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"
)

// Snapshot keeps the rows that a database had at one moment, in the database itself (PostgreSQL) or in a file (SQLite).
type Snapshot struct {
	db       *sql.DB
	conn     *sql.Conn
	tables   []string
	begin    []string // how a transaction begins that has the database for itself
	original string   // the schema of the tables
}

// Take keeps the rows that the database at a DSN has now; file is where those of SQLite go.
func Take(ctx context.Context, dsn, file string) (_ *Snapshot, err error) {
	s := &Snapshot{}
	if err := s.connect(ctx, dsn); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	list := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if strings.HasPrefix(dsn, "sqlite:") {
		err = s.exec(ctx, "ATTACH ? AS kept", file)
		s.begin, s.original = []string{"BEGIN IMMEDIATE"}, "main."
	} else {
		list = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
		err = errors.Join(s.exec(ctx, "DROP SCHEMA IF EXISTS kept CASCADE"), s.exec(ctx, "CREATE SCHEMA kept"))
		// Every writer of a chain begins with the chain's row.
		s.begin, s.original = []string{"BEGIN", "LOCK TABLE public.chains IN ACCESS EXCLUSIVE MODE"}, "public."
	}
	if err != nil {
		return nil, err
	}
	if s.tables, err = s.names(ctx, list); err != nil {
		return nil, err
	}
	if err := s.copyTables(ctx); err != nil {
		return nil, errors.Join(err, s.exec(context.WithoutCancel(ctx), "ROLLBACK"))
	}
	return s, nil
}

// copyTables copies every table at one moment.
func (s *Snapshot) copyTables(ctx context.Context) error {
	for _, q := range s.begin {
		if err := s.exec(ctx, q); err != nil {
			return err
		}
	}
	for _, name := range s.tables {
		if err := s.exec(ctx, "CREATE TABLE kept."+name+" AS "+rowsOf(s.original+name)); err != nil {
			return err
		}
	}
	return s.exec(ctx, "COMMIT")
}

// Restore puts the rows back in one transaction beneath whoever has the database open, as a failover to a standby does that lacks
// the last commits. It may be called again.
func (s *Snapshot) Restore(ctx context.Context) error {
	err := s.restore(ctx)
	if err != nil {
		err = errors.Join(err, s.exec(context.WithoutCancel(ctx), "ROLLBACK"))
	}
	return err
}

func (s *Snapshot) restore(ctx context.Context) error {
	for _, q := range s.begin {
		if err := s.exec(ctx, q); err != nil {
			return err
		}
	}
	for _, name := range s.tables {
		if err := s.exec(ctx, "DELETE FROM "+s.original+name); err != nil {
			return err
		}
		if err := s.exec(ctx, "INSERT INTO "+s.original+name+" "+rowsOf("kept."+name)); err != nil {
			return err
		}
	}
	return s.exec(ctx, "COMMIT")
}

// Close ends the connection that the snapshot has.
func (s *Snapshot) Close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// connect opens one connection to a database without the store.
func (s *Snapshot) connect(ctx context.Context, dsn string) (err error) {
	driver := "pgx"
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		driver, dsn = "sqlite", path+"?_pragma=busy_timeout(10000)"
	}
	if s.db, err = sql.Open(driver, dsn); err != nil {
		return err
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return errors.Join(err, s.db.Close())
	}
	return nil
}

// rowsOf reads all columns of a table, whatever they are.
func rowsOf(table string) string {
	return "SELECT * FROM " + table //nolint:unqueryvet // a copy has all columns, those of later versions too
}

func (s *Snapshot) exec(ctx context.Context, query string, args ...any) error {
	if _, err := s.conn.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// names lists the store's tables, without those that say which schema it is.
func (s *Snapshot) names(ctx context.Context, query string) (names []string, err error) {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if name != "goose_db_version" && name != "schema_reader" {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("the database has no tables")
	}
	return names, nil
}
