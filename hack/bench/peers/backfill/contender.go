package backfill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// usage of one run.
type usageOf struct {
	cpu, wall, database time.Duration
	peak                int64 // bytes
}

// contender is one way to read the chain's past into a fresh database.
type contender struct {
	name string
	// command starts it on a chain's endpoint; dir is its own for the run.
	command func(ctx context.Context, dir, endpoint, dsn string) (*exec.Cmd, error)
	// finished reports whether everything up to the head is in the database; nil is a program that ends by itself.
	finished func(ctx context.Context, conn *pgx.Conn) (bool, error)
	// check reads what it arrived at, and says how that differs from the count.
	check func(ctx context.Context, conn *pgx.Conn) (*rows, error)
	// replayed contenders read recorded answers.
	replayed bool
	// operations is where it answers for its profile, cpuProfile a file for one of so many seconds; empty is none.
	operations, cpuProfile string
	profileSeconds         int
}

// course is what all runs share.
type course struct {
	dir      string
	postgres *lab.Postgres
	chain    *theChain
	replay   *replay
}

// longestRun is the longest that one run may take.
const longestRun = 15 * time.Minute

// run measures one run of a contender, on a database and in a directory of its own, and reads its rows.
func (l *course) run(ctx context.Context, c *contender) (u usageOf, got *rows, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestRun)
	defer cancel()
	dsn, drop, err := l.postgres.Create(ctx)
	if err != nil {
		return u, nil, err
	}
	defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
	dir, err := os.MkdirTemp(l.dir, "run-")
	if err != nil {
		return u, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return u, nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	endpoint := l.chain.node.URL()
	if c.replayed {
		endpoint = l.replay.url
	}
	cmd, err := c.command(ctx, dir, endpoint, dsn)
	if err != nil {
		return u, nil, err
	}
	if u, err = l.measure(ctx, c, cmd, conn, dir); err != nil {
		return u, nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if got, err = c.check(ctx, conn); err != nil {
		return u, got, fmt.Errorf("%s: %w", c.name, err)
	}
	return u, got, nil
}

// measure runs a contender until it is done, and ends it.
func (l *course) measure(ctx context.Context, c *contender, cmd *exec.Cmd, conn *pgx.Conn, dir string) (u usageOf, err error) {
	database, err := l.postgres.CPU()
	if err != nil {
		return u, err
	}
	began := lab.Now()
	w, err := lab.StartWatched(cmd, dir)
	if err != nil {
		return u, err
	}
	profiled := make(chan error, 1)
	if c.cpuProfile == "" {
		profiled <- nil
	} else {
		go func() { profiled <- lab.CPUProfile(ctx, c.operations, c.profileSeconds, c.cpuProfile) }()
	}
	if c.finished == nil {
		<-w.Ended
		err = w.Err
	} else {
		err = await(ctx, conn, c.finished, w)
	}
	if u.wall = lab.Now().Sub(began); err == nil {
		err = <-profiled
	}
	w.Stop()
	if ctx.Err() != nil {
		err = fmt.Errorf("it was not done after %s: %w", u.wall.Round(time.Second), context.Cause(ctx))
	}
	wait.For(ctx, 300*time.Millisecond) // the server's process ends a little after its client
	after, e := l.postgres.CPU()
	if err := errors.Join(err, e); err != nil {
		return u, w.Failed(err)
	}
	u.database, u.peak = after-database, w.Peak.Load()
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, nil
}

// await asks the database until the contender is done. It costs the server little: one row, 20 times a second.
func await(ctx context.Context, conn *pgx.Conn, finished func(context.Context, *pgx.Conn) (bool, error), w *lab.Watched) error {
	for {
		done, err := finished(ctx, conn)
		if done || err != nil {
			return err
		}
		if err := w.Running(); err != nil {
			return err
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// boardwalk is the indexer, as it is run in earnest.
func (l *course) boardwalk(binary string, counted *rows) *contender {
	c := &contender{
		name: "Boardwalk",
		finished: func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			number, err := lab.Indexed(ctx, conn)
			return number >= l.chain.head, err
		},
		check: func(ctx context.Context, conn *pgx.Conn) (*rows, error) {
			r, err := boardwalkRows(ctx, conn)
			if err != nil {
				return nil, err
			}
			return r, r.differences(counted)
		},
	}
	c.command = func(ctx context.Context, dir, endpoint, dsn string) (cmd *exec.Cmd, err error) {
		config, err := l.chain.document(dir, endpoint)
		if err != nil {
			return nil, err
		}
		cmd, c.operations, err = lab.IndexerOn(ctx, binary, config, dsn)
		return cmd, err
	}
	return c
}

// floor is this program's own command.
func (l *course) floor(counted *census) *contender {
	return &contender{
		name: "floor",
		command: func(ctx context.Context, dir, endpoint, dsn string) (*exec.Cmd, error) {
			config, err := l.chain.document(dir, endpoint)
			if err != nil {
				return nil, err
			}
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, self, "floor", "--config", config, "--head", strconv.FormatUint(l.chain.head, 10))
			cmd.Env = append(os.Environ(), "BOARDWALK_DB="+dsn)
			return cmd, nil
		},
		check: func(ctx context.Context, conn *pgx.Conn) (*rows, error) { return nil, floorRows(ctx, conn, counted) },
	}
}
