package renderer

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/tracetest"
)

// TestACardIsASpan of the trace of who asks for it.
func TestACardIsASpan(t *testing.T) {
	spans, end := tracetest.Trace(t, telemetry.TracesOptions{Service: "boardwalk-renderer"})
	r, err := New(Options{Socket: filepath.Join(t.TempDir(), "renderer.sock"), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, sharecard.CardsPath+"token", strings.NewReader(`{"no": "card"}`))
	req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	r.Handler().ServeHTTP(w, req)
	end()
	all := spans.Spans()
	if len(all) != 1 || all[0].Name != "POST /v1/cards/{kind}" || all[0].Parent != "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7" {
		t.Fatalf("the collector has %+v, want one span within the caller's", all)
	}
	if got := all[0].Attributes["http.response.status_code"]; w.Code < 400 || got != strconv.Itoa(w.Code) {
		t.Errorf("the span has the status %s, the answer %d", got, w.Code)
	}
}
