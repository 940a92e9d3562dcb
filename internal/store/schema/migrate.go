// Package schema makes the tables and keeps them in shape: migrations, indexes that are built beside the work, partitions, and the rights of a
// reader. It doesn't know what the rows mean.
package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// ErrNewerSchema is returned by Update when the database has been migrated beyond what this binary may read.
var ErrNewerSchema = errors.New("the database was written by a newer boardwalk")

// Version is the newest schema that this binary knows.
const Version = 32

//go:embed migrations/*.sql
var migrations embed.FS

// The two databases differ in a few words; everything else is one text.
var (
	postgresWords = strings.NewReplacer("{{bytes}}", "BYTEA", "{{clustered}}", "",
		"{{nought}}", "decode(repeat('00', 32), 'hex')", "{{partitioned}}", "PARTITION BY LIST (chain)")
	sqliteWords = strings.NewReplacer("{{bytes}}", "BLOB", "{{clustered}}", "WITHOUT ROWID",
		"{{nought}}", "zeroblob(32)", "{{partitioned}}", "WITHOUT ROWID", "DOUBLE PRECISION", "REAL", "BIGINT", "INTEGER")
)

// Update brings the database's schema up to date. Nothing is written before the database is known to be readable by this binary. It calls beat
// before each statement of a migration.
func Update(ctx context.Context, d *database.DB, beat func()) error {
	if d.IsPostgres() {
		current, err := isMigrated(ctx, d)
		if err != nil || current {
			return err
		}
	}
	db, closing := d.Unbounded() // a migration takes as long as it takes
	return errors.Join(migrate(ctx, d, db, beat), closing())
}

// isMigrated reports whether the schema needs no migration. It is asked through connections with deadlines: the usual start has nothing to
// migrate, and shouldn't hang on a connection of which nothing is heard.
func isMigrated(ctx context.Context, s *database.DB) (bool, error) {
	if err := checkReader(ctx, s, s.Read); err != nil {
		return false, err
	}
	var there bool
	if err := s.Read.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&there); err != nil || !there {
		return false, err
	}
	version, err := schemaVersionOf(ctx, s)
	return version >= Version, err
}

// schemaVersionOf is the number of the newest migration that was made.
func schemaVersionOf(ctx context.Context, s *database.DB) (version int, err error) {
	if err := s.Read.QueryRowContext(ctx, "SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version); err != nil {
		return 0, fmt.Errorf("database: read its schema's version: %w", err)
	}
	return version, nil
}

// eachStatement is a log of goose, which tells it of each statement of a migration before that is run.
type eachStatement func()

// Printf is called with each line of the log.
func (f eachStatement) Printf(string, ...any) { f() }

// Fatalf isn't called: goose returns its errors.
func (f eachStatement) Fatalf(string, ...any) { f() }

// migrate brings the schema up to date through connections without timeouts. It calls beat before each statement.
func migrate(ctx context.Context, s *database.DB, db *bun.DB, beat func()) error {
	if err := checkReader(ctx, s, db); err != nil {
		return err
	}
	words, dialect := sqliteWords, goose.DialectSQLite3
	opts := []goose.ProviderOption{goose.WithVerbose(true), goose.WithLogger(eachStatement(beat))}
	if s.IsPostgres() {
		words, dialect = postgresWords, goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return fmt.Errorf("database: prepare the migration lock: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	files := fstest.MapFS{}
	err := fs.WalkDir(migrations, "migrations", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := migrations.ReadFile(path)
		if err == nil {
			files[d.Name()] = &fstest.MapFile{Data: []byte(words.Replace(string(raw)))}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("database: read the migrations: %w", err)
	}
	p, err := goose.NewProvider(dialect, db.DB, files, opts...)
	if err != nil {
		return fmt.Errorf("database: prepare the migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("database: migrate: %w", err)
	}
	return indexEmpty(ctx, s, db, beat)
}

// checkReader refuses a database whose oldest reader is newer than this binary. A database without the table is new.
func checkReader(ctx context.Context, s *database.DB, db *bun.DB) error {
	query := "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_reader'"
	if s.IsPostgres() {
		query = "SELECT count(*) FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = 'schema_reader'"
	}
	var tables, oldest int
	if err := db.QueryRowContext(ctx, query).Scan(&tables); err != nil {
		return fmt.Errorf("database: look for its schema: %w", err)
	}
	if tables == 0 {
		return nil
	}
	if err := db.QueryRowContext(ctx, "SELECT oldest FROM schema_reader").Scan(&oldest); err != nil {
		return fmt.Errorf("database: read its schema's version: %w", err)
	}
	if oldest > Version {
		return errors.Join(ErrNewerSchema, fmt.Errorf(
			"database: it needs a boardwalk that knows schema %d and this one knows %d: upgrade the binary", oldest, Version))
	}
	return nil
}
