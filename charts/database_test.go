package charts_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// patience is how long a database may take to start or end, on a machine that is busy.
const patience = 60 * time.Second

// database runs the evaluation database's script as its pod does.
type database struct {
	dir     string
	address string // at which it listens
	path    string // of programs
	process *syscall.SysProcAttr
	cmd     *exec.Cmd
	ended   chan error
	log     *log
}

// log is what a process writes, which may be read while it does.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	dir, err := os.MkdirTemp("", "boardwalk-chart-") //nolint:usetesting // a test's name may not fit the 107 bytes of a socket's path
	if err != nil {
		t.Fatal(err)
	}
	// No program of PostgreSQL is in this PATH: the script has to find them where Debian has them.
	d := &database{dir: dir, address: porttest.Address(t), path: "/usr/bin:/bin", process: &syscall.SysProcAttr{Setpgid: true}, log: &log{}}
	t.Cleanup(func() {
		if d.cmd != nil {
			d.crash()
			_ = d.wait(t) // it says "killed"
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal("PostgreSQL is not installed: run make setup")
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		d.process.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"database.sh", "pg_hba.conf"} {
		raw, err := os.ReadFile(filepath.Join(chart, "files", "evaluation-db", name))
		if err != nil {
			t.Fatal(err)
		}
		d.write(t, name, string(raw))
	}
	return d
}

func (d *database) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// script is a command of the script, not started.
func (d *database) script(ctx context.Context, command string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", filepath.Join(d.dir, "database.sh"), command)
	cmd.Dir = d.dir
	_, port, _ := strings.Cut(d.address, ":")
	cmd.Env = []string{
		"PATH=" + d.path, "DATA=" + d.dir, "URI_FILE=" + filepath.Join(d.dir, "uri"),
		"HBA_FILE=" + filepath.Join(d.dir, "pg_hba.conf"), "SOCKETS=" + d.dir, "PGPORT=" + port,
	}
	attr := *d.process
	cmd.SysProcAttr = &attr
	return cmd
}

// start runs the database with a password, until it is ready.
func (d *database) start(t *testing.T, password string) {
	t.Helper()
	d.write(t, "uri", "postgresql://boardwalk:"+password+"@boardwalk-evaluation-db.boardwalk.svc:5432/boardwalk?sslmode=disable")
	d.cmd = d.script(context.WithoutCancel(t.Context()), "run") // it outlives this call
	d.cmd.Stdout, d.cmd.Stderr = d.log, d.log
	if err := storetest.Start(d.cmd); err != nil {
		t.Fatal(err)
	}
	cmd, ended := d.cmd, make(chan error, 1)
	d.ended = ended
	go func() { ended <- cmd.Wait(); close(ended) }()
	d.until(t, "is ready", func(ctx context.Context) error { return d.script(ctx, "ready").Run() })
	if err := d.script(t.Context(), "alive").Run(); err != nil {
		t.Errorf("it is ready but not alive: %v", err)
	}
}

func (d *database) until(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case ended := <-d.ended:
			t.Fatalf("it ended before it %s: %v; it says\n%s", what, ended, d.log)
		case <-ctx.Done():
			t.Fatalf("not so within %s: it %s (%v); it says\n%s", patience, what, err, d.log)
		case <-retry.C:
		}
	}
}

// stop ends it as a pod is ended, and waits.
func (d *database) stop(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.wait(t); err != nil {
		t.Errorf("it was told to stop and failed: %v; it says\n%s", err, d.log)
	}
}

func (d *database) wait(t *testing.T) (err error) {
	t.Helper()
	select {
	case err = <-d.ended:
	case <-time.After(patience):
		t.Fatalf("it did not end within %s; it says\n%s", patience, d.log)
	}
	d.cmd = nil
	return err
}

// crash ends the script and the server at once, as a container's processes are. The others end when they notice, and only
// then is the log closed, which wait waits for.
func (d *database) crash() { _ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) } // it may have ended

func (d *database) connect(ctx context.Context, name, password string) (*pgx.Conn, error) {
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(name, password), Host: d.address, Path: "/boardwalk",
		RawQuery: "sslmode=disable",
	}
	return pgx.Connect(ctx, u.String())
}

