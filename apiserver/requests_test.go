package apiserver_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestSignsAreNoDigits writes whole numbers with a plus sign, which the document's integers don't have.
func TestSignsAreNoDigits(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for target, want := range map[string]int{
		"/api/market/live?per_chain=%2B5": 400, "/api/market/live?per_chain=5": 200, "/api/market/live?per_chain=-5": 400,
		"/api/chart/" + token + "?limit=%2B10": 400, "/api/chart/" + token + "?to=%2B1000000": 400, "/api/chart/" + token + "?to=1000000": 200,
	} {
		if res, body := c.do(t, http.MethodGet, target, nil); res.StatusCode != want {
			t.Errorf("%s: %d %s, want %d", target, res.StatusCode, body, want)
		}
	}
}

// TestIdentityHasAWeightToo asks for compressed answers and weighs that none is compressed.
func TestIdentityHasAWeightToo(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for accept, want := range map[string]string{
		"identity;q=1, gzip;q=0.5": "", "identity, gzip;q=0.5": "", "gzip;q=0.5, identity": "", "*;q=0.5, identity;q=1": "", "zstd;q=0.2, gzip;q=0.1, identity;q=0.3": "",
		"identity;q=0.3, gzip;q=0.5": "gzip", "identity;q=0, gzip;q=0.1": "gzip", "identity;q=0.5, zstd": "zstd",
		"identity;q=0.5, zstd;q=0.2, gzip;q=0.6": "gzip",
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/openapi.json", nil)
		req.Header.Set("Accept-Encoding", accept)
		if res, _ := c.send(t, req); res.Header.Get("Content-Encoding") != want {
			t.Errorf("accepting %q it is in %q, want %q", accept, res.Header.Get("Content-Encoding"), want)
		}
	}
}

// TestEscapedLettersAreLetters writes paths with letters and digits that needn't be escaped: they are the same paths (RFC 3986, section
// 6.2.2.2). An escaped slash is no slash.
func TestEscapedLettersAreLetters(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	ask := func(target string) (int, []byte) {
		res, body := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		return res.StatusCode, body
	}
	for target, plain := range map[string]string{
		"/api/%76ersion": "/api/version", "/%61pi/%76%65rsion": "/api/version", "/api/market%2Fliv%65": "", "/openapi%2Ejson": "/openapi.json",
		"/api/chart/0%78" + token[2:]: "/api/chart/" + token, "/api%2fversion": "", "/%61pi/%2e%2e/openapi.json": "",
	} {
		status, body := ask(target)
		if plain == "" {
			if status != http.StatusNotFound {
				t.Errorf("%s: %d, want 404", target, status)
			}
			continue
		}
		if want, same := ask(plain); status != want || !bytes.Equal(body, same) {
			t.Errorf("%s: %d %.100s, want what %s answers", target, status, body, plain)
		}
	}
}

// TestWeeksBeginOnMonday asks for weeks from the beginning of Unix time, which was a Thursday: the window that the answer names
// is of whole buckets.
func TestWeeksBeginOnMonday(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, query := range []string{"from=0", "from=0&limit=1000", "from=1&limit=3", "to=1000000&limit=1000", "from=0&to=1000000"} {
		s := get[contract.CandleSeries](t, c, "/api/chart/"+token+"?chain=base&tf=1w&"+query)
		for what, at := range map[string]int64{"from": s.From, "to": s.To} {
			if day := time.Unix(at, 0).UTC(); day.Weekday() != time.Monday || at%86_400 != 0 {
				t.Errorf("%s: %s is %d, a %s", query, what, at, day.Format("Monday 15:04:05"))
			}
		}
	}
}
