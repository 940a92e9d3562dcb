package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	// compared is how many connections are made at once to see whether a pooler shares them out. Where an address leads to several poolers by turns, this
	// finds up to three: two of the connections then go through one pooler.
	compared = 4
	// rounds is how often each connection is asked for its server process. A busy pooler gives a connection another process nearly each time, an idle
	// pooler gives all connections the same one.
	rounds = 6
	// compareTime is how long the comparison may take. A pooler without a free server connection lets its clients wait.
	compareTime = 10 * time.Second
)

// checkAddress makes the first connections to an address, without settings of a session: a pooler that is refused would hand them on to others.
func checkAddress(ctx context.Context, cfg *pgx.ConnConfig, limits timeouts) error {
	bare := cfg.Copy()
	bare.AfterConnect = nil
	db := (&pools{credentials: limits.credentials}).open(bare, compared, limits.read)
	err := ping(ctx, db, cfg)
	if err == nil {
		err = checkSessions(ctx, db)
	}
	return errors.Join(err, db.Close())
}

// checkSessions refuses a pooler that doesn't give each client a server connection of its own.
func checkSessions(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	conns := make([]*sql.Conn, 0, compared)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	owners := map[string]int{} // by the server's process
	for round := range rounds {
		for i := range compared {
			if round == 0 {
				c, err := db.Conn(ctx)
				if err != nil {
					return uncompared(len(owners), err)
				}
				conns = append(conns, c)
			}
			process, direct, err := serverProcess(ctx, conns[i])
			switch {
			case err != nil:
				return uncompared(len(owners), err)
			case direct:
				return nil
			}
			if owner, known := owners[process]; known && owner != i || !known && round > 0 {
				return errShared
			}
			owners[process] = i
		}
	}
	return nil
}

// askProcess asks for the number of the server process, and since when the server runs: processes of two servers may have the same number.
const askProcess = "SELECT pg_backend_pid(), pg_postmaster_start_time()"

// serverProcess names the process of the server that answers a connection. It is direct if the server itself named that process when
// the connection began: a pooler names a number of its own, by which it knows whose statement to cancel.
func serverProcess(ctx context.Context, c *sql.Conn) (process string, direct bool, err error) {
	err = c.Raw(func(driver any) error {
		conn, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the driver is a %T, not pgx", driver)
		}
		// Nothing is prepared, which a pooler would hand on, too; and no parameter is sent, so that any encoding of the client will do.
		results, err := conn.Conn().PgConn().Exec(ctx, askProcess).ReadAll()
		if err != nil {
			return err
		}
		if len(results) != 1 || len(results[0].Rows) != 1 || len(results[0].Rows[0]) != 2 {
			return fmt.Errorf("%q was answered with %d results", askProcess, len(results))
		}
		id, since := string(results[0].Rows[0][0]), string(results[0].Rows[0][1])
		process = id + " since " + since
		direct = id == strconv.FormatUint(uint64(conn.Conn().PgConn().PID()), 10)
		return nil
	})
	return process, direct, err
}

// uncompared is the error of a comparison that couldn't be finished. It is ErrUnreachable, so that programs wait, where the cause may pass: the server went
// away, or the pooler had too few connections.
func uncompared(got int, err error) error {
	refused, isRefused := errors.AsType[*pgconn.PgError](err)
	if mayPass := Unreachable(err) || isBroken(err) || isRefused && isPassing(refused); !mayPass {
		return fmt.Errorf("database: look whether a pooler shares connections out: %w", err)
	}
	return fmt.Errorf("%w: of %d connections at once %d were had within %s; a program needs as many as it may have, so if this lasts "+
		"raise the bound of the pooler before the database (PgBouncer: default_pool_size, max_db_connections): %w", ErrUnreachable, compared, got, compareTime, err)
}

// startSettings are the parameters of an address that stay at the start of a connection: those that every pooler knows, those that PostgreSQL takes only
// there, and options.
var startSettings = []string{
	"application_name", "client_encoding", "datestyle", "options", "replication", "standard_conforming_strings", "timezone",
	"ignore_system_indexes", "local_preload_libraries", "log_connections", "log_disconnections", "post_auth_delay", "session_preload_libraries",
}

// setAfterStart moves the other settings of the address to a statement after the start: PgBouncer refuses a connection whose start has a setting that
// PgBouncer doesn't know, such as statement_timeout or search_path.
func setAfterStart(cfg *pgx.ConnConfig) {
	var names []string
	var values [][]byte
	var calls []string
	for _, name := range slices.Sorted(maps.Keys(cfg.RuntimeParams)) {
		if slices.Contains(startSettings, strings.ToLower(name)) || strings.HasPrefix(name, "_pq_.") { // an option of the protocol
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
