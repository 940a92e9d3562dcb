package contracttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// pathTrick is a request target that looks like a path of the document to some readers and is none. It must be
// answered 404 route-not-found, or 400 as a bad parameter or a malformed request: never by a redirect, since a client
// that follows it has asked for something else, and never with the answer of another path.
type pathTrick struct {
	Target string // as it stands in the request line
	// Malformed says that it is no target at all. net/http refuses it before any handler is asked; the answer must be
	// a problem all the same.
	Malformed bool
}

// pathTricks lists the path tricks.
func pathTricks() []pathTrick {
	var all []pathTrick
	for _, target := range []string{
		// Empty segments and slashes at the end.
		"/api//version", "//api/version", "/api/version/", "/api/version//", "/api/market/live/", "/api/market//live", "/openapi.json/", "/api", "/api/",
		"/api/chart", "/api/chart/", "/api/token//candles", "/api/token/info/", "///evil.example", "//evil.example/", "//evil.example/..", "//evil.example/%2e%2e",
		// Dot segments.
		"/api/./version", "/api/../openapi.json", "/api/market/../version", "/api/version/.", "/api/version/..", "/../openapi.json", "/./openapi.json",
		"/api/%2e%2e/openapi.json", "/api/%2E/version", "/api/.%2e/openapi.json", "/api/%252e%252e/openapi.json", "/api/..%2fopenapi.json",
		"/api/token/info/..", "/api/token/info/../../version", "/api/token/info/..%2f..%2fversion", "/api/token/info/%2e%2e/%2e%2e/version",
		"/api/chart/..%2fversion", "/api/token/..%2finfo/candles",
		// Slashes and other separators that are written otherwise.
		"/api%2fversion", "/%2fapi/version", "/%2F%2Fevil.example", "/api/version%2f", "/api\\version", "/api%5cversion", "/\\evil.example", "/api/version%ef%bc%8f",
		// Tails and other spellings.
		"/api/version%20", "/%20/api/version", "/api/version%09", "/api/version%00", "/%00", "/api/version%0a", "/api/version%0d%0aLocation:%20//evil.example",
		"/api/version;x=1", "/api;x=1/version", "/api/version%3fx=1", "/api/version%23", "/api/version.json", "/api/version~", "/api/version%ff", "/api/versio%CC%81n",
		"/API/version", "/api/Version", "/OPENAPI.JSON", "/openapi.yaml", "/openapi", "/api/v1/mobile/Health", "/api/v2/mobile/health",
		// Bytes that are no text.
		"/%ff", "/%c0%ae%c0%ae/openapi.json", "/api/%e2%80%ae", "/%E0%80%AFapi",
		// What other listeners or other servers have.
		"/metrics", "/livez", "/readyz", "/debug/pprof/", "/debug/vars", "/.git/config", "/.env", "/api/chart/candles/x", "/" + strings.Repeat("a/", 500),
		"*",
	} {
		all = append(all, pathTrick{Target: target})
	}
	for _, target := range []string{"/%", "/%zz", "/api/%u002e/version", "/api/version%", "api/version", "/api/\x01version", "/api/version\x7f"} {
		all = append(all, pathTrick{Target: target, Malformed: true})
	}
	return all
}

// Send asks for a target as it stands, and returns the response with its whole body.
type Send func(target string) (*http.Response, []byte)

// Walk sends every path trick and fails for each that is answered otherwise than it must be.
func (k *Kit) Walk(tb testing.TB, send Send) {
	tb.Helper()
	for _, trick := range pathTricks() {
		res, body := send(trick.Target) //nolint:bodyclose // send has read it
		k.requireTricked(tb, trick, res, body)
	}
}

// requireTricked fails unless the answer to a GET of a path trick is as it must be.
func (k *Kit) requireTricked(tb testing.TB, trick pathTrick, res *http.Response, body []byte) {
	tb.Helper()
	if err := k.verifyTrick(trick, res, body); err != nil {
		tb.Errorf("GET %q answered %d %v\n%v\nbody: %s", trick.Target, res.StatusCode, res.Header, err, clip(body))
	}
}

func (k *Kit) verifyTrick(trick pathTrick, res *http.Response, body []byte) error {
	if location := res.Header.Values("Location"); location != nil {
		return rule("redirect", fmt.Errorf("to %q", location))
	}
	u, err := url.ParseRequestURI(trick.Target)
	if trick.Malformed {
		return k.verifyMalformed(res, body)
	}
	if err != nil {
		return rule("route", fmt.Errorf("the trick is malformed: %w", err))
	}
	req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
	if _, err := k.kin.route(req); err != nil {
		return k.verifyUnrouted(req, res, body)
	}
	// The document has a template that fits, with a parameter that is none.
	if !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound}, res.StatusCode) {
		return rule("status", fmt.Errorf("%d, want 400 or 404", res.StatusCode))
	}
	r := newReply(req, res, body)
	if res.StatusCode == http.StatusNotFound {
		err = rule("problem", requireSlug(r, routeNotFound))
	}
	return errors.Join(err, k.Verify(req, res, body))
}

// verifyMalformed holds the answer to what is no request. No operation counts it, so it has no limit.
func (k *Kit) verifyMalformed(res *http.Response, body []byte) error {
	r := newReply(&http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}}, res, body)
	var contentType error
	if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
		contentType = fmt.Errorf("it is %q", got)
	}
	if res.StatusCode != http.StatusBadRequest {
		return rule("status", fmt.Errorf("%d, want 400", res.StatusCode))
	}
	return errors.Join(
		rule("origin", checkOrigin(res.Header)),
		rule("Cache-Control", once(res.Header, "Cache-Control", "no-store")),
		rule("Content-Type", contentType),
		rule("problem", k.checkProblem(r, nil)),
		rule("problem", requireSlug(r, "malformed-request")),
	)
}

// Raw returns a sender for Walk that writes a request line of its own to the server at a TCP address, which no client
// of net/http would do for every target.
func Raw(tb testing.TB, address string) Send {
	tb.Helper()
	return func(target string) (*http.Response, []byte) {
		tb.Helper()
		res, body, err := rawGet(tb, address, target)
		if err != nil {
			tb.Fatalf("GET %q: %v", target, err)
		}
		return res, body
	}
}

func rawGet(tb testing.TB, address, target string) (*http.Response, []byte, error) {
	tb.Helper()
	conn, err := (&net.Dialer{}).DialContext(tb.Context(), "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return nil, nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, address); err != nil {
		return nil, nil, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodGet})
	if err != nil {
		return nil, nil, err
	}
	var body bytes.Buffer
	_, err = io.Copy(&body, res.Body)
	return res, body.Bytes(), errors.Join(err, res.Body.Close())
}
