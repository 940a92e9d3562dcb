package storetest

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

// NewProxy is dbserver.NewProxy until the test ends.
func NewProxy(t *testing.T, dsn string, settings ...string) *dbserver.Proxy {
	t.Helper()
	p, err := dbserver.NewProxy(t.Context(), dsn, settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
