package store_test

import (
	"context"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestConnectionsAreBounded opens as many connections as the pools let it.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(context.Context, string) (*store.Store, error){"writer": store.Open, "reader": store.OpenReader} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, "postgres")
			if made, err := store.Open(t.Context(), dsn); err != nil {
				t.Fatal(err)
			} else if err := made.Close(); err != nil {
				t.Fatal(err)
			}
			st, err := open(t.Context(), store.BoundConnections(dsn, "10"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			most := 0
			for _, p := range st.ConnectionPools() {
				most += p.Stats().MaxOpenConnections
			}
			if most < 9 || most > 10 {
				t.Errorf("the pools take %d connections, want at most 10, and nearly all of them", most)
			}
		})
	}
	for most, dsn := range map[string]string{"9": "postgres://u@h/d", "many": "postgres://u@h/d?sslmode=disable", "10001": "postgres://u@h/d"} {
		_, err := store.Open(t.Context(), store.BoundConnections(dsn, most))
		if err == nil || !strings.Contains(err.Error(), "pool_max_conns in the address") || !strings.Contains(err.Error(), "allowed: 10 to 10000") {
			t.Errorf("%s connections: %v", most, err)
		}
	}
	for dsn, want := range map[string]string{
		"sqlite:a.db": "sqlite:a.db", "postgres://u@h/d?pool_max_conns=20": "postgres://u@h/d?pool_max_conns=20", "postgres://u@h/d?a=b": "postgres://u@h/d?a=b&pool_max_conns=12",
	} {
		if got := store.BoundConnections(dsn, "12"); got != want {
			t.Errorf("%s with a bound is %s, want %s", dsn, got, want)
		}
	}
}
