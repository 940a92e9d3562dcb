package storetest

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pair is a PostgreSQL with an asynchronous standby, behind an address that follows the primary.
type Pair struct {
	DSN              string
	t                *testing.T
	primary, standby *postgres
	proxy            *Proxy
}

// NewPair starts both servers; they end with the test.
func NewPair(t *testing.T) *Pair {
	t.Helper()
	p := &Pair{t: t}
	dir, attr, err := serverDir()
	p.check(err)
	p.check(initData(dir, attr))
	p.primary, err = startServer(dir, attr)
	p.check(err)
	t.Cleanup(func() { p.primary.stop(syscall.SIGKILL) })
	dir, attr, err = serverDir()
	p.check(err)
	p.check(tool(dir, attr, "pg_basebackup", "-h", p.primary.dir, "-U", "postgres", "-D", filepath.Join(dir, "data"), "-R", "-c", "fast"))
	p.standby, err = startServer(dir, attr)
	p.check(err)
	t.Cleanup(func() { p.standby.stop(syscall.SIGKILL) })
	p.exec(p.primary, "CREATE DATABASE pair")
	p.proxy = NewProxy(t, p.primary.dsn("pair"))
	p.DSN = p.proxy.DSN
	return p
}

// Lag lets the standby have what was committed so far, and cuts it off from what follows.
func (p *Pair) Lag() {
	p.t.Helper()
	at := p.ask(p.primary, "SELECT pg_current_wal_lsn()::text")
	p.await(p.standby, "SELECT (pg_last_wal_replay_lsn() >= '"+at+"')::text")
	p.exec(p.standby, "ALTER SYSTEM SET primary_conninfo = ''")
	p.exec(p.standby, "SELECT pg_reload_conf()")
	p.await(p.primary, "SELECT (count(*) = 0)::text FROM pg_stat_replication")
}

// FailOver kills the primary and makes the standby the primary.
func (p *Pair) FailOver() {
	p.t.Helper()
	p.primary.stop(syscall.SIGKILL)
	p.exec(p.standby, "SELECT pg_promote()")
	p.proxy.redirect(socketIn(p.standby.dir))
}

func (p *Pair) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Pair) await(s *postgres, condition string) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); p.ask(s, condition) != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("it never came true: %s", condition)
		}
	}
}

func (p *Pair) ask(s *postgres, query string) (answer string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), s.dsn("postgres"))
	p.check(err)
	defer func() { _ = conn.Close(p.t.Context()) }()
	p.check(conn.QueryRow(p.t.Context(), query).Scan(&answer))
	return answer
}

func (p *Pair) exec(s *postgres, statement string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), s.dsn("postgres"))
	p.check(err)
	defer func() { _ = conn.Close(p.t.Context()) }()
	_, err = conn.Exec(p.t.Context(), statement)
	p.check(err)
}
