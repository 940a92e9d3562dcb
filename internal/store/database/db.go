// Package database connects to PostgreSQL or SQLite. It has connections with their time limits, transactions, bulk
// writes, prepared statements, and hints of new commits. It knows no table.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// DB is an open database. Reads go to many connections; on SQLite all writes share one.
type DB struct {
	Read *bun.DB
	// Write are the connections of writers. On PostgreSQL they have timeouts, so that no lock is held or waited for
	// without end.
	Write *bun.DB
	// reserve are a few readers that requests don't use.
	reserve *bun.DB
	// postgres is how to connect to PostgreSQL; nil on SQLite.
	postgres *pgx.ConnConfig
	// credentials are the user and the password of new connections.
	credentials credentials
	most        connections
	hints       *hints
	// Servers keep a reader's connections to one server; nil for whoever writes.
	Servers  *servers
	eachRead time.Duration // how long a statement of a reader may take
	prepared prepared
	unlock   func() error
	// types are those of the columns that are copied into.
	types columnTypes
}

// ErrFileLocked is returned by Connect when another process has the SQLite file.
var ErrFileLocked = errors.New("the database file is in use by another boardwalk process")

// ErrUnreachable means that nobody answers where the database should be, or that it is only just starting.
var ErrUnreachable = errors.New("the database isn't there yet")

var errAddress = errors.New("database: the address must begin with postgres:// or sqlite: (as in sqlite:boardwalk.db)")

// connectTimeout bounds one attempt to connect where the address says nothing of it: packets that are dropped on the way are missed for
// two minutes otherwise.
const connectTimeout = 5 * time.Second

// unreachable reports whether a connection failed before the database had a say in it, or had none for too long.
func unreachable(err error) bool {
	const cannotConnectNow = "57P03"
	var network *net.OpError
	var name *net.DNSError
	var pg *pgconn.PgError
	return pgconn.Timeout(err) || errors.As(err, &network) || errors.As(err, &name) || errors.As(err, &pg) && pg.Code == cannotConnectNow
}

// Unreachable reports whether an error is that nobody answers at the database's address any more, that it is starting or stopping, or that it
// refuses the login.
func Unreachable(err error) bool {
	const connectionLost, operatorIntervened = "08", "57P"
	var connecting *pgconn.ConnectError
	var pg *pgconn.PgError
	return errors.Is(err, ErrUnreachable) || errors.As(err, &connecting) ||
		errors.As(err, &pg) && (strings.HasPrefix(pg.Code, connectionLost) || strings.HasPrefix(pg.Code, operatorIntervened))
}

// Connect opens the database that dsn names: "postgres://…" or "sqlite:PATH". It knows nothing of a schema. The error of a PostgreSQL that
// isn't there is ErrUnreachable.
func Connect(ctx context.Context, dsn string) (*DB, error) {
	switch {
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		return connectPostgres(ctx, dsn)
	case strings.HasPrefix(dsn, "sqlite:"):
		return connectSQLite(ctx, strings.TrimPrefix(dsn, "sqlite:"))
	default:
		return nil, errAddress
	}
}

func parsePostgres(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The parser's own text can repeat the password.
		return nil, errors.New("database: the postgres:// address can't be read; " +
			"its form is postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=…")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	return cfg, nil
}

func connectPostgres(ctx context.Context, dsn string) (*DB, error) {
	cfg, limits, err := readPostgres(dsn)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(ctx, cfg, limits); err != nil {
		return nil, err
	}
	all := &pools{credentials: limits.credentials}
	s := &DB{
		Read:    bun.NewDB(all.open(cfg, limits.connections.read, limits.read), pgdialect.New()),
		Write:   bun.NewDB(all.open(cfg, limits.connections.write, limits.statement, stdlib.OptionAfterConnect(limits.set)), pgdialect.New()),
		reserve: bun.NewDB(all.open(cfg, limits.connections.reserved, limits.read), pgdialect.New()), postgres: cfg, credentials: limits.credentials, most: limits.connections, hints: newHints(),
		unlock: func() error { return nil },
	}
	s.traceReads()
	return s, nil
}

// Pools are the pools of connections, by what they are for.
func (s *DB) Pools() map[string]*sql.DB {
	out := map[string]*sql.DB{"read": s.Read.DB, "write": s.Write.DB}
	if s.reserve != nil {
		out["reserved"] = s.reserve.DB
	}
	return out
}

// IsPostgres reports whether the database is PostgreSQL, and not SQLite.
func (s *DB) IsPostgres() bool { return s.postgres != nil }

