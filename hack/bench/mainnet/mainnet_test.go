package mainnet

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// TestUntil has a shell in the place of the indexer, and a table of the test's in that of its own.
func TestUntil(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir, err := os.MkdirTemp("", "boardwalk-bench-") //nolint:usetesting // the server's user must be able to enter its parents
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f := &followed{settings: &settings{}, dir: dir, command: exec.CommandContext(ctx, "sh", "-c", "while [ ! -e '"+filepath.Join(dir, "end")+"' ]; do sleep 0.02; done")}
	if f.postgres, err = lab.StartPostgres(ctx, dir, false); err != nil {
		t.Fatal(err)
	}
	defer f.postgres.Stop()
	dsn, _, err := f.postgres.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if f.conn, err = pgx.Connect(ctx, dsn); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.conn.Close(context.WithoutCancel(ctx)) }()
	asked := 0
	used, err := lab.Meter(f, f.postgres, func() error {
		if err := f.start(); err != nil {
			return err
		}
		return f.until(ctx, time.Millisecond, func(number uint64) bool {
			if asked++; asked == 5 {
				if _, err := f.conn.Exec(ctx, "CREATE TABLE chains AS SELECT 42::bigint AS number"); err != nil {
					t.Error(err)
				}
			}
			return number == 42
		})
	})
	if err != nil || asked < 6 || used.Wall <= 0 {
		t.Errorf("asked %d times, %+v, %v", asked, used, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.until(ctx, time.Millisecond, func(uint64) bool { return false }); err == nil {
		t.Error("the indexer ended, and that is no error")
	}
}
