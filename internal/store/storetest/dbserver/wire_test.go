package dbserver_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// TestTheWireTellsWhatStatementsDid runs statements in each way that a client may send them.
func TestTheWireTellsWhatStatementsDid(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server, err := dbserver.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	dsn, err := server.Create(ctx, "wire")
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := dbserver.NewProxy(ctx, dsn, "application_name", "indexer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	var mu sync.Mutex
	var got []string
	proxy.OnDone(func(d dbserver.Done) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprintf("%s|%s|%s|%d", d.Program, d.Text, d.Verb, d.Rows))
	})
	conn, err := pgx.Connect(ctx, proxy.DSN)
	if err != nil {
		t.Fatal(err)
	}
	do := func(text string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, text, args...); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE TABLE t (n int PRIMARY KEY)")
	rows := make([][]any, 70_000)
	for i := range rows {
		rows[i] = []any{i}
	}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"n"}, pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "INSERT INTO t VALUES ($1)", 1); err == nil {
		t.Fatal("a second row has the key of a first one")
	}
	do("DELETE FROM t WHERE n >= $1", 60_000)
	do("UPDATE t SET n = -n WHERE n > 0 AND n < 6; SELECT n FROM t WHERE n < 3", pgx.QueryExecModeSimpleProtocol)
	var batch pgx.Batch
	batch.Queue("SELECT n FROM t WHERE n BETWEEN $1 AND $2", 10, 19)
	batch.Queue("DELETE FROM t")
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	got = slices.DeleteFunc(got, func(line string) bool { return !strings.Contains(line, " t") && !strings.Contains(line, `"t"`) })
	const both = "UPDATE t SET n = -n WHERE n > 0 AND n < 6; SELECT n FROM t WHERE n < 3"
	want := []string{
		"indexer|CREATE TABLE t (n int PRIMARY KEY)|CREATE|0",
		`indexer|copy "t" ( "n" ) from stdin binary;|COPY|70000`,
		"indexer|DELETE FROM t WHERE n >= $1|DELETE|10000",
		"indexer|" + both + "|UPDATE|5",
		"indexer|" + both + "|SELECT|6",
		"indexer|SELECT n FROM t WHERE n BETWEEN $1 AND $2|SELECT|10",
		"indexer|DELETE FROM t|DELETE|60000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the wire told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
