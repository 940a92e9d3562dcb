package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Postgres is a server of the measurement's own, with a database per run.
type Postgres struct {
	cmd   *exec.Cmd
	port  string
	count int
	admin *pgx.Conn
}

// StartPostgres starts a server on a directory, with the distribution's settings, but for what waits for the disk: that
// would measure the disk. It is empty unless one ran there before. With statements it also counts what each takes.
func StartPostgres(ctx context.Context, dir string, statements bool) (*Postgres, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return nil, errors.New("PostgreSQL is not installed: run hack/setup.sh, which installs it")
	}
	bin := bins[len(bins)-1]
	p, attr, own := &Postgres{}, &syscall.SysProcAttr{}, filepath.Join(dir, "postgres")
	if err := os.MkdirAll(own, 0o700); err != nil {
		return nil, err
	}
	// The server's user may enter the parent, not read it.
	if err := errors.Join(os.Chmod(dir, 0o711), dbserver.AsPostgres(attr, own)); err != nil {
		return nil, err
	}
	data := filepath.Join(own, "data")
	if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
		initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8",
			"--locale=C.UTF-8", "-N")
		initdb.SysProcAttr, initdb.Dir = attr, own
		if out, err := initdb.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	if p.port, err = FreePort(ctx); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-p", p.port, //nolint:noctx // ended by stop, after everything else
		"-c", "unix_socket_directories=", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
		"-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB")
	if statements {
		p.cmd.Args = append(p.cmd.Args, "-c", "shared_preload_libraries=pg_stat_statements", "-c", "pg_stat_statements.track_planning=on")
	}
	p.cmd.SysProcAttr, p.cmd.Dir = attr, own
	log, err := os.Create(filepath.Join(own, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := dbserver.Start(p.cmd); err != nil {
		return nil, err
	}
	for deadline := Now().Add(30 * time.Second); ; {
		if p.admin, err = pgx.Connect(ctx, p.dsn("postgres")); err == nil {
			return p, nil
		}
		if ctx.Err() != nil || Now().After(deadline) {
			p.Stop()
			return nil, fmt.Errorf("PostgreSQL did not answer within 30 s: %w", err)
		}
		wait.For(ctx, 50*time.Millisecond)
	}
}

func (p *Postgres) dsn(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s/%s?sslmode=disable", p.port, database)
}

// Create makes an empty database; drop is called when it has served.
func (p *Postgres) Create(ctx context.Context) (dsn string, drop func(context.Context) error, err error) {
	p.count++
	name := fmt.Sprintf("run_%d", p.count)
	if _, err := p.admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, fmt.Errorf("create a database: %w", err)
	}
	return p.dsn(name), func(ctx context.Context) error {
		_, err := p.admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		if err == nil {
			// PostgreSQL writes its changed pages to disk now, and not during the next run, which would measure that too.
			_, err = p.admin.Exec(ctx, "CHECKPOINT")
		}
		return err
	}, nil
}

// Stop ends the server.
func (p *Postgres) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGINT) // fast shutdown
	_ = p.cmd.Wait()
}

// Slowest writes the statements that the server spent most time on in the database of dsn, with planning and execution
// apart. Statements that differ only behind their first words, such as in how many keys they name, are counted together.
func (p *Postgres) Slowest(ctx context.Context, conn *pgx.Conn, path string) error {
	if _, err := conn.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return fmt.Errorf("--statements: %w", err)
	}
	list, err := conn.Query(ctx, `SELECT sum(total_plan_time + total_exec_time), sum(total_plan_time), sum(calls)::bigint, sum(rows)::bigint,
		regexp_replace(left(query, 110), '\s+', ' ', 'g') FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
		WHERE d.datname = current_database() GROUP BY 5 ORDER BY 1 DESC LIMIT 25`)
	if err != nil {
		return fmt.Errorf("--statements: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("total_ms   plan_ms    calls     rows  statement\n")
	var total, plan float64
	var calls, rows int64
	var query string
	_, err = pgx.ForEachRow(list, []any{&total, &plan, &calls, &rows, &query}, func() error {
		_, err := fmt.Fprintf(&b, "%8.1f  %8.1f  %7d  %7d  %s\n", total, plan, calls, rows, query)
		return err
	})
	return errors.Join(err, os.WriteFile(path, b.Bytes(), 0o600))
}

// CPU is what the server and all its processes have used so far.
func (p *Postgres) CPU() (time.Duration, error) { return TreeCPU(p.cmd.Process.Pid) }

// FreePort is a port of this machine's that nobody listens on.
func FreePort(ctx context.Context) (string, error) {
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
