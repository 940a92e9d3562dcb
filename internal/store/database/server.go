package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// servers keeps the connections of a reader to one server. Behind one address there is another one after a failover, and it can lack what
// the last one had committed. Rows of both don't fit together.
type servers struct {
	mu  sync.Mutex
	now string
	// changes counts by how many servers the first one was followed.
	changes int64
}

// askServer tells the servers behind an address apart, and a server from itself before a restart, after which it can have gone back.
const askServer = "SELECT COALESCE(host(inet_server_addr()), '') || ' ' || COALESCE(inet_server_port(), 0) || ' ' || pg_postmaster_start_time()"

// serverKey is where a connection notes its server.
const serverKey = "boardwalk server"

// meet notes the server of a new connection: the newest one counts.
func (s *servers) meet(ctx context.Context, conn *pgx.Conn) error {
	var server string
	if err := conn.QueryRow(ctx, askServer).Scan(&server); err != nil {
		return fmt.Errorf("ask which server this is: %w", err)
	}
	conn.PgConn().CustomData()[serverKey] = server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != "" && s.now != server {
		s.changes++
	}
	s.now = server
	return nil
}

// keep has a connection to another server than the newest one closed before it is used again.
func (s *servers) keep(_ context.Context, conn *pgx.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if conn.PgConn().CustomData()[serverKey] != s.now {
		return driver.ErrBadConn
	}
	return nil
}

// Changed is how often the server was another one; 0 without servers to keep apart.
func (s *servers) Changed() int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// options are the options of a pool whose connections are read-only and lead to one server.
func (s *servers) options() []stdlib.OptionOpenDB {
	return []stdlib.OptionOpenDB{
		stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
			return errors.Join(readOnly().set(ctx, conn), s.meet(ctx, conn))
		}),
		stdlib.OptionResetSession(s.keep),
	}
}

// asked is how many connections are made at once to see whether they all lead to one server: with two by turns or at random, one time in
// 128 they all do.
const asked = 8

// checkOneServer refuses an address that leads to several servers at once.
func checkOneServer(ctx context.Context, db *sql.DB) error {
	var first string
	for range asked {
		conn, err := db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("database: connect: %w", err)
		}
		defer func() { _ = conn.Close() }() // all of them stay until the last one was asked
		var server string
		if err := conn.QueryRowContext(ctx, askServer).Scan(&server); err != nil {
			return fmt.Errorf("database: ask which server this is: %w", err)
		}
		if first == "" {
			first = server
		}
		if server != first {
			return errors.New("database: the address leads to several servers, such as replicas by turns, and what one of them has doesn't fit what " +
				"another has: name one, as by a Service of one replica, and another for another API server")
		}
	}
	return nil
}