func TestEvaluationDatabase(t *testing.T) {
	t.Parallel()
	const first, second = "firstPassword0123456", "secondPassword654321"
	d := newDatabase(t)
	ctx := t.Context()
	if err := d.script(ctx, "alive").Run(); err == nil {
		t.Error("it is alive before it runs")
	}
	d.start(t, first)
	c, err := d.connect(ctx, "boardwalk", first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	var superuser bool
	var encoding, lower string
	if err := c.QueryRow(ctx, "SELECT rolsuper, current_setting('server_encoding'), lower('ÄÉ') FROM pg_roles WHERE rolname = current_user").
		Scan(&superuser, &encoding, &lower); err != nil {
		t.Fatal(err)
	}
	if superuser || encoding != "UTF8" || lower != "äé" {
		t.Errorf("superuser %t, encoding %s, lower case of ÄÉ %s; wanted false, UTF8, äé", superuser, encoding, lower)
	}
	for name, wrong := range map[string]string{"boardwalk": second, "postgres": ""} {
		if other, err := d.connect(ctx, name, wrong); err == nil {
			_ = other.Close(ctx)
			t.Errorf("%s is let in with a wrong password", name)
		}
	}

	d.stop(t) // with a client still there
	if err := c.Ping(ctx); err == nil {
		t.Error("a client outlived the server")
	}

	// Another Secret on the old data, as after an uninstall that left the volume; its group may write meanwhile.
	if err := os.Chmod(filepath.Join(d.dir, "pgdata"), 0o770); err != nil {
		t.Fatal(err)
	}
	d.start(t, second)
	if old, err := d.connect(ctx, "boardwalk", first); err == nil {
		_ = old.Close(ctx)
		t.Error("the old password still holds")
	}
	d.kept(t, second)

	d.crash()
	if err := d.wait(t); err == nil {
		t.Error("it ended well when it was killed")
	}
	if err := d.script(ctx, "alive").Run(); err == nil {
		t.Error("it is alive after it was killed")
	}
	d.start(t, second)
	d.kept(t, second)
	d.stop(t)

	if text := d.log.String(); strings.Contains(text, first) || strings.Contains(text, second) || strings.Contains(text, "SCRAM-SHA-256$") {
		t.Errorf("a password is in the log:\n%s", text)
	}
}

// kept says whether the data is still there.
func (d *database) kept(t *testing.T, password string) {
	t.Helper()
	c, err := d.connect(t.Context(), "boardwalk", password)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	var n int
	if err := c.QueryRow(t.Context(), "SELECT n FROM kept").Scan(&n); err != nil || n != 1 {
		t.Errorf("what was written is %d: %v", n, err)
	}
}

// TestEvaluationDatabaseRefuses what it can't work with, and says what to do.
func TestEvaluationDatabaseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		uri  string
		hide bool   // PostgreSQL
		data string // the version that wrote it
		want string
	}{
		"no server": {
			uri: "postgresql://boardwalk:0123456789abcdef@h/boardwalk", hide: true,
			want: "the image has no PostgreSQL server, neither in PATH nor in /usr/lib/postgresql/*/bin: name another in database.evaluation.image",
		},
		"another address": {
			uri:  "postgresql://somebody:hunter2%2F@h/boardwalk",
			want: "the Secret's uri is not postgresql://boardwalk:PASSWORD@… with letters and digits alone",
		},
		"an older version's data": {
			uri: "postgresql://boardwalk:0123456789abcdef@h/boardwalk", data: "9",
			want: "name an image of 9 in database.evaluation.image, or delete the volume claim and let the chains be indexed anew",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			d.write(t, "uri", c.uri)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := d.script(ctx, "run")
			cmd.WaitDelay = time.Second
			if c.hide {
				script, err := os.ReadFile(filepath.Join(d.dir, "database.sh"))
				if err != nil {
					t.Fatal(err)
				}
				d.write(t, "database.sh", strings.ReplaceAll(string(script), "/usr/lib/postgresql/", d.dir+"/none/"))
			}
			if c.data != "" {
				if err := os.Mkdir(filepath.Join(d.dir, "pgdata"), 0o777); err != nil {
					t.Fatal(err)
				}
				d.write(t, "pgdata/PG_VERSION", c.data+"\n")
				if err := chownAll(d); err != nil {
					t.Fatal(err)
				}
			}
			out, err := cmd.CombinedOutput()
			if got := strings.ReplaceAll(string(out), d.dir+"/none/", "/usr/lib/postgresql/"); err == nil || !strings.Contains(got, c.want) ||
				strings.Contains(got, "hunter2") {
				t.Errorf("it says %q (%v), wanted %q", got, err, c.want)
			}
		})
	}
}

func chownAll(d *database) error {
	c := d.process.Credential
	if c == nil {
		return nil
	}
	return filepath.WalkDir(filepath.Join(d.dir, "pgdata"), func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk: %w", err)
		}
		return os.Chown(path, int(c.Uid), int(c.Gid))
	})
}
