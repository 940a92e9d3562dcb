package indexer_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// TestAliveBeneathAMigration has a statement of a migration wait, and moves the clock: for an hour the program is alive, and then it is not. Once
// the statement goes through it is alive again.
func TestAliveBeneathAMigration(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	if err := storetest.OpenAt(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for _, q := range []string{
		"DO $$ DECLARE name text; BEGIN FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version' LOOP " +
			"EXECUTE 'DROP TABLE IF EXISTS ' || quote_ident(name) || ' CASCADE'; END LOOP; END $$", // as if nothing had been migrated yet
		"DELETE FROM goose_db_version WHERE version_id > 0", "BEGIN",
		"LOCK TABLE goose_db_version IN EXCLUSIVE MODE", // who has migrated can't say so
	} {
		if _, err := conn.Exec(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	cfg := &chainconfig.Chain{
		ID: "base", Family: chainconfig.EVM, EVMChainID: 1, BlockTime: chainconfig.Duration(time.Second),
		Native:    chainconfig.Native{Symbol: "ETH", Wrapped: markettest.Address("0x4200000000000000000000000000000000000006")},
		Endpoints: []chainconfig.Endpoint{{URL: "http://127.0.0.1:1", Weight: 1}},
	}
	raw, _, err := cfg.Encode()
	if err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(t.TempDir(), "chain.json")
	if err := os.WriteFile(document, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	address := porttest.Address(t)
	var c clock
	p := &indexer.Program{
		Document: document, Database: dsn, Operations: telemetry.OperationsOptions{Address: address},
		Metrics: telemetry.NewRegistry(), Now: c.now, Log: logger(t),
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	get := func(path string) (status int, text string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = res.Body.Close() }()
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	until := func(what string, reached func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !reached(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never %s", what)
			}
		}
	}
	until("waits the migration for a lock", func() bool {
		var waiting bool
		err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'goose_db_version'::regclass AND NOT granted)").Scan(&waiting)
		return err == nil && waiting
	})
	c.ahead.Add(int64(59 * time.Minute))
	if status, text := get("/livez"); status != http.StatusOK {
		t.Errorf("after 59 minutes of one statement /livez answers %d %q", status, text)
	}
	c.ahead.Add(int64(2 * time.Minute))
	if status, text := get("/livez"); status == http.StatusOK || !strings.Contains(text, "the database is being opened") {
		t.Errorf("after 61 minutes of one statement /livez answers %d %q", status, text)
	}
	if _, err := conn.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	until("is the database open", func() bool { status, _ := get("/readyz"); return status == http.StatusOK })
	if status, text := get("/livez"); status != http.StatusOK {
		t.Errorf("once the database is open /livez answers %d %q", status, text)
	}
	// The program has the declared addresses checked, and says that nobody answers.
	until("says why they aren't", func() bool {
		var s chainconfig.State
		_, text := get(chainconfig.StatePath)
		return json.Unmarshal([]byte(text), &s) == nil && !s.Declaration.Checked && strings.Contains(s.Declaration.Unasked, "no endpoint answers")
	})
}
