package store_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestCredentialsChangeWhileAProgramRuns: user and password of new connections are those that the file has now, in all pools and in the connection
// that waits for hints, for who writes and for who reads. Another database's address changes nothing.
func TestCredentialsChangeWhileAProgramRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.migrate(s.owner, ""); err != nil {
		t.Fatal(err)
	}
	next := s.owner + "_next"
	s.run(s.admin, "CREATE ROLE "+next+" LOGIN; GRANT "+s.owner+" TO "+next)
	file := filepath.Join(t.TempDir(), "uri")
	say := func(address string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(address), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere, err := url.Parse(s.as("nobody"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.Path = "/elsewhere"
	for name, open := range map[string]func(dsn string) (*store.Store, error){
		"writer": func(dsn string) (*store.Store, error) { return store.Open(t.Context(), dsn) },
		"reader": func(dsn string) (*store.Store, error) { return store.OpenReader(t.Context(), dsn) },
	} {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		st, err := open(store.RefreshCredentials(s.as(s.owner), file))
		if err != nil {
			t.Fatalf("%s, without the file: %v", name, err)
		}
		defer func() { _ = st.Close() }()
		wants := func(when, role string) {
			t.Helper()
			// Every connection ends, so that new ones are made.
			s.run(s.admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			for pool, db := range st.Inspect.Database().Pools() {
				var got string
				for try := 0; ; try++ {
					err := db.QueryRowContext(t.Context(), "SELECT session_user").Scan(&got)
					if err == nil {
						break
					} else if try > 20 {
						t.Fatalf("%s, %s, pool %s: %v", name, when, pool, err)
					}
				}
				if got != role {
					t.Errorf("%s, %s: a new connection of the pool %s is %s's; want %s's", name, when, pool, got, role)
				}
			}
			alone, err := st.Inspect.Database().ConnectAlone(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got string
			if err := alone.QueryRow(t.Context(), "SELECT session_user").Scan(&got); err != nil || got != role {
				t.Errorf("%s, %s: a connection alone is %s's, %v; want %s's", name, when, got, err, role)
			}
			_ = alone.Close(t.Context())
		}
		wants("without the file", s.owner)
		say(s.as(next) + "\n")
		wants("with another role", next)
		say(elsewhere.String())
		wants("with another database", s.owner)
		say("postgres://[")
		wants("with no address", s.owner)
	}
}

func TestCredentialsOfAnSQLiteFile(t *testing.T) {
	t.Parallel()
	if dsn := storetest.DSN(t, "sqlite"); store.RefreshCredentials(dsn, "/f") != dsn {
		t.Error("an SQLite file gets credentials")
	}
}
