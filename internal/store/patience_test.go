package store_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// lines hands each line of a log on.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default: // nobody reads any more
	}
	return len(b), nil
}

// TestTheWaitForADatabaseIsLogged: where packets are dropped nobody refuses a connection, and whoever reads the log must learn all the same
// what the program waits for.
func TestTheWaitForADatabaseIsLogged(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // it takes connections and never answers
	log := make(lines, 1)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := store.OpenPatiently(ctx, "postgres://u:hunter2@"+l.Addr().String()+"/d?sslmode=disable", time.Now, func(error) {}, slog.New(slog.NewTextHandler(log, nil)))
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err == nil {
			t.Error("it has a database that nobody answers for")
		}
	})
	select {
	case line := <-log:
		if !strings.Contains(line, "waiting for the database") || strings.Contains(line, "hunter2") {
			t.Errorf("it logs %q; want what it waits for, without the password", line)
		}
	case <-time.After(time.Minute):
		t.Fatal("it never says what it waits for")
	}
}

// TestEachStatementOfAMigrationBeats makes the schema of a new database.
func TestEachStatementOfAMigrationBeats(t *testing.T) {
	t.Parallel()
	const statements = 70 // of all migrations
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			beats := 0
			st, err := store.OpenPatiently(t.Context(), storetest.DSN(t, kind), time.Now, func(error) { beats++ }, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Close(); err != nil {
				t.Error(err)
			}
			if beats < statements {
				t.Errorf("%d beats, want one for each of more than %d statements", beats, statements)
			}
		})
	}
}