// Unbounded is the database through connections on which a statement takes as long as it takes. They are the caller's to close, except on
// SQLite, where there is one for all who write.
func (s *DB) Unbounded() (db *bun.DB, closing func() error) {
	if !s.IsPostgres() {
		return s.Write, func() error { return nil }
	}
	db = bun.NewDB((&pools{credentials: s.credentials}).open(s.postgres, s.most.write, 0), pgdialect.New())
	return db, db.Close
}

// ConnectAlone makes one connection to PostgreSQL that is no part of a pool and has no timeouts.
func (s *DB) ConnectAlone(ctx context.Context) (*pgx.Conn, error) {
	cfg := s.postgres.Copy()
	if err := s.credentials.refresh(ctx, cfg); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg)
}

// readPostgres reads an address: how to connect, and how long the database may take.
func readPostgres(dsn string) (*pgx.ConnConfig, timeouts, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return nil, timeouts{}, errAddress
	}
	cfg, err := parsePostgres(dsn)
	if err != nil {
		return nil, timeouts{}, err
	}
	most, err := connectionsOf(cfg)
	if err != nil {
		return nil, timeouts{}, err
	}
	limits, err := timeoutsOf(cfg)
	if err != nil {
		return nil, timeouts{}, err
	}
	limits.connections, limits.credentials = most, credentialsOf(cfg)
	setAfterStart(cfg)
	cfg.DialFunc = limits.dial
	return cfg, limits, nil
}

// addressesOfAName is how many addresses of a server's name are tried before the first connection is given up.
const addressesOfAName = 4

// ping makes a first connection. The error of a PostgreSQL that isn't there is ErrUnreachable.
func ping(ctx context.Context, db *sql.DB, cfg *pgx.ConnConfig) error {
	// A pooler without its server accepts connections and lets them wait, so the first one is bounded. Each address of a name has a ConnectTimeout.
	most := pingTime + addressesOfAName*cfg.ConnectTimeout
	for range cfg.Fallbacks { // further hosts
		most += addressesOfAName * cfg.ConnectTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := db.PingContext(bounded)
	if err == nil {
		return nil
	}
	if unreachable(err) || errors.Is(err, driver.ErrBadConn) || bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("database: no connection to PostgreSQL at %s:%d, database %q: "+
		"check that it runs and that user and password are right: %w", cfg.Host, cfg.Port, cfg.Database, err)
}

func connectSQLite(ctx context.Context, path string) (*DB, error) {
	if path == "" {
		return nil, errors.New("database: sqlite: needs a file, as in sqlite:boardwalk.db")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("database: make the folder of %s: %w", path, err)
	}
	unlock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("database: %s: %w", path, err)
	}
	open := func(conns int, pragmas ...string) (*bun.DB, error) {
		q := url.Values{}
		for _, p := range append([]string{
			"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)",
			"temp_store(MEMORY)", "cache_size(-65536)",
		}, pragmas...) {
			q.Add("_pragma", p)
		}
		q.Set("_txlock", "immediate")
		db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
		if err != nil {
			return nil, fmt.Errorf("database: open %s: %w", path, err)
		}
		db.SetMaxOpenConns(conns)
		db.SetMaxIdleConns(conns)
		return bun.NewDB(db, sqlitedialect.New()), nil
	}
	s := &DB{unlock: unlock, hints: newHints()}
	if s.Write, err = open(1); err == nil {
		// Each reader has a cache of its own: what several read at once is in the operating system's all the same.
		s.Read, err = open(2*runtime.GOMAXPROCS(0), "query_only(1)", "cache_size(-8192)")
	}
	if err == nil {
		s.reserve, err = open(reserved, "query_only(1)", "cache_size(-8192)")
	}
	if err == nil {
		if err = s.Write.PingContext(ctx); err != nil {
			err = fmt.Errorf("database: %s can't be opened as SQLite; check the path, its permissions and free disk space: %w",
				path, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.traceReads()
	return s, nil
}

// reserved is how many connections Reserved has for itself.
const reserved = 3

// Reserved is the same database read through connections of its own, for whoever must go on reading however many requests
// there are. It is closed with the database.
func (s *DB) Reserved() *DB {
	return &DB{Read: s.reserve, Write: s.Write, postgres: s.postgres, hints: s.hints, Servers: s.Servers}
}

// Close closes every connection and frees the file lock.
func (s *DB) Close() error {
	var errs []error
	if s.Read != nil {
		errs = append(errs, s.Read.Close())
	}
	if s.Write != nil {
		errs = append(errs, s.Write.Close())
	}
	if s.reserve != nil {
		errs = append(errs, s.reserve.Close())
	}
	return errors.Join(append(errs, s.unlock())...)
}

// Ping tells whether the database answers.
func (s *DB) Ping(ctx context.Context) error { return s.Read.PingContext(ctx) }
