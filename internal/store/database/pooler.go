package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// errShared refuses a pooler that lends a server connection for a transaction or a statement. Programs set their sessions up, prepare statements,
// listen, and hold locks of a session, all of which would be another client's: an API server would make an indexer's session read-only. A
// program also wouldn't notice a failover behind its connections.
var errShared = errors.New("database: the address leads to a pooler that gives a server connection to other clients before this one's connection ends, " +
	"as PgBouncer does with pool_mode transaction or statement; Boardwalk needs pool_mode = session for its database, or the address of PostgreSQL itself")

const (
	// sessions is how many connections are made at once to see whether a pooler shares them out. Several poolers by turns, fewer than that, are
	// seen too, as two of the connections go by one of them.
	sessions = 4
	// looks is how often each of them is asked. A pooler that is busy gives a connection another server each time, an idle one gives all of them the same.
	looks = 3
	// sessionsTime bounds that. A pooler without a free server connection lets its clients wait.
	sessionsTime = 10 * time.Second
)

// checkAddress makes the first connections to an address, without settings of a session: a pooler that is refused would hand them on to others.
func checkAddress(ctx context.Context, cfg *pgx.ConnConfig, limits timeouts) error {
	bare := cfg.Copy()
	bare.AfterConnect = nil
	db := (&pools{credentials: limits.credentials}).open(bare, sessions, limits.read)
	err := ping(ctx, db, cfg)
	if err == nil {
		err = checkSessions(ctx, db)
	}
	return errors.Join(err, db.Close())
}

// checkSessions refuses a pooler that doesn't give each client a server connection of its own.
func checkSessions(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, sessionsTime)
	defer cancel()
	conns := make([]*sql.Conn, 0, sessions)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	owners := map[uint32]int{} // by the server's process
	for look := range looks {
		for i := range sessions {
			if look == 0 {
				c, err := db.Conn(ctx)
				if err != nil {
					return tooFew(ctx, i, err)
				}
				conns = append(conns, c)
			}
			process, direct, err := serverProcess(ctx, conns[i])
			switch {
			case err != nil:
				return tooFew(ctx, i, err)
			case direct:
				return nil
			}
			if owner, known := owners[process]; known && owner != i || !known && look > 0 {
				return errShared
			}
			owners[process] = i
		}
	}
	return nil
}

// serverProcess is the process of the server that answers a connection. It is direct if the server itself named that process when
// the connection began: a pooler names a number of its own, by which it knows whose statement to cancel.
func serverProcess(ctx context.Context, c *sql.Conn) (process uint32, direct bool, err error) {
	err = c.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the driver is a %T, not pgx", driver)
		}
		// Nothing is prepared, which a pooler would hand on, too.
		err := conn.Conn().QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&process)
		direct = process == conn.Conn().PgConn().PID()
		return err
	})
	return process, direct, err
}

// tooFew says that a pooler gave fewer connections at once than a program needs, which may be for a moment.
func tooFew(ctx context.Context, got int, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && got > 0 {
		return fmt.Errorf("%w: a pooler gave %d server connections at once within %s, and a program needs as many as its connections: "+
			"raise the pooler's bound (PgBouncer: default_pool_size, max_db_connections): %w", ErrUnreachable, got, sessionsTime, err)
	}
	return fmt.Errorf("database: look whether a pooler shares connections out: %w", err)
}

// startSettings are the settings that every pooler takes with the start of a connection, and options, which is no setting of a session.
var startSettings = []string{"application_name", "client_encoding", "datestyle", "options", "replication", "standard_conforming_strings", "timezone"}

// setAfterStart has the settings of the address set once a connection has begun: PgBouncer refuses a connection that begins with one that it doesn't
// know, such as statement_timeout or search_path.
func setAfterStart(cfg *pgx.ConnConfig) {
	var names []string
	var values [][]byte
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(cfg.RuntimeParams)) {
		if slices.Contains(startSettings, strings.ToLower(name)) {
			continue
		}
		names = append(names, name)
		values = append(values, []byte(name), []byte(cfg.RuntimeParams[name]))
		calls = append(calls, fmt.Sprintf("set_config($%d, $%d, false)", len(values)-1, len(values)))
		delete(cfg.RuntimeParams, name)
	}
	if len(names) == 0 {
		return
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if _, err := conn.ExecParams(ctx, "SELECT "+strings.Join(calls, ", "), values, nil, nil, nil).Close(); err != nil {
			return fmt.Errorf("set %s of the address: %w", strings.Join(names, ", "), err)
		}
		return nil
	}
}
