// Package storetest gives tests real databases: a PostgreSQL cluster of their own, started once per test process, and
// SQLite files. Nothing of it is linked into the program.
package storetest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// Both are the databases that everything runs on.
var Both = []string{"sqlite", "postgres"}

// Open gives an empty database of a kind; it is closed with the test.
func Open(t *testing.T, kind string) *store.Store {
	t.Helper()
	return OpenAt(t, DSN(t, kind))
}

// OpenAt opens the database at an address; it is closed with the test.
func OpenAt(t *testing.T, dsn string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var databases atomic.Int64

// DSN is the address of an empty database of a kind.
func DSN(tb testing.TB, kind string) string {
	tb.Helper()
	if kind == "sqlite" {
		return "sqlite:" + filepath.Join(tb.TempDir(), "test.db")
	}
	if !ends {
		tb.Fatal("nothing would end the PostgreSQL of these tests: the package's TestMain has to call storetest.Main")
	}
	c, err := cluster()
	if err != nil {
		tb.Fatalf("no PostgreSQL for the tests: %v\nrun hack/setup.sh, which installs it", err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	dsn, err := c.Create(ctx, name)
	if err != nil {
		tb.Fatal(err)
	}
	return dsn
}

var cluster = sync.OnceValues(func() (server *dbserver.Server, err error) {
	running, err = dbserver.New()
	return running, err
})

// Main runs a package's tests, ends the cluster that they may have started, and gives their exit code. A TestMain that
// returns after it exits with that code.
func Main(m *testing.M) (code int) {
	ends = true
	code = m.Run()
	if running != nil {
		running.Stop()
	}
	return code
}

var (
	ends    bool // Main runs the tests
	running *dbserver.Server
)

// Start is dbserver.Start.
func Start(cmd *exec.Cmd) error { return dbserver.Start(cmd) }
