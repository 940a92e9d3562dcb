package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/npmcache"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

// Seedling is what a database is made of.
type Seedling struct {
	// Name tells worlds of one size apart.
	Name string
	Size MarketSize
	// Version changes with what Fill makes.
	Version int
	// Fill writes everything into an empty database. With byTime set, candles come in the order of time.
	Fill func(ctx context.Context, st *store.Store, byTime bool, what string) error
}

// Seedling is what a market's database is made of.
func (w *World) Seedling() *Seedling {
	return &Seedling{Name: "market", Size: w.size, Version: 1, Fill: func(ctx context.Context, st *store.Store, byTime bool, what string) error {
		return seed(ctx, w, st, byTime, what)
	}}
}

// folder is the name of the directory where the database is kept.
func (s *Seedling) folder(kind string) string {
	if s.Size.Launches > 0 {
		return fmt.Sprintf("%s-%s-%d-%d-%d", s.Name, kind, s.Size.Launches, s.Size.Trades, s.Size.Seed)
	}
	return fmt.Sprintf("%s-%s-%d-%d-%d", s.Name, kind, s.Size.Tokens, s.Size.Trades, s.Size.Seed)
}

// seeded is what a kept database was made from; one that differs is made anew.
type seeded struct {
	Size    MarketSize
	Version int
	// Schema is that of the tables. What a later migration adds would be empty.
	Schema int
}

// SQLite is a kind of database.
const SQLite = "sqlite"

const (
	pgKind     = "postgres"
	seedFile   = "seed.json"
	sqliteFile = "market.db"
)

// Database is a seeded database that is ready to be opened.
type Database struct {
	kind, DSN string
	// Reader is how another process opens it beside a writer; empty where none does.
	Reader string
	// Postgres is its server, nil on SQLite.
	Postgres *Postgres
}

// close ends its server.
func (d *Database) close() {
	if d.Postgres != nil {
		d.Postgres.Stop()
	}
}

// Copied makes a copy that can be written to, in dir on SQLite and on the same server on PostgreSQL. drop is for when it has
// served.
func (d *Database) Copied(ctx context.Context, dir string) (c *Database, drop func(context.Context) error, err error) {
	if d.Postgres != nil {
		const name = "written"
		for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name + " TEMPLATE market"} {
			if _, err := d.Postgres.admin.Exec(ctx, statement); err != nil {
				return nil, nil, fmt.Errorf("copy the database: %w", err)
			}
		}
		c = &Database{kind: d.kind, DSN: d.Postgres.dsn(name), Reader: d.Postgres.dsn(name), Postgres: d.Postgres}
		return c, func(ctx context.Context) error {
			_, err := d.Postgres.admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
			return err
		}, nil
	}
	written, beside := filepath.Join(dir, sqliteFile), filepath.Join(dir, "reader.db")
	if out, err := exec.CommandContext(ctx, "cp", strings.TrimPrefix(d.DSN, "sqlite:"), written).CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("copy the database: %w: %s", err, out)
	}
	// The store lets one process have a file. SQLite itself lets several; by another name the second process gets past the lock.
	if err := os.Symlink(written, beside); err != nil {
		return nil, nil, err
	}
	c = &Database{kind: d.kind, DSN: "sqlite:" + written, Reader: "sqlite:" + beside}
	return c, func(context.Context) error { return nil }, nil
}

// seededDatabase opens a world's database of a kind. It is made when it isn't kept yet, or was made otherwise.
func seededDatabase(ctx context.Context, kind string, w *Seedling) (*Database, error) {
	cache, err := seedCache(ctx, kind)
	if err != nil {
		return nil, err
	}
	want := seeded{w.Size, w.Version, schema.Version}
	dir := filepath.Join(cache, w.folder(kind))
	var made seeded
	raw, err := os.ReadFile(filepath.Join(dir, seedFile))
	if err == nil && json.Unmarshal(raw, &made) == nil && made == want {
		Say("%s: %s, in %s, made earlier", kind, w.Size, dir)
		return openKept(ctx, kind, dir)
	}
	if raw, err = json.Marshal(want); err != nil {
		return nil, err
	}
	Say("%s: making %s, once, in %s", kind, w.Size, dir)
	if err := Kept(dir, func(part string) error {
		if err := makeDatabase(ctx, kind, part, w); err != nil {
			return fmt.Errorf("seed the %s database: %w", kind, err)
		}
		return os.WriteFile(filepath.Join(part, seedFile), raw, 0o600)
	}); err != nil {
		return nil, err
	}
	return openKept(ctx, kind, dir)
}

// openKept starts what a kept database needs.
func openKept(ctx context.Context, kind, dir string) (*Database, error) {
	if kind == SQLite {
		return &Database{kind: kind, DSN: "sqlite:" + filepath.Join(dir, sqliteFile)}, nil
	}
	p, err := StartPostgres(ctx, dir, false)
	if err != nil {
		return nil, err
	}
	return &Database{kind: kind, DSN: p.dsn("market"), Postgres: p}, nil
}

func makeDatabase(ctx context.Context, kind, dir string, w *Seedling) (err error) {
	dsn := "sqlite:" + filepath.Join(dir, sqliteFile)
	if kind == pgKind {
		p, err := StartPostgres(ctx, dir, false)
		if err != nil {
			return err
		}
		defer p.Stop()
		if _, err := p.admin.Exec(ctx, "CREATE DATABASE market"); err != nil {
			return err
		}
		// After so many writes PostgreSQL vacuums and writes to disk on its own. That is done before the measurement begins.
		defer func() {
			if err == nil {
				err = p.settle(ctx)
			}
		}()
		dsn = p.dsn("market")
	}
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return w.Fill(ctx, st, kind == pgKind, "seed "+kind)
}

// settle does what autovacuum would do later.
func (p *Postgres) settle(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.dsn("market"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	Say("seed postgres: vacuum")
	for _, statement := range []string{"VACUUM (ANALYZE, FREEZE)", "CHECKPOINT"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// seedCache is where seeded databases are kept.
func seedCache(ctx context.Context, kind string) (string, error) {
	cache, err := npmcache.Dir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if kind == pgKind && os.Getuid() == 0 && exec.CommandContext(ctx, "runuser", "-u", "postgres", "--", "test", "-x", dir).Run() != nil {
		// Under root's own folder, where the server's user can't go.
		dir = filepath.Join("/var/tmp", "boardwalk-bench")
	}
	return dir, nil
}

// String names it in a sentence.
func (d *Database) String() string {
	return map[string]string{SQLite: "SQLite", pgKind: "PostgreSQL"}[d.kind]
}
