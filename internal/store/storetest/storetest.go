// Package storetest gives tests real databases: a PostgreSQL cluster of their own, started once per test process, and
// SQLite files. Nothing of it is linked into the program.
package storetest

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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Both are the databases that everything runs on.
var Both = []string{"sqlite", "postgres"}

// Open gives an empty database of a kind; it is closed with the test.
func Open(t *testing.T, kind string) *store.Store {
	t.Helper()
	return OpenAt(t, DSN(t, kind))
}

// OpenAt opens the database at an address; it is closed with the test.
func OpenAt(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var databases atomic.Int64

// DSN is the address of an empty database of a kind.
func DSN(t *testing.T, kind string) string {
	t.Helper()
	if kind == "sqlite" {
		return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	}
	c, err := cluster()
	if err != nil {
		t.Fatalf("no PostgreSQL for the tests: %v\nrun hack/setup.sh, which installs it", err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.dsn("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return c.dsn(name)
}

// postgres is a running cluster.
type postgres struct {
	dir string
	cmd *exec.Cmd
}

// dsn goes by the cluster's socket: no port that another package's tests could have taken.
func (p *postgres) dsn(database string) string {
	q := url.Values{"host": {p.dir}, "user": {"postgres"}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", Path: "/" + database, RawQuery: q.Encode()}).String()
}

var cluster = sync.OnceValues(startCluster)

// Main runs a package's tests and ends the cluster that they may have started. The package's TestMain returns after it.
func Main(m *testing.M) {
	m.Run()
	Stop()
}

var running *postgres

// Stop ends the cluster that the tests may have started.
func Stop() {
	if running != nil {
		running.stop(syscall.SIGINT) // fast shutdown
	}
}

func startCluster() (*postgres, error) {
	dir, attr, err := serverDir()
	if err != nil {
		return nil, err
	}
	if err := initData(dir, attr); err != nil {
		return nil, err
	}
	running, err = startServer(dir, attr)
	return running, err
}

// serverDir makes a folder for a server, and says as whom it runs.
func serverDir() (dir string, attr *syscall.SysProcAttr, err error) {
	if dir, err = os.MkdirTemp("", "boardwalk-postgres-"); err != nil {
		return "", nil, err
	}
	attr, err = credential(dir)
	return dir, attr, err
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
func startServer(dir string, attr *syscall.SysProcAttr) (*postgres, error) {
	path, err := program("postgres")
	if err != nil {
		return nil, err
	}
	p := &postgres{dir: dir}
	ctx := context.Background()
	p.cmd = exec.CommandContext(ctx, path, "-D", filepath.Join(dir, "data"), "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200",
		"-c", "shared_buffers=256MB")
	own := *attr
	p.cmd.SysProcAttr, p.cmd.Dir = &own, dir
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := Start(p.cmd); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		conn, err := pgx.Connect(ctx, p.dsn("postgres"))
		if err == nil {
			_ = conn.Close(ctx)
			cancel()
			return p, nil
		}
		cancel()
	}
	p.stop(syscall.SIGKILL)
	return nil, fmt.Errorf("it did not answer within 30 s; its log was in %s", dir)
}

func (p *postgres) stop(how os.Signal) {
	_ = p.cmd.Process.Signal(how)
	_ = p.cmd.Wait()
	_ = os.RemoveAll(p.dir)
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

// credential runs PostgreSQL as its own user when the tests run as root, which it refuses.
func credential(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, int(uid), int(gid))
}
