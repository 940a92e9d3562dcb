package contracttest

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// sendBad sends all bad requests to a fake.
func sendBad(tb testing.TB, kit *Kit, s *fake) {
	tb.Helper()
	for _, bad := range kit.BadRequests() {
		req := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, bad.Target, nil)
		a := s.respond(req)
		kit.RequireBadRequest(tb, bad, a.code, a.body)
		if err := a.verify(kit, req); err != nil {
			tb.Errorf("GET %s: %v", bad.Target, err)
		}
	}
}

func TestBadRequestsPass(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	sendBad(t, kit, newFake(t, kit, fault{}))
}

// Each fake here takes one kind of bad value, or says something else of it than it must.
func TestBadRequestsFindPlantedFaults(t *testing.T) {
	t.Parallel()
	text := func(raw []string) string { return strings.Join(raw, "&") }
	for name, test := range map[string]struct {
		fault fault
		want  string // the bad request that finds it
	}{
		"over the maximum":  {taking("limit", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "1001" }), "limit=1001 answered 200"},
		"under the minimum": {taking("per_chain", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "0" }), "per_chain=0 answered 200"},
		"outside the enum":  {taking("format", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "no-such-value" }), "format=no-such-value answered 200"},
		"no boolean":        {taking("fill", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "maybe" }), "fill=maybe answered 200"},
		"no integer":        {taking("from", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "1.5" }), "from=1.5 answered 200"},
		"beyond 64 bits":    {taking("to", func(_ *openapi3.Parameter, raw []string) bool { return len(text(raw)) == 20 }), "answered 200"},
		"only a head of the pattern": {taking("mint_address", func(_ *openapi3.Parameter, raw []string) bool {
			return strings.HasSuffix(text(raw), "112%21")
		}), "with a tail against its pattern"},
		"missing": {fault{accept: func(p *openapi3.Parameter, raw []string) *bool {
			if p.Name == "q" && len(raw) == 0 {
				return new(true)
			}
			return nil
		}}, "/api/dexscreener/search answered 200"},
		"only spaces":            {taking("q", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "%20%20" }), "q only spaces"},
		"UTF-16 counted":         {taking("q", func(_ *openapi3.Parameter, raw []string) bool { return strings.HasPrefix(text(raw), "aaa") }), "q over its length"},
		"text cut off":           {taking("q", func(_ *openapi3.Parameter, raw []string) bool { return strings.HasPrefix(text(raw), "%D0%B6") }), "q over its length in characters"},
		"invalid UTF-8":          {taking("", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "%ff" }), "invalid UTF-8"},
		"NUL":                    {taking("tf", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "%00" }), "tf NUL"},
		"broken escape":          {taking("q", func(_ *openapi3.Parameter, raw []string) bool { return text(raw) == "%zz" }), "q broken escape"},
		"the first of two":       {taking("chain", func(_ *openapi3.Parameter, raw []string) bool { return len(raw) == 2 }), "chain given twice"},
		"dropped at a semicolon": {taking("range", func(_ *openapi3.Parameter, raw []string) bool { return strings.Contains(text(raw), ";") }), "range with a semicolon"},
		"items skipped": {taking("mints", func(_ *openapi3.Parameter, raw []string) bool {
			return strings.Contains(text(raw), ",%21,")
		}), "mints an item against its pattern"},
		"items cut off": {taking("mints", func(_ *openapi3.Parameter, raw []string) bool {
			return strings.Count(text(raw), ",") == 100
		}), "mints too many items"},
		"nothing named":   {fault{problem: func(_ []map[string]any, body map[string]any) { delete(body, "errors") }}, "errors don't name"},
		"another named":   {fault{problem: func(errs []map[string]any, _ map[string]any) { errs[0]["name"] = "x" }}, "errors don't name"},
		"another place":   {fault{problem: func(errs []map[string]any, _ map[string]any) { errs[0]["in"] = "path" }}, "errors don't name"},
		"another problem": {only("searchPairs", 400, func(a *answer) { a.body = replaced(a.body, missingParameter, invalidParameter) }), `the problem is "invalid-parameter"`},
		"not how many":    {fault{problem: func(_ []map[string]any, body map[string]any) { delete(body, "max") }}, "want max 100 and got 101"},
		"miscounted": {fault{problem: func(_ []map[string]any, body map[string]any) {
			if body["got"] != nil {
				body["got"] = 102
			}
		}}, "want max 100 and got 101"},
		"404 instead": {only("getChart", 400, func(a *answer) { a.code = http.StatusNotFound }), "answered 404, want 400"},
		"500 instead": {only("getMajors", 400, func(a *answer) { a.code = http.StatusInternalServerError }), "answered 500, want 400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := fresh(t)
			s := newFake(t, kit, test.fault)
			r := record(t, func(tb testing.TB) {
				tb.Helper()
				sendBad(tb, kit, s)
			})
			if !r.mentions(test.want) {
				t.Errorf("want %q, got\n%s", test.want, strings.Join(r.errors, "\n"))
			}
		})
	}
}

