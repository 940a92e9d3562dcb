package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/npmcache"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// seedVersion changes with what a seed makes.
const seedVersion = 1

// seedling is what a database is made of.
type seedling struct {
	// name tells worlds of one size apart.
	name    string
	size    marketSize
	version int
	// fill writes everything into an empty database. With byTime set, candles come in the order of time.
	fill func(ctx context.Context, st *store.Store, byTime bool, what string) error
}

func (w *world) seedling() *seedling {
	return &seedling{"market", w.size, seedVersion, func(ctx context.Context, st *store.Store, byTime bool, what string) error {
		return seed(ctx, w, st, byTime, what)
	}}
}

// folder is the name of the directory where the database is kept.
func (s *seedling) folder(kind string) string {
	if s.size.Launches > 0 {
		return fmt.Sprintf("%s-%s-%d-%d-%d", s.name, kind, s.size.Launches, s.size.Trades, s.size.Seed)
	}
	return fmt.Sprintf("%s-%s-%d-%d-%d", s.name, kind, s.size.Tokens, s.size.Trades, s.size.Seed)
}

// seeded is what a kept database was made from; one that differs is made anew.
type seeded struct {
	Size    marketSize
	Version int
	// Schema is a digest of the tables. What a later migration adds would be empty.
	Schema string
}

const (
	seedFile   = "seed.json"
	sqliteFile = "market.db"
	sqliteKind = "sqlite"
	pgKind     = "postgres"
)

var bothKinds = []string{sqliteKind, pgKind}

// kindsOf reads --db.
func kindsOf(flag string) ([]string, error) {
	switch {
	case flag == "both":
		return bothKinds, nil
	case slices.Contains(bothKinds, flag):
		return []string{flag}, nil
	default:
		return nil, fmt.Errorf("--db: %q is no kind of database; they are sqlite, postgres, both", flag)
	}
}

// database is a seeded database that is ready to be opened.
type database struct {
	kind, dsn string
	// reader is how another process opens it beside a writer; empty where none does.
	reader   string
	postgres *postgres // nil on SQLite
}

// close ends its server.
func (d *database) close() {
	if d.postgres != nil {
		d.postgres.stop()
	}
}

// copied makes a copy that can be written to, in dir on SQLite and on the same server on PostgreSQL. drop is for when it has
// served.
func (d *database) copied(ctx context.Context, dir string) (c *database, drop func(context.Context) error, err error) {
	if d.postgres != nil {
		const name = "written"
		for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name + " TEMPLATE market"} {
			if _, err := d.postgres.admin.Exec(ctx, statement); err != nil {
				return nil, nil, fmt.Errorf("copy the database: %w", err)
			}
		}
		c = &database{kind: d.kind, dsn: d.postgres.dsn(name), reader: d.postgres.dsn(name), postgres: d.postgres}
		return c, func(ctx context.Context) error {
			_, err := d.postgres.admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
			return err
		}, nil
	}
	written, beside := filepath.Join(dir, sqliteFile), filepath.Join(dir, "reader.db")
	if err := copyFile(written, strings.TrimPrefix(d.dsn, "sqlite:")); err != nil {
		return nil, nil, fmt.Errorf("copy the database: %w", err)
	}
	// The store lets one process have a file. SQLite itself lets several; by another name the second process gets past the lock.
	if err := os.Symlink(written, beside); err != nil {
		return nil, nil, err
	}
	c = &database{kind: d.kind, dsn: "sqlite:" + written, reader: "sqlite:" + beside}
	return c, func(context.Context) error { return nil }, nil
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}

// seededDatabase opens a world's database of a kind. It is made when it isn't kept yet, or was made otherwise.
func seededDatabase(ctx context.Context, kind string, w *seedling) (*database, error) {
	cache, err := seedCache(kind)
	if err != nil {
		return nil, err
	}
	schema, err := newestSchema(ctx)
	if err != nil {
		return nil, err
	}
	want := seeded{w.size, w.version, schema}
	dir := filepath.Join(cache, w.folder(kind))
	var made seeded
	raw, err := os.ReadFile(filepath.Join(dir, seedFile))
	if err == nil && json.Unmarshal(raw, &made) == nil && made == want {
		say("%s: %s, in %s, made earlier", kind, w.size, dir)
		return openKept(ctx, kind, dir)
	}
	if raw, err = json.Marshal(want); err != nil {
		return nil, err
	}
	say("%s: making %s, once, in %s", kind, w.size, dir)
	if err := kept(dir, func(part string) error {
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
func openKept(ctx context.Context, kind, dir string) (*database, error) {
	if kind == sqliteKind {
		return &database{kind: kind, dsn: "sqlite:" + filepath.Join(dir, sqliteFile)}, nil
	}
	p, err := startPostgres(ctx, dir, false)
	if err != nil {
		return nil, err
	}
	return &database{kind: kind, dsn: p.dsn("market"), postgres: p}, nil
}

func makeDatabase(ctx context.Context, kind, dir string, w *seedling) (err error) {
	dsn := "sqlite:" + filepath.Join(dir, sqliteFile)
	if kind == pgKind {
		p, err := startPostgres(ctx, dir, false)
		if err != nil {
			return err
		}
		defer p.stop()
		if _, err := p.admin.Exec(ctx, "CREATE DATABASE market"); err != nil {
			return err
		}
		// What the server does by itself after so many writes is not to be done while something is measured.
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
	return w.fill(ctx, st, kind == pgKind, "seed "+kind)
}

// settle does what autovacuum would do later.
func (p *postgres) settle(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.dsn("market"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	say("seed postgres: vacuum")
	for _, statement := range []string{"VACUUM (ANALYZE, FREEZE)", "CHECKPOINT"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// newestSchema is a digest of the tables and indexes that this program's store makes, on either database: both come
// from the same text.
func newestSchema(ctx context.Context) (digest string, err error) {
	dir, err := os.MkdirTemp("", "boardwalk-bench-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, sqliteFile)
	st, err := store.Open(ctx, "sqlite:"+path)
	if err != nil {
		return "", err
	}
	if err := st.Close(); err != nil {
		return "", err
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var text string
	err = db.QueryRowContext(ctx, "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name)").Scan(&text)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8]), err
}

// seedCache is where seeded databases are kept.
func seedCache(kind string) (string, error) {
	cache, err := npmcache.Dir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "bench")
	if kind == pgKind && os.Getuid() == 0 && !enterable(cache, "postgres") {
		// Under root's own folder, where the server's user can't go.
		dir = filepath.Join("/var/tmp", "boardwalk-bench")
	}
	return dir, nil
}

// enterable reports whether a user may pass through every folder above a path that exists.
func enterable(path, name string) bool {
	u, err := user.Lookup(name)
	if err != nil {
		return false
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return false
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil {
			const byOwner, byAll = 0o100, 0o001
			owner, ok := info.Sys().(*syscall.Stat_t)
			if info.Mode()&byAll == 0 && (!ok || uint64(owner.Uid) != uid || info.Mode()&byOwner == 0) {
				return false
			}
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// String names it in a sentence.
func (d *database) String() string {
	return map[string]string{sqliteKind: "SQLite", pgKind: "PostgreSQL"}[d.kind]
}
