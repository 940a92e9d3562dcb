package store_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/porttest"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// raw opens a database without the store.
func raw(t *testing.T, kind, dsn string) *sql.DB {
	t.Helper()
	driver := "pgx"
	if kind == "sqlite" {
		driver, dsn = kind, strings.TrimPrefix(dsn, "sqlite:")
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestOpenRefusesWhatItMustNotTouch(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s, err := store.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			db := raw(t, kind, dsn)
			if _, err := db.ExecContext(t.Context(), "UPDATE schema_reader SET oldest = 1000"); err != nil {
				t.Fatal(err)
			}
			_ = db.Close()
			if _, err := store.Open(t.Context(), dsn); !errors.Is(err, schema.ErrNewerSchema) || !strings.Contains(err.Error(), "upgrade") {
				t.Errorf("a newer schema: %v", err)
			}
		})
	}
	t.Run("locked file", func(t *testing.T) {
		t.Parallel()
		dsn := storetest.DSN(t, "sqlite")
		s, err := store.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if _, err := store.Open(t.Context(), dsn); !errors.Is(err, database.ErrFileLocked) {
			t.Errorf("the file was opened twice: %v", err)
		}
	})
	for dsn, want := range map[string]string{
		"mysql://x": "postgres:// or sqlite:",
		"sqlite:":   "needs a file",
		"sqlite:" + filepath.Join("/proc", "nowhere", "x.db"): "folder",
		"postgres://u:secret@127.0.0.1:1/x?connect_timeout=1": "check that it runs",
		"postgres://u:secret@127.0.0.1:notaport/x":            "its form is",
	} {
		_, err := store.Open(t.Context(), dsn)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("opening %q: %v; want it to say %q and no password", dsn, err, want)
		}
	}
}

// TestHintsReachOtherProcesses commits through one store and listens through another of the same database.
func TestHintsReachOtherProcesses(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	var stores []*store.Store
	for range 2 {
		s, err := store.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		stores = append(stores, s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	here, there := stores[0].Hints(ctx), stores[1].Hints(ctx)
	l := lease(t, stores[0])
	heardHere, heardThere := false, false
	for n := 1; n < 200 && (!heardHere || !heardThere); n++ { // the listener may not be connected at first
		c := commitOf(n, 1, map[string]*market.Changes{})
		c.Changes = market.Changes{}
		if err := stores[0].Commit(t.Context(), l, c); err != nil {
			t.Fatal(err)
		}
		select {
		case <-here:
			heardHere = true
		case <-there:
			heardThere = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	if !heardHere || !heardThere {
		t.Errorf("heard in the same process: %v, in another: %v", heardHere, heardThere)
	}
}

// TestOpenTellsAbsenceFromRefusal matters to whoever starts together with the database: it may wait for the first, not for the
// second.
func TestOpenTellsAbsenceFromRefusal(t *testing.T) {
	t.Parallel()
	nobody := porttest.Address(t)
	for dsn, absent := range map[string]bool{
		"postgres://u:hunter2@" + nobody + "/d":                              true,
		"postgres://u:hunter2@name.invalid/d":                                true,
		strings.Replace(storetest.DSN(t, "postgres"), "/test_", "/gone_", 1): false,
	} {
		_, err := store.Open(t.Context(), dsn)
		if err == nil || errors.Is(err, database.ErrUnreachable) != absent || strings.Contains(err.Error(), "u:hunter2") {
			t.Errorf("absent %v: %v", absent, err)
		}
	}
}

// silent is an address that takes connections and never says anything, as one behind a firewall or a Service without pods.
func silent(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// TestOpenGivesUpOnSilence: a database of which nothing is heard isn't there yet, like one that refuses connections.
func TestOpenGivesUpOnSilence(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{"nothing said of the time": "", "a time of its own": "&connect_timeout=1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
			defer cancel()
			_, err := store.Open(ctx, "postgres://u:hunter2@"+silent(t)+"/d?sslmode=disable"+query)
			if ctx.Err() != nil {
				t.Fatalf("it didn't end by itself: %v", err)
			}
			if !errors.Is(err, database.ErrUnreachable) || strings.Contains(err.Error(), "u:hunter2") {
				t.Errorf("%v; want it to be %v", err, database.ErrUnreachable)
			}
		})
	}
}
