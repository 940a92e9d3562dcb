package apiserver_test

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestResourcesLeadToPages follows the help menu of a deployment that has no site file: it has every kind that the service
// document lists, and each entry leads to a page that this server answers.
func TestResourcesLeadToPages(t *testing.T) {
	t.Parallel()
	c := startWith(t, ownDocs(t))
	kinds := map[contract.ResourceKind]bool{}
	for _, r := range get[contract.MobileHealth](t, c, "/api/v1/mobile/health").Resources {
		kinds[r.Kind] = true
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme != "https" || u.Host != "api.example" {
			t.Errorf("%s leads to %s, which is not on this server", r.ID, r.URL)
			continue
		}
		res, body := c.visit(t, http.MethodGet, u.RequestURI(), stranger())
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s (%s): %s answers %d %s", r.ID, r.Kind, r.URL, res.StatusCode, res.Header.Get("Content-Type"))
			continue
		}
		if u.Fragment != "" && !bytes.Contains(body, []byte(`id="`+u.Fragment+`"`)) {
			t.Errorf("%s: the page has nothing called %s", r.URL, u.Fragment)
		}
		requirePage(t, c, u.RequestURI())
	}
	for _, kind := range []contract.ResourceKind{"docs", "developers", "blog", "status", "support", "changelog"} {
		if !kinds[kind] {
			t.Errorf("the help menu has no %s", kind)
		}
	}
}

// requirePage fails the test unless an address is answered with a page that runs and loads nothing of others, and whose links
// on this server are answered.
func requirePage(t *testing.T, c *client, target string) {
	t.Helper()
	res, body := c.visit(t, http.MethodGet, target, stranger())
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
		res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") == "" {
		t.Errorf("%s: %d %v", target, res.StatusCode, res.Header)
		return
	}
	policy := res.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s: the policy %q lacks %s", target, policy, want)
		}
	}
	for directive := range strings.SplitSeq(policy, ";") {
		if d := strings.TrimSpace(directive); strings.HasPrefix(d, "script-src") && (strings.Contains(d, "unsafe") || strings.Contains(d, ":")) {
			t.Errorf("%s: the policy lets strangers' scripts run: %s", target, d)
		}
	}
	if head, none := c.visit(t, http.MethodHead, target, stranger()); head.StatusCode != http.StatusOK || len(none) != 0 {
		t.Errorf("HEAD %s: %d with %d bytes", target, head.StatusCode, len(none))
	}
	for _, link := range ownLinks(t, body) {
		if led, _ := c.visit(t, http.MethodGet, link, stranger()); led.StatusCode != http.StatusOK {
			t.Errorf("%s leads to %s, which answers %d", target, link, led.StatusCode)
		}
	}
}

// TestFrontPage asks for the address that people type: a page says what runs here, and leads to the documentation and to answers
// of this very deployment.
func TestFrontPage(t *testing.T) {
	t.Parallel()
	c := startWith(t, ownDocs(t))
	requirePage(t, c, "/")
	res, body := c.visit(t, http.MethodGet, "/", stranger())
	links := ownLinks(t, body)
	for _, want := range []string{"/docs/", "/openapi.json", "/api/market/live", "/api/launch/launches", "/api/status/heartbeat"} {
		if !slices.ContainsFunc(links, func(link string) bool { return link == want || strings.HasPrefix(link, want+"?") }) {
			t.Errorf("the front page has no link to %s; it has %q", want, links)
		}
	}
	for _, want := range []string{"BASE", "BSC", "ababababab"} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("the front page doesn't name %s, which is served or runs", want)
		}
	}
	if bytes.Contains(body, []byte("<script>")) || bytes.Contains(body, []byte("\u202e")) {
		t.Error("a stranger's name is more than text on the front page")
	}
	if res.Header.Get("Access-Control-Allow-Origin") != "*" || res.Header.Get("X-Request-Id") == "" {
		t.Errorf("the front page lacks what every answer has: %v", res.Header)
	}
	if post, problem := c.visit(t, http.MethodPost, "/", stranger()); post.StatusCode != http.StatusMethodNotAllowed ||
		post.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("POST /: %d %s", post.StatusCode, problem)
	}
}
