package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// TestLiveness asks a program that is to be started anew, and one that isn't ready and yet alive.
func TestLiveness(t *testing.T) {
	t.Parallel()
	stuck := errors.New("the loop has made no turn")
	ready := func(context.Context) error { return errors.New("not yet") }
	for name, c := range map[string]struct {
		alive func() error
		code  int
		body  string
	}{
		"alive": {telemetry.Always, http.StatusOK, "ok"},
		"stuck": {func() error { return stuck }, http.StatusServiceUnavailable, stuck.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			m := telemetry.Operations(telemetry.NewRegistry(), c.alive, ready, false)
			m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/livez", nil))
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.body) {
				t.Errorf("/livez answers %d %q; want %d and %q", w.Code, w.Body, c.code, c.body)
			}
		})
	}
}
