package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
)

// ErrInterrupted means that the database ended a transaction that may go through when it is tried again: a lock that
// wasn't free in time, a statement or a pause that took too long, a connection that broke or of which nothing was
// heard.
var ErrInterrupted = errors.New("the database interrupted a transaction")

// ErrLocked means that another has a row locked for longer than lockTime.
var ErrLocked = errors.New("a lock wasn't free in time")

const (
	// statementTime bounds a statement of a writer. Bulk writes come in pieces, each of them a statement.
	statementTime = time.Minute
	// lockTime is how long a writer waits for a lock. The writers of one process take turns, so that only another
	// program has it.
	lockTime = 2 * time.Second
	// idleTime is how long a writer may leave a transaction, and its locks, alone: longer than it computes between two
	// statements.
	idleTime = 5 * time.Second
	// lookupTime bounds a lookup by a prepared statement, which takes milliseconds.
	lookupTime = 15 * time.Second
	// pingTime is how long a connection that rested may take to say that it is there.
	pingTime = 5 * time.Second
	// readTime bounds a statement of a reader. The longest is the first look at a large chain.
	readTime = 5 * time.Minute
	// unheardTime is how long a sent byte may go without acknowledgment by the other machine.
	unheardTime = 15 * time.Second
)

// timeouts are how long PostgreSQL may take: over a statement of a writer, over one of a reader, and to acknowledge a byte.
type timeouts struct {
	statement, read, unheard time.Duration
	connections              connections
	credentials              credentials
	// settings are the settings of a writer's session that the address doesn't set.
	settings [][2]string
}

// timeoutsOf takes what the address of the database sets before the defaults.
func timeoutsOf(cfg *pgx.ConnConfig) (timeouts, error) {
	t := timeouts{statement: statementTime, read: readTime, unheard: unheardTime}
	for _, s := range []struct {
		name  string
		value time.Duration
		into  *time.Duration
	}{
		{"statement_timeout", statementTime, &t.statement},
		{"lock_timeout", lockTime, nil},
		{"idle_in_transaction_session_timeout", idleTime, nil},
		{"tcp_user_timeout", unheardTime, &t.unheard},
	} {
		set, ok := cfg.RuntimeParams[s.name]
		if !ok {
			t.settings = append(t.settings, [2]string{s.name, strconv.FormatInt(s.value.Milliseconds(), 10)})
			continue
		}
		d, err := parseTimeout(set)
		if err != nil {
			return t, fmt.Errorf("database: %s in the address: %w", s.name, err)
		}
		if s.into != nil {
			*s.into = d
		}
		if s.into == &t.statement { // the server holds readers to it, too
			t.read = d
		}
	}
	return t, nil
}

// readOnly are the settings of a reader's session: its transactions are read-only where nothing asks for another kind.
func readOnly() timeouts {
	return timeouts{settings: [][2]string{{"default_transaction_read_only", "on"}}}
}

// parseTimeout reads a time as PostgreSQL writes it: milliseconds, or a number with a unit.
func parseTimeout(text string) (time.Duration, error) {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"ms", time.Millisecond}, {"min", time.Minute}, {"s", time.Second}, {"h", time.Hour}, {"d", 24 * time.Hour}, {"", time.Millisecond}} {
		number, ok := strings.CutSuffix(strings.TrimSpace(text), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
		if err != nil {
			break
		}
		return time.Duration(n) * u.unit, nil
	}
	return 0, fmt.Errorf("%q is no time: write it as 5000, 5s or 1min", text)
}

// set gives a writer's session its settings. They don't go with the start of the connection, where poolers refuse what
// they don't know.
func (t timeouts) set(ctx context.Context, conn *pgx.Conn) error {
	for _, s := range t.settings {
		// A server that doesn't know a setting does without.
		_, err := conn.Exec(ctx, "SELECT set_config(name, $2, false) FROM pg_settings WHERE name = $1", s[0], s[1])
		if err != nil {
			return fmt.Errorf("set %s: %w", s[0], err)
		}
	}
	return nil
}

// dial connects so that a machine that is gone is noticed: by what it doesn't acknowledge, or, where nothing is sent,
// by probes.
func (t timeouts) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: t.unheard, Interval: t.unheard / 3, Count: 3},
		Control: func(network, _ string, c syscall.RawConn) error {
			if t.unheard == 0 || !strings.HasPrefix(network, "tcp") {
				return nil
			}
			return c.Control(func(fd uintptr) { setUserTimeout(fd, t.unheard) })
		},
	}
	return d.DialContext(ctx, network, address)
}

// deadline bounds every statement of a connection on this side: a server of which nothing is heard ends none.
type deadline struct {
	time time.Duration
	// silent is called when a statement meets it.
	silent func()
}

var (
	_ pgx.QueryTracer    = deadline{}
	_ pgx.CopyFromTracer = deadline{}
	_ pgx.PrepareTracer  = deadline{}
)

