package apiserver_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/limit"
)

// faultyTargets are answered 400 and 404, one of them on a path that is no operation.
var faultyTargets = []string{"/api/market/live?per_chain=0", "/api/chart/" + native, "/api/nothing", "/t/" + native}

// TestWhoAsksChangesNothing sends what a browser adds to the request of a page: its origin, cookies, where it comes from. The
// answer is that of everybody, so that caches need not tell pages apart, and no page gets what belongs to a user.
func TestWhoAsksChangesNothing(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.DocsURL = "/docs"
	c := startWith(t, o)
	page := http.Header{
		"Origin": {"https://elsewhere.example"}, "Cookie": {"a=b"}, "Referer": {"https://elsewhere.example/"}, "Authorization": {"Bearer x"},
		"Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Site": {"cross-site"},
	}
	targets := append(slices.Concat(operationTargets, faultyTargets), "/docs/", "/docs/nothing")
	for _, target := range targets {
		for _, match := range []string{"", "*"} {
			ask := func(more http.Header) (int, http.Header) {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
				maps.Copy(req.Header, more)
				if match != "" {
					req.Header.Set("If-None-Match", match)
				}
				res, _ := c.send(t, req)
				h := res.Header.Clone()
				h.Del("X-Request-Id")
				if slices.Contains(moving, target) {
					h.Del("ETag")
					h.Del("Content-Length")
				}
				return res.StatusCode, h
			}
			status, plain := ask(nil)
			again, crossed := ask(page)
			if status != again || !maps.EqualFunc(plain, crossed, slices.Equal) {
				t.Errorf("%s: %d %v, to a page of another origin %d %v", target, status, plain, again, crossed)
			}
			if got := crossed["Access-Control-Allow-Origin"]; !slices.Equal(got, []string{"*"}) {
				t.Errorf("%s: %d is for the origins %q", target, status, got)
			}
			for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Credentials"} {
				if got := crossed[http.CanonicalHeaderKey(name)]; got != nil {
					t.Errorf("%s: %d has %s %q", target, status, name, got)
				}
			}
			if got := strings.Join(crossed["Vary"], ","); got != "" && got != "Accept-Encoding" {
				t.Errorf("%s: %d varies by %q", target, status, got)
			}
			if crossed.Get("RateLimit") == "" || crossed.Get("RateLimit-Policy") == "" {
				t.Errorf("%s: %d says nothing of its limit: %v", target, status, crossed)
			}
		}
	}
}

// TestPagesOfTheDocsCount: the documentation has a limit of its own, apart from that of the paths that are nothing.
func TestPagesOfTheDocsCount(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.DocsURL = "/docs"
	c := startWith(t, o)
	from := http.Header{"X-Forwarded-For": {stranger()}}
	for n, target := range []string{"/docs/", "/docs/nothing", "/api/nothing", "/docs"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		req.Header = from.Clone()
		res, _ := c.send(t, req)
		if want := []string{`"pages";r=599;t=60`, `"pages";r=598;t=60`, `"unrouted";r=119;t=60`, `"pages";r=597;t=60`}[n]; res.Header.Get("RateLimit") != want {
			t.Errorf("%s: RateLimit is %s, want %s", target, res.Header.Get("RateLimit"), want)
		}
	}
}

// TestWhatCounts asks one operation, and paths that are none, in every way: each request counts, whatever it is answered, but for
// OPTIONS.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, of := range []struct {
		name    string
		quota   int
		targets []string
	}{
		{"getMarketLive", 60, []string{"/api/market/live", "/api/market/live?per_chain=0", "/api/market/live?per_chain=1"}},
		{"getChart", 120, []string{"/api/chart/" + token, "/api/chart/" + native, "/api/chart/nonsense"}},
		{"unrouted", 120, []string{"/api/nothing", "/nothing/else"}},
	} {
		from, left := stranger(), of.quota
		for _, target := range of.targets {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodGet} {
				req := httptest.NewRequestWithContext(t.Context(), method, target, nil)
				req.Header.Set("X-Forwarded-For", from)
				req.Header.Set("If-None-Match", "*")
				res, _ := c.send(t, req)
				if method == http.MethodOptions {
					continue
				}
				left--
				if want := fmt.Sprintf(`"%s";r=%d;t=60`, of.name, left); res.Header.Get("RateLimit") != want {
					t.Errorf("%s %s: %d, RateLimit is %s, want %s", method, target, res.StatusCode, res.Header.Get("RateLimit"), want)
				}
			}
		}
	}
}

// TestRetryAfterIsLongEnough: times are told in whole seconds, rounded up, so that who waits as long as was said is answered.
func TestRetryAfterIsLongEnough(t *testing.T) {
	t.Parallel()
	now := clock
	o := options(t, seeded(t, "sqlite"))
	o.Limiter = limit.NewMemory(func() time.Time { return now }, 1000)
	c := startWith(t, o)
	from := http.Header{"X-Forwarded-For": {stranger()}}
	ask := func() reply {
		res, _ := c.do(t, http.MethodGet, "/api/v1/mobile/health", from)
		return res
	}
	for range quotas["getMobileHealth"] {
		ask()
	}
	now = now.Add(30*time.Second + time.Millisecond)
	over := ask()
	if over.StatusCode != http.StatusTooManyRequests || over.Header.Get("Retry-After") != "30" || over.Header.Get("RateLimit") != `"getMobileHealth";r=0;t=30` {
		t.Errorf("with 29.999 s to wait: %d %v", over.StatusCode, over.Header)
	}
	now = now.Add(30 * time.Second)
	if res := ask(); res.StatusCode == http.StatusTooManyRequests {
		t.Errorf("after the time that was said: %d %v", res.StatusCode, res.Header)
	}
}

// TestEveryAnswerSaysWhatItMakesOfAKey sends keys with requests of all kinds. A key that isn't known changes the answer in
// nothing but the header that says so.
func TestEveryAnswerSaysWhatItMakesOfAKey(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for key, want := range map[string]string{builderKey: "known", "who knows": "unknown", strings.Repeat("k", 5000): "unknown"} {
		for _, target := range slices.Concat(operationTargets, faultyTargets) {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
				for _, match := range []string{"", "*"} {
					with := httptest.NewRequestWithContext(t.Context(), method, target, nil)
					with.Header.Set("If-None-Match", match)
					without := with.Clone(t.Context())
					with.Header.Set("X-Api-Key", key)
					res, _ := c.send(t, with)
					plain, _ := c.send(t, without)
					if got := res.Header.Values("X-Api-Key-Status"); res.StatusCode != plain.StatusCode || !slices.Equal(got, []string{want}) {
						t.Errorf("%s %s with a key is %d and says %q, without one %d; want %q", method, target, res.StatusCode, got, plain.StatusCode, want)
					}
					if plain.Header.Values("X-Api-Key-Status") != nil {
						t.Errorf("%s %s without a key says something of one", method, target)
					}
				}
			}
		}
	}
	// Beyond the limit as well.
	from := http.Header{"X-Forwarded-For": {stranger()}, "X-Api-Key": {"who knows"}}
	for range quotas["getVersion"] {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/version", nil)
		req.Header = from.Clone()
		c.send(t, req)
	}
	if res, _ := c.do(t, http.MethodGet, "/api/version", from); res.StatusCode != http.StatusTooManyRequests || res.Header.Get("X-Api-Key-Status") != "unknown" {
		t.Errorf("beyond the limit: %d %v", res.StatusCode, res.Header)
	}
}
