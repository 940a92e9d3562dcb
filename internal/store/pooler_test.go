package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// programs open a database as the programs do; none of them waits.
var programs = map[string]func(ctx context.Context, dsn string) error{
	"indexer":    func(ctx context.Context, dsn string) error { return closed(store.Open(ctx, dsn)) },
	"API server": func(ctx context.Context, dsn string) error { return closed(store.OpenReader(ctx, dsn)) },
	"members": func(ctx context.Context, dsn string) error {
		return closed(store.OpenMigratedPatiently(ctx, dsn, store.Waiting{Now: time.Now, Log: slog.New(slog.DiscardHandler)}))
	},
	"migrate": func(ctx context.Context, dsn string) error {
		return (&schema.Migration{Database: dsn, Out: &bytes.Buffer{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}).Run(ctx)
	},
	"migrate --try": schema.Try,
}

func closed(st *store.Store, err error) error {
	if err != nil {
		return err
	}
	return st.Close()
}

// with adds parameters to an address, by names and values.
func with(t *testing.T, dsn string, parameters ...string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// TestPoolersThatShareConnections starts each program behind a PgBouncer in transaction or statement mode: each refuses to start, and leaves no setting
// behind on the server's connections. It tries addresses without prepared statements too, with which programs would seem to work.
func TestPoolersThatShareConnections(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	storetest.OpenAt(t, dsn)
	for _, mode := range []string{"transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := storetest.NewPooler(t, dsn, dbserver.PoolerOptions{Mode: mode, Settings: []string{"default_pool_size = 5"}})
			busy := storetest.NewPooler(t, dsn, dbserver.PoolerOptions{Mode: mode, Settings: []string{"default_pool_size = 5", "server_round_robin = 1"}})
			for range 3 {
				useWithoutEnd(t, busy.DSN)
			}
			turns := storetest.NewProxy(t, p.DSN)
			turns.ByTurnsWithPooler(busy)
			for name, open := range programs {
				for which, address := range map[string]string{
					"idle": p.DSN, "busy": busy.DSN, "two by turns": turns.DSN, "unprepared": with(t, p.DSN, "default_query_exec_mode", "exec", "statement_timeout", "7s"),
				} {
					err := open(t.Context(), address)
					if err == nil || errors.Is(err, store.ErrUnreachable) || !strings.Contains(err.Error(), "needs pool_mode = session for its database") {
						t.Errorf("%s, %s: %v; want it refused", name, which, err)
					}
				}
			}
			left, err := pgx.Connect(t.Context(), with(t, p.DSN, "default_query_exec_mode", "simple_protocol"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = left.Close(context.WithoutCancel(t.Context())) }()
			var settings string
			err = left.QueryRow(t.Context(), "SELECT current_setting('default_transaction_read_only') || ' ' || current_setting('statement_timeout') || ' ' || "+
				"(SELECT count(*) FROM pg_prepared_statements)").Scan(&settings)
			if err != nil || settings != "off 0 0" {
				t.Errorf("a server connection of the pooler has the settings %q of a program that was refused, %v", settings, err)
			}
		})
	}
}

// useWithoutEnd runs statements of another client through a pooler until the test ends.
func useWithoutEnd(t *testing.T, dsn string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := pgx.Connect(ctx, with(t, dsn, "default_query_exec_mode", "simple_protocol"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, _ = conn.Exec(ctx, "SELECT pg_sleep(0.001)")
		}
		_ = conn.Close(context.WithoutCancel(ctx))
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// pooled is a site's database by way of a PgBouncer in session mode, where each role has a password.
type pooled struct {
	*site
	pooler    *dbserver.Pooler
	passwords map[string]string
}

func newPooled(t *testing.T, settings ...string) *pooled {
	t.Helper()
	p := &pooled{site: newSite(t)}
	p.run(p.admin, `CREATE ROLE "`+p.reader+`" LOGIN`)
	p.passwords = map[string]string{p.owner: "owners-password", p.reader: "readers-password"}
	p.pooler = storetest.NewPooler(t, p.admin, dbserver.PoolerOptions{Mode: "session", Passwords: p.passwords, Settings: settings})
	return p
}

// through is the address of a role by way of the pooler.
func (p *pooled) through(role string, parameters ...string) string {
	p.t.Helper()
	return with(p.t, p.pooler.DSN, append(parameters, "user", role, "password", p.passwords[role])...)
}

// inUse is how many clients the pooler has of a role, and how many server connections they use.
func (p *pooled) inUse(role string) (clients, servers int) {
	p.t.Helper()
	pools, err := p.pooler.Pools(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, pool := range pools {
		if pool["user"] == role {
			var waiting int
			for column, to := range map[string]*int{"cl_active": &clients, "sv_active": &servers, "cl_waiting": &waiting} {
				if _, err := fmt.Sscan(fmt.Sprint(pool[column]), to); err != nil {
					p.t.Fatalf("%s of SHOW POOLS: %v", column, err)
				}
			}
			clients += waiting
		}
	}
	return clients, servers
}

// TestASessionPooler runs every program behind a PgBouncer in session mode, with settings in the address that PgBouncer doesn't know.
func TestASessionPooler(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	p.run(p.admin, "CREATE SCHEMA markets AUTHORIZATION "+p.owner)
	address := func(role string) string {
		return p.through(role, "search_path", "markets", "statement_timeout", "50s", "lock_timeout", "3s")
	}
	m := &schema.Migration{Database: address(p.owner), Reader: p.reader, Out: t.Output(), Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	if err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, open := range programs {
		role := p.owner
		if name == "API server" {
			role = p.reader
		}
		if err := open(t.Context(), address(role)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An API server of the owner's address leaves its server connections to the pooler, which gives them to the indexer.
	if st, err := store.OpenReader(t.Context(), address(p.owner)); err != nil {
		t.Fatal(err)
	} else if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	indexer := storetest.OpenAt(t, address(p.owner))
	for pool, want := range map[string]string{"read": "50s 3s markets", "write": "50s 3s markets", "reserved": "50s 3s markets"} {
		var got string
		err := indexer.ConnectionPools()[pool].QueryRowContext(t.Context(),
			"SELECT current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') || ' ' || current_setting('search_path')").Scan(&got)
		if err != nil || got != want {
			t.Errorf("the sessions of the pool %s have %q, %v; want %q", pool, got, err, want)
		}
	}
	reader, err := store.OpenReader(t.Context(), address(p.reader))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	hints := reader.Hints(t.Context())
	l := lease(t, indexer)
	told := false
	for n := 1; !told; n++ { // until the reader listens
		if err := indexer.Commit(t.Context(), l, commitOf(n, 100, map[string]*market.Changes{})); err != nil { // COPY, and temporary tables
			t.Fatal(err)
		}
		select {
		case <-hints:
			told = true
		case <-time.After(300 * time.Millisecond):
		}
		if s := chain(t, reader); s.Last.Number != uint64(n) {
			t.Fatalf("the reader has block %d, want %d", s.Last.Number, n)
		}
		if n == 400 {
			t.Fatal("a reader is told of no commit")
		}
	}
	if _, err := reader.Leases.Acquire(t.Context(), "base", "reader", time.Minute); err == nil {
		t.Error("a reader took a chain's lease")
	}
	var log bytes.Buffer
	schema.BuildIndexes(t.Context(), indexer.Inspect.Database(), slog.New(slog.NewTextHandler(&log, nil))) // locks of a session
	if strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the look after the tables: %s", log.String())
	}
}

// TestAnyEncodingOfTheClient connects with another client encoding than UTF-8, with and without a pooler: the look for poolers needs no encoding.
func TestAnyEncodingOfTheClient(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	for name, dsn := range map[string]string{
		"PostgreSQL itself": with(t, p.admin, "client_encoding", "SQL_ASCII", "standard_conforming_strings", "off"),
		"by a pooler":       p.through(p.owner, "client_encoding", "SQL_ASCII", "standard_conforming_strings", "off"),
	} {
		db, err := database.Connect(t.Context(), dsn)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAnotherPasswordThroughAPooler changes a role's password in PgBouncer and in the program's file: new connections use the new password.
func TestAnotherPasswordThroughAPooler(t *testing.T) {
	t.Parallel()
	p := newPooled(t)
	if _, err := p.migrate(p.owner, p.reader); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "uri")
	st, err := store.OpenReader(t.Context(), store.RefreshCredentials(p.through(p.reader), file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	p.passwords[p.reader] = "another-password"
	if err := errors.Join(p.pooler.Passwords(p.passwords), p.pooler.Reload(t.Context())); err != nil {
		t.Fatal(err)
	}
	anew := func() (err error) {
		p.run(p.admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		for range 20 { // connections that are gone fail once
			if _, err = st.Chains(t.Context()); err == nil {
				return nil
			}
		}
		return err
	}
	if err := anew(); err == nil || !store.Unreachable(err) {
		t.Errorf("with the former password: %v; want the login refused", err)
	}
	if err := os.WriteFile(file, []byte(p.through(p.reader)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := anew(); err != nil {
		t.Errorf("with the password of now: %v", err)
	}
}

// TestConnectionsThroughAPooler uses all connections of an indexer and of an API server, and compares PgBouncer's count of them with the documented
// most: maxConnections and two more.
func TestConnectionsThroughAPooler(t *testing.T) {
	t.Parallel()
	const most, budget = 10, 12
	p := newPooled(t, fmt.Sprintf("default_pool_size = %d", budget))
	if _, err := p.migrate(p.owner, p.reader); err != nil {
		t.Fatal(err)
	}
	for role, open := range map[string]func(context.Context, string) (*store.Store, error){p.owner: store.Open, p.reader: store.OpenReader} {
		st, err := open(t.Context(), store.BoundConnections(p.through(role), strconv.Itoa(most)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		for _, pool := range st.ConnectionPools() {
			for range pool.Stats().MaxOpenConnections {
				conn, err := pool.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				if err := conn.PingContext(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		pooled, _ := p.inUse(role)
		for range 2 { // that which waits for hints, and that which looks after the tables
			conn, err := st.Inspect.Database().ConnectAlone(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
			if err := conn.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		clients, servers := p.inUse(role)
		if pooled > most || clients != pooled+2 || servers != clients {
			t.Errorf("%s: the pools have %d connections, and with two more the pooler has %d clients with %d server connections; want at most %d, two more, and as many",
				role, pooled, clients, servers, most)
		}
	}
}

// TestAPoolerWithTooFewConnections: the error says how many connections the pooler gave, and is one that programs wait for.
func TestAPoolerWithTooFewConnections(t *testing.T) {
	t.Parallel()
	p := newPooled(t, "default_pool_size = 2")
	err := programs["indexer"](t.Context(), p.through(p.owner))
	if !errors.Is(err, store.ErrUnreachable) || !strings.Contains(err.Error(), "of 4 connections at once 2 were had") {
		t.Errorf("%v", err)
	}
}

// TestAPoolerWithoutItsServer: programs wait for PostgreSQL where PgBouncer runs and PostgreSQL doesn't. PgBouncer lets clients log in all the same, and
// closes their connections some seconds later.
func TestAPoolerWithoutItsServer(t *testing.T) {
	t.Parallel()
	server, err := dbserver.New()
	if err != nil {
		t.Fatal(err)
	}
	stop := server.Stop
	t.Cleanup(func() { stop() })
	dsn, err := server.Create(t.Context(), "pooled")
	if err != nil {
		t.Fatal(err)
	}
	p := storetest.NewPooler(t, dsn, dbserver.PoolerOptions{Mode: "session", Settings: []string{"server_login_retry = 2"}})
	if err := programs["indexer"](t.Context(), p.DSN); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	stop = func() {}
	for _, name := range []string{"indexer", "API server"} {
		if err := programs[name](t.Context(), p.DSN); !errors.Is(err, store.ErrUnreachable) {
			t.Errorf("%s: %v; want %v", name, err, store.ErrUnreachable)
		}
	}
}
