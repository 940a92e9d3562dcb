package storetest

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// Pair is a PostgreSQL with an asynchronous standby, behind an address that follows the primary.
type Pair struct {
	DSN              string
	t                *testing.T
	primary, standby *dbserver.Server
	proxy            *dbserver.Proxy
}

// NewPair starts both servers; they end with the test.
func NewPair(t *testing.T) *Pair {
	t.Helper()
	p := &Pair{t: t}
	var err error
	p.primary, err = dbserver.New()
	p.check(err)
	t.Cleanup(p.primary.Kill)
	p.standby, err = dbserver.NewStandby(p.primary)
	p.check(err)
	t.Cleanup(p.standby.Kill)
	dsn, err := p.primary.Create(t.Context(), "pair")
	p.check(err)
	p.proxy = NewProxy(t, dsn)
	p.DSN = p.proxy.DSN
	return p
}

// Lag lets the standby have what was committed so far, and cuts it off from what follows.
func (p *Pair) Lag() {
	p.t.Helper()
	p.Follow()
	p.check(p.standby.Exec(p.t.Context(), "ALTER SYSTEM SET primary_conninfo = ''"))
	p.check(p.standby.Exec(p.t.Context(), "SELECT pg_reload_conf()"))
	p.await(p.primary, "SELECT (count(*) = 0)::text FROM pg_stat_replication")
}

// FailOver kills the primary and makes the standby the primary.
func (p *Pair) FailOver() { p.FailOverAfter(func(string) {}) }

// FailOverAfter is FailOver, with work on the new primary, by its address, before the pair's address leads there.
func (p *Pair) FailOverAfter(work func(dsn string)) {
	p.t.Helper()
	p.primary.Kill()
	p.check(p.standby.Exec(p.t.Context(), "SELECT pg_promote()"))
	work(p.Standby())
	p.proxy.Redirect(p.standby)
}

// Standby is the standby's own address.
func (p *Pair) Standby() string { return p.standby.DSN("pair") }

// Follow waits until the standby has what was committed so far.
func (p *Pair) Follow() {
	p.t.Helper()
	at, err := p.primary.Ask(p.t.Context(), "SELECT pg_current_wal_lsn()::text")
	p.check(err)
	p.await(p.standby, "SELECT (pg_last_wal_replay_lsn() >= '"+at+"')::text")
}

// ByTurns is an address that leads to one of the two servers, and with the next connection to the other.
func (p *Pair) ByTurns() string {
	proxy := NewProxy(p.t, p.primary.DSN("pair"))
	proxy.ByTurns(p.standby)
	return proxy.DSN
}

func (p *Pair) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Pair) await(s *dbserver.Server, condition string) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := s.Ask(p.t.Context(), condition)
		p.check(err)
		if answer == "true" {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("it never came true: %s", condition)
		}
	}
}
