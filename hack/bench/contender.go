package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

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
	// beside and after, if set, run while the contender does, from its start and when it is done, and are waited for.
	beside, after func(ctx context.Context) error
}

// lab is what all runs share.
type lab struct {
	dir      string
	postgres *postgres
	chain    *theChain
	replay   *replay
	timeout  time.Duration
}

// run measures one run of a contender, on a database and in a directory of its own, and reads its rows.
func (l *lab) run(ctx context.Context, c *contender) (u usageOf, got *rows, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	dsn, drop, err := l.postgres.create(ctx)
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

func (l *lab) measure(ctx context.Context, c *contender, cmd *exec.Cmd, conn *pgx.Conn, dir string) (u usageOf, err error) {
	output, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return u, err
	}
	defer func() { _ = output.Close() }()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = output, output, dieWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	database, began := l.postgres.cpu(), now()
	if err := cmd.Start(); err != nil {
		return u, fmt.Errorf("start it: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	peak := make(chan int64, 1)
	go func() { peak <- watchPeak(watching, cmd.Process.Pid) }()
	beside := make(chan error, 1)
	if c.beside != nil {
		go func() { beside <- c.beside(watching) }()
	} else {
		beside <- nil
	}

	if c.finished == nil {
		err = <-ended
		u.wall = now().Sub(began)
	} else {
		err = await(ctx, conn, c.finished, ended)
		u.wall = now().Sub(began)
		if err != nil {
			stop()
		}
		err = errors.Join(err, <-beside)
		if err == nil && c.after != nil {
			err = c.after(ctx)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if e := <-ended; err != nil { // else it ends by our signal, and how is no matter
			err = errors.Join(err, e)
		}
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("it was not done after %s: %w", u.wall.Round(time.Second), context.Cause(ctx))
	}
	stop()
	wait.For(ctx, 300*time.Millisecond) // the server's process ends a little after its client
	u.database = l.postgres.cpu() - database
	if err != nil {
		return u, fmt.Errorf("%w; it said last:\n%s", err, tail(output.Name()))
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.peak = <-peak
	return u, nil
}

// watchPeak gives a process's peak memory. The kernel's own figure, of rusage, has in it what this program used when it
// started the process. 0 where there is no /proc.
func watchPeak(ctx context.Context, pid int) (peak int64) {
	for again := true; again; again = wait.For(ctx, 20*time.Millisecond) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return peak
		}
		_, after, _ := strings.Cut(string(raw), "VmHWM:")
		kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		if n, err := strconv.ParseInt(kilobytes, 10, 64); err == nil {
			peak = n << 10
		}
	}
	return peak
}

// await asks the database until the contender is done. It costs the server little: one row, 20 times a second.
func await(ctx context.Context, conn *pgx.Conn, finished func(context.Context, *pgx.Conn) (bool, error), ended chan error) error {
	for {
		done, err := finished(ctx, conn)
		if done || err != nil {
			return err
		}
		select {
		case err := <-ended:
			ended <- err
			return errors.Join(errors.New("it ended before it was done"), err)
		default:
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// tail is the end of what a program printed.
func tail(path string) []byte {
	raw, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-15):], []byte("\n"))
}

// boardwalk is the indexer, as it is run in earnest.
func (l *lab) boardwalk(binary, operations string, counted *rows) *contender {
	return &contender{
		name: "Boardwalk",
		command: func(ctx context.Context, dir, endpoint, dsn string) (*exec.Cmd, error) {
			config, err := l.chain.document(dir, endpoint)
			if err != nil {
				return nil, err
			}
			cmd := exec.CommandContext(ctx, binary, "indexer", "--config", config,
				"--operations", operations, "--pprof")
			cmd.Env = append(os.Environ(), "BOARDWALK_DB="+dsn)
			return cmd, nil
		},
		finished: func(ctx context.Context, conn *pgx.Conn) (bool, error) {
			var number int64
			if err := conn.QueryRow(ctx, "SELECT number FROM chains").Scan(&number); err != nil {
				return false, notYet(err)
			}
			return number >= int64(l.chain.head), nil
		},
		check: func(ctx context.Context, conn *pgx.Conn) (*rows, error) {
			r, err := boardwalkRows(ctx, conn)
			if err != nil {
				return nil, err
			}
			return r, r.differences(counted)
		},
	}
}

// notYet passes over that a table or its row is not there yet.
func notYet(err error) error {
	var state interface{ SQLState() string }
	const undefinedTable, undefinedSchema = "42P01", "3F000"
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &state) && (state.SQLState() == undefinedTable || state.SQLState() == undefinedSchema) {
		return nil
	}
	return err
}

// profile fetches a page of a program's operations listener, as soon as that listens, and saves it.
func profile(ctx context.Context, url, path string) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		res, err := (&http.Client{}).Do(req) // ctx bounds it
		if err != nil {
			if !wait.For(ctx, 10*time.Millisecond) {
				return err
			}
			continue
		}
		defer func() { _ = res.Body.Close() }()
		if res.StatusCode != http.StatusOK {
			return errors.New("profile: the program answered " + res.Status)
		}
		return save(res.Body, path)
	}
}

func save(from io.Reader, path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, from)
	return err
}

// floor is this program's own command.
func (l *lab) floor(counted *census) *contender {
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
