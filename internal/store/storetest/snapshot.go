package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// Snapshot keeps the rows that a database has now until the test ends. restore puts them back beneath whoever has the database open.
func Snapshot(t *testing.T, dsn string) (restore func()) {
	t.Helper()
	s, err := dbserver.Take(t.Context(), dsn, filepath.Join(t.TempDir(), "kept.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return func() {
		t.Helper()
		if err := s.Restore(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
}
