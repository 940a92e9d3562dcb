package apiserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// ownDocs are the options of a server that serves its documentation itself, as it does by default.
func ownDocs(t *testing.T) apiserver.Options {
	t.Helper()
	o := options(t, seeded(t, "sqlite"))
	o.DocsURL = "/docs"
	return o
}

// visit asks for a page as a client at an address.
func (c *client) visit(t *testing.T, method, target, from string) (reply, []byte) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	req.Header.Set("X-Forwarded-For", from)
	return c.send(t, req)
}

var linkPattern = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// ownLinks are the addresses on this server that a page leads to or loads, without what is behind a #.
func ownLinks(t *testing.T, page []byte) []string {
	t.Helper()
	var out []string
	for _, m := range linkPattern.FindAllSubmatch(page, -1) {
		u, err := url.Parse(strings.ReplaceAll(string(m[1]), "&amp;", "&"))
		if err != nil {
			t.Errorf("the link %s: %v", m[1], err)
			continue
		}
		if u.Host != "" && u.Host != "api.example" || u.Path == "" {
			continue
		}
		if target := u.RequestURI(); !slices.Contains(out, target) {
			out = append(out, target)
		}
	}
	return out
}

// TestDocsRefuseMethodsAsTheAPIDoes sends methods that nothing here takes: the answer is a problem, as everywhere.
func TestDocsRefuseMethodsAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	c := startWith(t, ownDocs(t))
	for _, target := range []string{"/docs", "/docs/", "/docs/problems/", "/docs/changelog", "/docs/nothing"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, "FETCH"} {
			res, body := c.visit(t, method, target, stranger())
			var p contract.Problem
			if err := json.Unmarshal(body, &p); err != nil || res.StatusCode != http.StatusMethodNotAllowed || p.Status != res.StatusCode ||
				!strings.HasSuffix(p.Type, "/problems/method-not-allowed") || res.Header.Get("Content-Type") != "application/problem+json" ||
				res.Header.Get("Allow") != "GET, HEAD, OPTIONS" || res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v %s", method, target, res.StatusCode, res.Header, body)
			}
		}
	}
}

// TestDocsHaveALimitOfTheirOwn reads the documentation as people do. What a page loads counts, but a client may look at 30 pages
// a minute, and addresses that don't exist use up nothing of it.
func TestDocsHaveALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := startWith(t, ownDocs(t))
	from := stranger()
	page, body := c.visit(t, http.MethodGet, "/docs/", from)
	if name := policyName(page.Header); name == "" || name == "unrouted" {
		t.Errorf("the documentation is counted as %q", name)
	}
	var loaded []string
	for _, link := range ownLinks(t, body) {
		if strings.HasPrefix(link, "/docs/assets/") {
			loaded = append(loaded, link)
		}
	}
	if len(loaded) < 3 {
		t.Fatalf("the reference loads %q alone", loaded)
	}
	for n := 1; n < 30; n++ {
		for _, target := range append([]string{"/docs/"}, loaded...) {
			if res, _ := c.visit(t, http.MethodGet, target, from); res.StatusCode != http.StatusOK {
				t.Fatalf("view %d: %s answers %d", n+1, target, res.StatusCode)
			}
		}
	}
	lost := stranger()
	for {
		res, _ := c.visit(t, http.MethodGet, "/api/nothing", lost)
		if res.StatusCode == http.StatusTooManyRequests {
			break
		}
		if res.StatusCode != http.StatusNotFound {
			t.Fatalf("/api/nothing: %d", res.StatusCode)
		}
	}
	if res, _ := c.visit(t, http.MethodGet, "/docs/", lost); res.StatusCode != http.StatusOK {
		t.Errorf("after too many addresses that don't exist the documentation answers %d", res.StatusCode)
	}
}

// TestProblemTypesAreAbsolute reads the types of problems where the server serves its documentation itself: a client elsewhere
// has no address that a path could be relative to. The types lead to their pages.
func TestProblemTypesAreAbsolute(t *testing.T) {
	t.Parallel()
	o := ownDocs(t)
	c := startWith(t, o)
	problems := map[string]string{}
	for _, target := range []string{"/api/nothing", "/api/chart/" + token + "?limit=0", "/api/token/info/" + native + "?chain=base"} {
		_, body := c.visit(t, http.MethodGet, target, stranger())
		problems[target] = string(body)
	}
	_, problems["a huge header"] = exchange(t, listening(t, o), "GET / HTTP/1.1\r\nHost: x\r\nX-Big: "+strings.Repeat("a", 1<<17)+"\r\n\r\n")
	for what, body := range problems {
		var p contract.Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || !strings.HasPrefix(p.Type, "https://api.example/docs/problems/") {
			t.Errorf("%s: the type is %q, %v", what, p.Type, err)
			continue
		}
		res, page := c.visit(t, http.MethodGet, strings.TrimPrefix(p.Type, "https://api.example"), stranger())
		if res.StatusCode != http.StatusOK || !bytes.Contains(page, []byte(p.Title)) {
			t.Errorf("%s leads to %d", p.Type, res.StatusCode)
		}
	}
}
