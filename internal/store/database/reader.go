package database

import (
	"context"
	"errors"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// ConnectReader opens a database for a program that only reads. On PostgreSQL every transaction is read-only; it may be a hot standby, which then
// is told as old as it is. An SQLite file has one process, which opens it as Connect does.
func ConnectReader(ctx context.Context, dsn string) (*DB, error) {
	if strings.HasPrefix(dsn, "sqlite:") {
		return Connect(ctx, dsn)
	}
	cfg, limits, err := readPostgres(dsn)
	if err != nil {
		return nil, err
	}
	if err := checkAddress(ctx, cfg, limits); err != nil {
		return nil, err
	}
	s := &DB{postgres: cfg, credentials: limits.credentials, most: limits.connections.ofReader(), hints: newHints(), Servers: &servers{}, eachRead: limits.read, unlock: func() error { return nil }}
	all := &pools{credentials: limits.credentials}
	open := func(conns int) *bun.DB {
		return bun.NewDB(all.open(cfg, conns, limits.read, s.Servers.options()...), pgdialect.New())
	}
	s.Read, s.Write, s.reserve = open(s.most.read), open(s.most.write), open(s.most.reserved)
	s.traceReads()
	return s, nil
}

// CheckOneServer refuses an address that leads to several servers at once.
func (s *DB) CheckOneServer(ctx context.Context) error {
	// These connections are no part of the pools: the newest one's server counts there.
	probe := (&pools{credentials: s.credentials}).open(s.postgres, asked, s.eachRead)
	return errors.Join(checkOneServer(ctx, probe), probe.Close())
}
