package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir, err := os.MkdirTemp("", "boardwalk-bench-") //nolint:usetesting // the server's user must be able to enter its parents
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := StartPostgres(ctx, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	dsn, drop, err := p.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if number, err := Indexed(ctx, conn); number != 0 || err != nil {
		t.Errorf("before there are tables %d is indexed, %v", number, err)
	}
	for _, statement := range []string{
		"CREATE TABLE chains (number BIGINT)", "INSERT INTO chains VALUES (7)",
		"SELECT count(*) FROM generate_series(1, 300000) AS n WHERE n % 3 = 0",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if number, err := Indexed(ctx, conn); number != 7 || err != nil {
		t.Errorf("%d is indexed, %v", number, err)
	}
	if cpu, err := p.CPU(); cpu <= 0 || err != nil {
		t.Errorf("it used %s, %v", cpu, err)
	}
	path := filepath.Join(dir, "statements")
	if err := p.Slowest(ctx, conn, path); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), "generate_series") {
		t.Errorf("the statements are %q, %v", raw, err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := drop(ctx); err != nil {
		t.Error(err)
	}
}
