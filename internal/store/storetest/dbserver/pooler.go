package dbserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pooler is a running PgBouncer before one database. It takes connections by a socket in a folder of its own, which goes with it.
type Pooler struct {
	// DSN is the database's address by way of the pooler.
	DSN string

	dir string
	cmd *exec.Cmd
	// written is how often the file of passwords was written.
	written int
}

// PoolerOptions are how a pooler works.
type PoolerOptions struct {
	// Mode is PgBouncer's pool_mode: session, transaction or statement.
	Mode string
	// Passwords are those of the roles that may connect; without any, everyone connects as the role of the address.
	Passwords map[string]string
	// Settings are further lines of PgBouncer's section, as in "default_pool_size = 5". A later one goes before an earlier one.
	Settings []string
}

// poolerPort names the socket as a Server's is named, so that a Proxy finds it.
const poolerPort = "5432"

// NewPooler starts a PgBouncer before a database, whose address is that of a Server or of a Proxy.
func NewPooler(ctx context.Context, dsn string, o PoolerOptions) (*Pooler, error) {
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		path = "/usr/sbin/pgbouncer" // users who aren't root don't have that folder in their path
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("PgBouncer is not installed; run hack/setup.sh, which installs it: %w", err)
		}
	}
	to, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "boardwalk-pooler-")
	if err != nil {
		return nil, err
	}
	p := &Pooler{dir: dir}
	attr := &syscall.SysProcAttr{}
	if err := errors.Join(p.configure(to, o), AsPostgres(attr, dir)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if p.DSN, err = p.address(dsn); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), path, filepath.Join(dir, "ini")) // Close ends it
	p.cmd.SysProcAttr, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = attr, dir, log, log
	if err := Start(p.cmd); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	var failed error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, failed = p.Pools(ctx); failed == nil {
			return p, nil
		}
	}
	said, err := os.ReadFile(filepath.Join(dir, "log"))
	p.Close()
	return nil, errors.Join(fmt.Errorf("PgBouncer did not answer within 30 s: %w: %s", failed, said), err)
}

// configure writes PgBouncer's files. Of several lines with one name the last one counts.
func (p *Pooler) configure(to *pgx.ConnConfig, o PoolerOptions) error {
	auth := "auth_type = any"
	user := " user=" + to.User
	if o.Passwords != nil {
		auth, user = "auth_type = scram-sha-256\nauth_file = "+filepath.Join(p.dir, "users"), ""
	}
	lines := append([]string{
		"[databases]", fmt.Sprintf("* = host=%s port=%d%s", to.Host, to.Port, user),
		"[pgbouncer]", "listen_addr =", "listen_port = " + poolerPort, "unix_socket_dir = " + p.dir,
		auth, "admin_users = " + administrator, "pool_mode = " + o.Mode,
		"max_client_conn = 300", "default_pool_size = 100", "server_login_retry = 1",
	}, o.Settings...)
	return errors.Join(p.Passwords(o.Passwords),
		os.WriteFile(filepath.Join(p.dir, "ini"), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
}

// administrator is the user of PgBouncer's console.
const administrator = "console"

// Passwords sets the passwords that roles connect with from the next Reload on.
func (p *Pooler) Passwords(of map[string]string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%q %q\n", administrator, "console")
	for role, password := range of {
		fmt.Fprintf(&text, "%q %q\n", role, password)
	}
	path := filepath.Join(p.dir, "users")
	// PgBouncer reads the file again if its time is another one, in seconds.
	p.written++
	at := time.Now().Add(time.Duration(p.written) * time.Minute)
	return errors.Join(os.WriteFile(path, []byte(text.String()), 0o644), os.Chtimes(path, at, at))
}

// address gives the address of a database by way of the pooler.
func (p *Pooler) address(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("host", p.dir)
	q.Set("port", poolerPort)
	u.Host, u.RawQuery = "", q.Encode()
	return u.String(), nil
}

// Close ends the pooler and its connections. The folder goes.
func (p *Pooler) Close() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = os.RemoveAll(p.dir)
}

// console runs a command of PgBouncer's console.
func (p *Pooler) console(ctx context.Context, command string) ([]map[string]any, error) {
	cfg, err := pgx.ParseConfig("postgres:///pgbouncer?sslmode=disable&default_query_exec_mode=simple_protocol&user=" + administrator +
		"&password=console&port=" + poolerPort + "&host=" + url.QueryEscape(p.dir))
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, command)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToMap)
}

// Reload has the pooler read its files again.
func (p *Pooler) Reload(ctx context.Context) error {
	_, err := p.console(ctx, "RELOAD")
	return err
}

// Pools are the rows of SHOW POOLS.
func (p *Pooler) Pools(ctx context.Context) ([]map[string]any, error) {
	return p.console(ctx, "SHOW POOLS")
}