// sender gives raw targets to a fake as a server of net/http would, and refuses what that would refuse as the contract
// wants it to be.
func sender(t *testing.T, s *fake) Send {
	t.Helper()
	return func(target string) (*http.Response, []byte) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + target + " HTTP/1.1\r\nHost: example.com\r\n\r\n")))
		if err != nil {
			a := s.refuse("", "malformed-request", nil)
			return &http.Response{StatusCode: a.code, Header: a.header}, a.body
		}
		return s.do(r)
	}
}

func TestWalkPasses(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	kit.Walk(t, sender(t, newFake(t, kit, fault{})))
}

// elsewhere answers some requests as if they had another path.
func elsewhere(find func(r *http.Request) string) func(s *fake) fault {
	return func(s *fake) fault {
		return fault{before: func(r *http.Request) *answer {
			found := find(r)
			if found == "" || found == r.URL.Path && r.URL.RawPath == "" {
				return nil
			}
			other := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: found}, Header: r.Header}
			if _, err := s.kit.kin.route(other); err != nil {
				return nil
			}
			a := newFake(s.t, s.kit, fault{}).respond(other)
			return &a
		}}
	}
}

// Each fake here reads some paths in a way of its own.
func TestWalkFindsPlantedFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plant func(s *fake) fault
		want  string // the target that finds it
	}{
		"paths cleaned":        {elsewhere(func(r *http.Request) string { return path.Clean(r.URL.Path) }), `"/api/%2e%2e/openapi.json"`},
		"slash at the end":     {elsewhere(func(r *http.Request) string { return strings.TrimSuffix(r.URL.Path, "/") }), `"/api/version/"`},
		"double slashes":       {elsewhere(func(r *http.Request) string { return strings.ReplaceAll(r.URL.Path, "//", "/") }), `"/api//version"`},
		"any case":             {elsewhere(func(r *http.Request) string { return strings.ToLower(r.URL.Path) }), `"/API/version"`},
		"matrix parameters":    {elsewhere(func(r *http.Request) string { p, _, _ := strings.Cut(r.URL.Path, ";"); return p }), `"/api/version;x=1"`},
		"spaces cut off":       {elsewhere(func(r *http.Request) string { return strings.TrimSpace(strings.Trim(r.URL.Path, " ")) }), `"/api/version%20"`},
		"NUL as the end":       {elsewhere(func(r *http.Request) string { p, _, _ := strings.Cut(r.URL.Path, "\x00"); return p }), `"/api/version%00"`},
		"backslashes":          {elsewhere(func(r *http.Request) string { return strings.ReplaceAll(r.URL.Path, `\`, "/") }), `"/api\\version"`},
		"encoded slashes":      {elsewhere(func(r *http.Request) string { return r.URL.Path }), `"/api%2fversion"`},
		"extensions":           {elsewhere(func(r *http.Request) string { return strings.TrimSuffix(r.URL.Path, ".json") }), `"/api/version.json"`},
		"redirect to the path": {redirecting("/api/version"), "redirect"},
		"redirect elsewhere":   {redirecting("//evil.example/"), "redirect"},
		"metrics are public": {func(s *fake) fault {
			return fault{before: func(r *http.Request) *answer {
				if r.URL.Path == "/metrics" {
					return &answer{code: http.StatusOK, header: http.Header{}, body: []byte("x 1")}
				}
				return nil
			}}
		}, `"/metrics"`},
		"plain 404": {func(*fake) fault {
			return only("", 404, func(a *answer) { a.header.Set("Content-Type", "text/plain"); a.body = []byte("404 page not found") })
		}, "problem"},
		"404 that any page may not read": {func(*fake) fault {
			return only("", 404, func(a *answer) { a.header.Del("Access-Control-Allow-Origin") })
		}, "origin"},
		"404 of a token": {func(s *fake) fault {
			return fault{sent: func(r *http.Request, a *answer) {
				if strings.HasPrefix(r.URL.EscapedPath(), "/api/chart/..") {
					*a = s.refuse("getChart", "token-not-found", nil)
				}
			}}
		}, `the problem is "token-not-found", want "route-not-found"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit := fresh(t)
			s := newFake(t, kit, fault{})
			s.fault = test.plant(s)
			r := record(t, func(tb testing.TB) {
				tb.Helper()
				kit.Walk(tb, sender(t, s))
			})
			if !r.mentions(test.want) {
				t.Errorf("want %s, got\n%s", test.want, strings.Join(r.errors, "\n"))
			}
		})
	}
}

func redirecting(to string) func(s *fake) fault {
	return func(*fake) fault {
		return fault{before: func(r *http.Request) *answer {
			if r.URL.Path == "//evil.example/" {
				return &answer{code: http.StatusMovedPermanently, header: http.Header{"Location": {to}}}
			}
			return nil
		}}
	}
}

// A server that leaves what is no request to net/http answers it with bare text.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	server := httptest.NewServer(newFake(t, kit, fault{}))
	defer server.Close()
	send := Raw(t, strings.TrimPrefix(server.URL, "http://"))
	malformed := 0
	for _, trick := range pathTricks() {
		res, body := send(trick.Target) //nolint:bodyclose // it was read
		r := &recorder{TB: t}
		kit.requireTricked(r, trick, res, body)
		if trick.Malformed {
			malformed++
		}
		if trick.Malformed != r.Failed() {
			t.Errorf("%q: %v", trick.Target, r.errors)
		}
	}
	if malformed == 0 {
		t.Error("no trick is malformed")
	}

	good := newFake(t, kit, fault{}).refuse("", "malformed-request", nil)
	for name, a := range map[string]answer{
		"no problem":      good.withHeader("Content-Type", "text/plain"),
		"another problem": good.with(t, "/problems/invalid-parameter", "type").with(t, "Invalid parameter", "title"),
		"cached":          good.withHeader("Cache-Control", "public"),
		"of no origin":    good.withHeader("Access-Control-Allow-Origin", ""),
		"another status":  {code: 431, header: good.header, body: good.body},
		"served":          {code: 200, header: good.header, body: good.body},
	} {
		r := &recorder{TB: t}
		kit.requireTricked(r, pathTrick{Target: "/%zz", Malformed: true}, &http.Response{StatusCode: a.code, Header: a.header}, a.body)
		if !r.Failed() {
			t.Errorf("%s passed", name)
		}
	}
}

func TestPathTricksAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, trick := range pathTricks() {
		if seen[trick.Target] {
			t.Errorf("%q stands there twice", trick.Target)
		}
		seen[trick.Target] = true
	}
	if len(seen) > 100 {
		// One client may not ask more often than this for paths that are no operation, and shouldn't have to wait.
		t.Errorf("%d tricks", len(seen))
	}
}
