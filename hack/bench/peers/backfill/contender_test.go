package backfill

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// TestMeasure has shells in the place of indexers.
func TestMeasure(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "boardwalk-bench-") //nolint:usetesting // the server's user must be able to enter its parents
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	l := &course{dir: dir, chain: &theChain{}}
	if l.postgres, err = lab.StartPostgres(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
	defer l.postgres.Stop()
	dsn, _, err := l.postgres.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	const busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
	after := func(d time.Duration) func(context.Context, *pgx.Conn) (bool, error) {
		var done time.Time
		return func(context.Context, *pgx.Conn) (bool, error) {
			if done.IsZero() { // the first look
				done = time.Now().Add(d)
			}
			return time.Now().After(done), nil
		}
	}
	for _, c := range []struct {
		what, script string
		finished     func(context.Context, *pgx.Conn) (bool, error)
		wrong        string
	}{
		{"one that ends by itself", busy, nil, ""},
		{"one that goes on", busy + "exec sleep 60", after(5 * time.Second), ""},
		{"one that ends too early", "echo it broke; exit 3", after(time.Minute), "it broke"},
		{"one that fails", "echo it broke; exit 3", nil, "exit status 3"},
	} {
		u, err := l.measure(t.Context(), &contender{finished: c.finished}, exec.CommandContext(t.Context(), "sh", "-c", c.script), conn, t.TempDir())
		if c.wrong == "" && (err != nil || u.cpu < 10*time.Millisecond || u.wall < u.cpu/4 || u.peak < 100_000) {
			t.Errorf("%s: %+v, %v", c.what, u, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, %q is expected", c.what, err, c.wrong)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	list := []*contender{{name: "Boardwalk"}, {name: "floor"}}
	runs := map[string][]usageOf{
		"Boardwalk": {{cpu: 3 * time.Second, wall: 4 * time.Second, peak: 80e6, database: time.Second}, {cpu: time.Second, peak: 90e6}},
		"floor":     {{cpu: time.Second}, {cpu: 500 * time.Millisecond}},
	}
	times, bounds := report(list, runs)
	var b strings.Builder
	if err := lab.WriteTables(&b, times, bounds); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| Boardwalk | 2.00 | 2.0 | 85 | 0.50 | 3.00, 1.00 |", "| Boardwalk / floor | at most 2 | 2.5 | 3, 2 | **missed** |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q isn't in\n%s", want, b.String())
		}
	}
	if len(bounds.Rows) != 1 {
		t.Errorf("%d ratios of those that weren't measured", len(bounds.Rows)-1)
	}
}
