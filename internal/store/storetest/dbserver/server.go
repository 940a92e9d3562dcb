// Package dbserver runs PostgreSQL servers for tests and benchmarks, puts proxies in front of them, and imitates
// faults of a database. The shipped program doesn't link it.
package dbserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL on a folder of its own, which goes with it.
type Server struct {
	dir string
	cmd *exec.Cmd
}

// New starts an empty server.
func New() (*Server, error) {
	dir, attr, err := serverDir()
	if err != nil {
		return nil, err
	}
	if err := initData(dir, attr); err != nil {
		return nil, err
	}
	return startServer(dir, attr)
}

// NewStandby starts an asynchronous standby of a server.
func NewStandby(primary *Server) (*Server, error) {
	dir, attr, err := serverDir()
	if err != nil {
		return nil, err
	}
	if err := tool(dir, attr, "pg_basebackup", "-h", primary.dir, "-U", "postgres", "-D", filepath.Join(dir, "data"), "-R", "-c", "fast"); err != nil {
		return nil, err
	}
	return startServer(dir, attr)
}

// DSN is the address of a database. It goes by the server's socket: no port that somebody else could have taken.
func (s *Server) DSN(database string) string {
	q := url.Values{"host": {s.dir}, "user": {"postgres"}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: q.Encode()}).String()
}

// Create makes an empty database and gives its address.
func (s *Server) Create(ctx context.Context, database string) (dsn string, err error) {
	return s.DSN(database), s.Exec(ctx, "CREATE DATABASE "+database)
}

// Exec runs a statement in the server's own database.
func (s *Server) Exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// Ask gives the text that a query in the server's own database answers.
func (s *Server) Ask(ctx context.Context, query string) (answer string, err error) {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	return answer, conn.QueryRow(ctx, query).Scan(&answer)
}

// Stop ends the server in an orderly way, Kill as a power failure does. The folder goes.
func (s *Server) Stop() { s.end(syscall.SIGINT) }

// Kill is described at Stop.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(how os.Signal) {
	_ = s.cmd.Process.Signal(how)
	_ = s.cmd.Wait()
	_ = os.RemoveAll(s.dir)
}

// serverDir makes a folder for a server, and says as whom it runs.
func serverDir() (dir string, attr *syscall.SysProcAttr, err error) {
	if dir, err = os.MkdirTemp("", "boardwalk-postgres-"); err != nil {
		return "", nil, err
	}
	attr = &syscall.SysProcAttr{}
	return dir, attr, AsPostgres(attr, dir)
}

// program is the path of one of PostgreSQL's programs.
func program(name string) (string, error) {
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		return "", errors.New("it is not installed")
	}
	return filepath.Join(bins[len(bins)-1], name), nil
}

// tool runs one of PostgreSQL's programs to its end.
func tool(dir string, attr *syscall.SysProcAttr, name string, args ...string) error {
	path, err := program(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), path, args...) // a cluster outlives the test that happens to start it
	cmd.SysProcAttr, cmd.Dir = attr, dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// initData makes the folder "data" of dir.
func initData(dir string, attr *syscall.SysProcAttr) error {
	return tool(dir, attr, "initdb", "-D", filepath.Join(dir, "data"), "-U", "postgres", "--auth=trust", "-E", "UTF8",
		"--locale=C.UTF-8", "-N")
}

// startServer starts a server on the folder "data" of dir and waits until it answers.
func startServer(dir string, attr *syscall.SysProcAttr) (*Server, error) {
	path, err := program("postgres")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	ctx := context.Background()
	s.cmd = exec.CommandContext(ctx, path, "-D", filepath.Join(dir, "data"), "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200",
		"-c", "shared_buffers=256MB")
	own := *attr
	s.cmd.SysProcAttr, s.cmd.Dir = &own, dir
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := Start(s.cmd); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		conn, err := pgx.Connect(ctx, s.DSN("postgres"))
		if err == nil {
			_ = conn.Close(ctx)
			cancel()
			return s, nil
		}
		cancel()
	}
	s.Kill()
	return nil, fmt.Errorf("it did not answer within 30 s; its log was in %s", dir)
}

// Start starts a command that is killed when this process ends, however it ends. The kernel ties that to the thread that
// starts it, and Go ends threads as it likes; so one is kept for it.
func Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	dieWithParent(cmd.SysProcAttr)
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			select {} // the thread stays
		}
		runtime.UnlockOSThread()
	}()
	return <-started
}

// AsPostgres has a program run as PostgreSQL's own user, and gives it a folder, when this one runs as root, which PostgreSQL refuses.
func AsPostgres(attr *syscall.SysProcAttr, dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(dir, int(uid), int(gid))
}