// beyond is a time by which a server that answers has ended a statement by itself.
func beyond(statement time.Duration) time.Duration { return statement + statement/4 }

type cancelKey struct{}

// lookupKey marks the context of a lookup, which has lookupTime.
type lookupKey struct{}

var errSilent = fmt.Errorf("nothing is heard of the database: %w", context.DeadlineExceeded)

func (d deadline) start(ctx context.Context) context.Context {
	end := d.time
	if ctx.Value(lookupKey{}) != nil {
		end = min(end, beyond(lookupTime))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, end, errSilent)
	return context.WithValue(ctx, cancelKey{}, cancel)
}

func (d deadline) end(ctx context.Context) {
	if errors.Is(context.Cause(ctx), errSilent) {
		d.silent()
	}
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// pools are a store's pools of connections. When one connection falls silent, those that rest in the pools may be just as silent: they are
// given up, so that the time until that is noticed is spent once and not once for each.
type pools struct {
	credentials credentials
	mu          sync.Mutex
	list        []pool
}

type pool struct {
	db    *sql.DB
	conns int
}

// open makes a pool of connections on which each statement has a time to end in, 0 for none; no connection is made yet.
func (p *pools) open(cfg *pgx.ConnConfig, conns int, each time.Duration, options ...stdlib.OptionOpenDB) *sql.DB {
	bounded := cfg.Copy()
	if each > 0 {
		bounded.Tracer = deadline{beyond(each), p.fellSilent}
	}
	db := stdlib.OpenDB(*bounded, append(options, stdlib.OptionShouldPing(p.answers), stdlib.OptionBeforeConnect(p.credentials.refresh))...)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, pool{db, conns})
	return db
}

// answers asks a connection that has rested for a second whether it is still there, as the driver would without an end. One that isn't is
// closed by that, which has the next one taken.
func (p *pools) answers(ctx context.Context, c stdlib.ShouldPingParams) (again bool) {
	if c.IdleDuration <= time.Second {
		return false
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pingTime, errSilent)
	defer cancel()
	if c.Conn.PgConn().Ping(ctx) != nil && errors.Is(context.Cause(ctx), errSilent) {
		p.fellSilent()
	}
	return false
}

// fellSilent doesn't wait: to close a silent connection takes seconds.
func (p *pools) fellSilent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.list {
		go func() {
			x.db.SetMaxIdleConns(-1)
			x.db.SetMaxIdleConns(x.conns)
		}()
	}
}

// TraceQueryStart begins a query's time.
func (d deadline) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return d.start(ctx)
}

// TraceQueryEnd ends it, when all rows are read.
func (d deadline) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	d.end(ctx)
}

// TraceCopyFromStart begins a COPY's time.
func (d deadline) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return d.start(ctx)
}

// TraceCopyFromEnd ends it.
func (d deadline) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	d.end(ctx)
}

// TracePrepareStart begins a preparation's time.
func (d deadline) TracePrepareStart(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareStartData) context.Context {
	return d.start(ctx)
}

// TracePrepareEnd ends it.
func (d deadline) TracePrepareEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareEndData) {
	d.end(ctx)
}

// LockNotAvailable is PostgreSQL's code for a lock that wasn't free in time.
const LockNotAvailable = "55P03"

// Interruption tells a transaction that may go through another time from one that failed for what it is. One that came to a bound before the
// partition beyond it is there goes through a moment later.
func Interruption(ctx context.Context, err error) error {
	const sqliteBusy = 5
	var pg *pgconn.PgError
	var lite *sqlite.Error
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.As(err, &pg):
		switch {
		case pg.Code == LockNotAvailable:
			err = fmt.Errorf("%w: %w", ErrLocked, err)
		case pg.ConstraintName == Closing:
			err = fmt.Errorf("a partition is being closed: %w", err)
		case !isPassing(pg):
			return err
		}
	case errors.As(err, &lite):
		if lite.Code()&0xff != sqliteBusy {
			return err
		}
	case !isBroken(err):
		return err
	}
	return fmt.Errorf("%w: %w", ErrInterrupted, err)
}

// passingCodes begin the SQLSTATEs of what passes: connection errors, a pause in a transaction that took too long,
// serialization failures and deadlocks, a lack of resources, what an administrator or a timeout ended (PostgreSQL,
// appendix A).
var passingCodes = []string{"08", "25P03", "40", "53", "57"}

// isPassing reports whether the server says that what it refuses now may go through later.
func isPassing(err *pgconn.PgError) bool {
	return slices.ContainsFunc(passingCodes, func(code string) bool { return strings.HasPrefix(err.Code, code) })
}

// isBroken reports whether an error says that the connection is gone.
func isBroken(err error) bool {
	var network net.Error
	for _, gone := range []error{
		context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err)
}

// Closing names the constraint by which PostgreSQL knows that a partition's rows are within its bounds without reading them once more under a
// lock.
const Closing = "closing"
