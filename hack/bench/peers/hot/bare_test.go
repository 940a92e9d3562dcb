package hot

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// TestBareHandler writes the headers and the body that it was given.
func TestBareHandler(t *testing.T) {
	t.Parallel()
	sample := &lab.Answer{Header: http.Header{"Content-Type": {"application/json"}, "Date": {"then"}, "Etag": {"x"}}, Body: []byte("{}\n")}
	for name, want := range map[string]string{hotBare: "", hotHeader: "x"} {
		a := bareOf(name, "/api/market/live?per_chain=3", sample)
		h := bareHandler(a)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/market/live?per_chain=3", nil))
		if w.Code != 200 || w.Body.String() != "{}\n" || w.Header().Get("Etag") != want || w.Header().Get("Date") != "" ||
			w.Header().Get("Content-Length") != "3" {
			t.Errorf("%s: %d %v %q", name, w.Code, w.Header(), w.Body)
		}
	}
	if sample.Header.Get("Date") == "" {
		t.Error("the sample was changed")
	}
}
