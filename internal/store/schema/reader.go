package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// ErrNoSchema is returned by OpenReader when the database lacks a schema that this binary can read, or when the role may not read it.
var ErrNoSchema = errors.New("the database's schema isn't there yet")

// OpenReader opens a database for a program that only reads. On PostgreSQL it makes no schema, and its role needs no right but SELECT. Without a
// schema, or without rights on it, the error is ErrNoSchema. An SQLite file has one process, which opens it as Open does.
func OpenReader(ctx context.Context, dsn string) (*database.DB, error) {
	if strings.HasPrefix(dsn, "sqlite:") {
		return Open(ctx, dsn, func() {})
	}
	d, err := database.ConnectReader(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := d.CheckOneServer(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// checkSchema says why the schema can't be read yet.
func checkSchema(ctx context.Context, s *database.DB) error {
	var role, schemas string
	var there bool
	if err := s.Read.QueryRowContext(ctx, "SELECT current_user, array_to_string(current_schemas(false), ', '), to_regclass('schema_reader') IS NOT NULL").
		Scan(&role, &schemas, &there); err != nil {
		return fmt.Errorf("database: look for its schema: %w", err)
	}
	if !there {
		return fmt.Errorf("%w: role %s finds no tables of Boardwalk in the schemas that it may use (%s)", ErrNoSchema, role, schemas)
	}
	tables, err := ownTables(ctx, s.Read, "NOT has_table_privilege(c.oid, 'SELECT') AND NOT "+isPrivate)
	if err != nil {
		return err
	}
	if n := len(tables); n > 0 {
		return fmt.Errorf("%w: role %s may not read %d of its tables, such as %s", ErrNoSchema, role, n, tables[0].name)
	}
	if err := checkReader(ctx, s, s.Read); err != nil {
		return err
	}
	version, err := schemaVersionOf(ctx, s) // a schema of another tool's making has none
	if err != nil {
		return err
	}
	if version < Version {
		return fmt.Errorf("%w: it has schema %d and this boardwalk reads %d", ErrNoSchema, version, Version)
	}
	return nil
}

// table is a table by its schema and name.
type table struct{ schema, name string }

func (t table) String() string { return database.Ident(t.schema) + "." + database.Ident(t.name) }

// ownTables lists Boardwalk's tables that fulfil a condition on c (pg_class), by name: those of the schema and owner of schema_reader,
// which others of the same database need not share. Partitions are read by way of their tables.
func ownTables(ctx context.Context, db *bun.DB, condition string, args ...any) ([]table, error) {
	rows, err := db.QueryContext(ctx, "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "+
		"JOIN pg_class r ON r.oid = to_regclass('schema_reader') AND r.relnamespace = c.relnamespace AND r.relowner = c.relowner "+
		"WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND ("+condition+") ORDER BY c.relname", args...)
	if err != nil {
		return nil, fmt.Errorf("database: list the tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []table
	for rows.Next() {
		var t table
		if err := rows.Scan(&t.schema, &t.name); err != nil {
			return nil, fmt.Errorf("database: list the tables: %w", err)
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// Waiting is how long a reader waits for a database and its schema.
type Waiting struct {
	// Deadline is how long at most.
	Deadline time.Duration
	Now      func() time.Time
	Log      *slog.Logger
}

const (
	// readerPause is the time between two looks at the database.
	readerPause = 500 * time.Millisecond
	// readerSays is the time between two lines that say what is waited for.
	readerSays = 10 * time.Second
)

// OpenReaderPatiently is OpenReader, and waits for a database that nobody answers for and for a schema that isn't there yet. Every ten
// seconds it says what it waits for.
func OpenReaderPatiently(ctx context.Context, dsn string, w Waiting) (*database.DB, error) {
	return w.open(ctx, dsn, "--reader", OpenReader)
}

// OpenMigratedPatiently opens a database whose schema another program makes, for one that writes, and waits for both as OpenReaderPatiently does. An
// SQLite file has one process, which makes the schema itself.
func OpenMigratedPatiently(ctx context.Context, dsn string, w Waiting) (*database.DB, error) {
	return w.open(ctx, dsn, "--members", openMigrated)
}

func openMigrated(ctx context.Context, dsn string) (*database.DB, error) {
	if strings.HasPrefix(dsn, "sqlite:") {
		return Open(ctx, dsn, func() {})
	}
	d, err := database.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open opens a database once it is there with its schema. flag is the flag of boardwalk migrate that gives the program's role its rights.
func (w Waiting) open(ctx context.Context, dsn, flag string, open func(context.Context, string) (*database.DB, error)) (*database.DB, error) {
	var said time.Time
	for until := w.Now().Add(w.Deadline); ; {
		st, err := open(ctx, dsn)
		missing := errors.Is(err, ErrNoSchema)
		if !missing && !errors.Is(err, database.ErrUnreachable) {
			return st, err
		}
		now := w.Now()
		if !now.Before(until) {
			if missing {
				err = fmt.Errorf("after waiting for %s: %w: run `boardwalk migrate` with the address of the database's owner, "+
					"and with %s where this program has a role of its own; the chart's Job does both, and its log says what went wrong", w.Deadline, err, flag)
			}
			return nil, err
		}
		if now.Sub(said) >= readerSays {
			said = now
			log := w.Log.With("err", err.Error(), "ends_in", until.Sub(now).Round(time.Second).String())
			if missing {
				log.WarnContext(ctx, "waiting for the database's schema, which `boardwalk migrate` or an indexer makes")
			} else {
				log.WarnContext(ctx, "waiting for the database")
			}
		}
		if !wait.For(ctx, readerPause) {
			return nil, ctx.Err()
		}
	}
}
