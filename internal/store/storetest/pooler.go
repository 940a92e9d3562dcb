package storetest

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// NewPooler is dbserver.NewPooler until the test ends.
func NewPooler(t *testing.T, dsn string, o dbserver.PoolerOptions) *dbserver.Pooler {
	t.Helper()
	p, err := dbserver.NewPooler(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
