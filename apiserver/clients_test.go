package apiserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestAnswersToKeysArePrivate asks with a key: X-Api-Key-Status and RateLimit are that client's, so that no shared cache may
// keep the answer for others.
func TestAnswersToKeysArePrivate(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	for _, target := range operationTargets {
		anonymous, _ := c.send(t, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		rest, shared := strings.CutPrefix(anonymous.Header.Get("Cache-Control"), "public")
		if !shared {
			continue // nobody may keep it anyway
		}
		for _, key := range []string{builderKey, "who knows"} {
			for _, match := range []string{"", "*"} {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
				req.Header.Set("X-Api-Key", key)
				if match != "" {
					req.Header.Set("If-None-Match", match)
				}
				res, _ := c.send(t, req)
				if got := res.Header.Get("Cache-Control"); got != "private"+rest {
					t.Errorf("%s with a key: %d, Cache-Control %q, want %q", target, res.StatusCode, got, "private"+rest)
				}
				if res.Header.Get("X-Api-Key-Status") == "" || res.Header.Get("RateLimit") == "" {
					t.Errorf("%s with a key: %v", target, res.Header)
				}
			}
		}
	}
}

// TestALargeNetworkHasALimit asks from many networks of one IPv6 /48: each /64 is a client of its own, and all of them together
// have 16 times the limit of one.
func TestALargeNetworkHasALimit(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	ask := func(from string) (reply, []byte) {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/auth/social/providers", nil)
		req.Header.Set("X-Forwarded-For", from)
		return c.send(t, req)
	}
	const limit, networks = 60, 32
	for n := range 16 * limit {
		if res, body := ask(fmt.Sprintf("2001:db8:7:%x::1", n%networks)); res.StatusCode != http.StatusOK {
			t.Fatalf("request %d of the /48: %d %s", n+1, res.StatusCode, body)
		}
	}
	res, body := ask("2001:db8:7:ffff::1")
	if res.StatusCode != http.StatusTooManyRequests || !bytes.Contains(body, []byte(`"violated-policies":["getSignInProviders-prefix"]`)) ||
		res.Header.Get("Retry-After") == "" {
		t.Errorf("beyond the limit of the /48: %d %s", res.StatusCode, body)
	}
	if res, _ := ask("2001:db8:8::1"); res.StatusCode != http.StatusOK {
		t.Errorf("another /48: %d", res.StatusCode)
	}
}

// TestBehindASharedCache asks a service whose public answers are kept for all clients: RateLimit is off those, and on all others.
func TestBehindASharedCache(t *testing.T) {
	t.Parallel()
	o := options(t, seeded(t, "sqlite"))
	o.BehindCache = true
	c := startWith(t, o)
	for _, target := range append(slices.Clone(operationTargets), "/api/nothing", "/docs/", "/status") {
		for _, key := range []string{"", builderKey} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				for _, match := range []string{"", "*"} {
					req := httptest.NewRequestWithContext(t.Context(), method, target, nil)
					req.Header.Set("X-Api-Key", key)
					req.Header.Set("If-None-Match", match)
					res, _ := c.send(t, req)
					kept := strings.HasPrefix(res.Header.Get("Cache-Control"), "public")
					if (res.Header.Get("RateLimit") == "") != kept || res.Header.Get("RateLimit-Policy") == "" || kept && key != "" {
						t.Errorf("%s %s with the key %q: %d %v", method, target, key, res.StatusCode, res.Header)
					}
				}
			}
		}
	}
}
