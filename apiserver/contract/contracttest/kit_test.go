package contracttest

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// TestMain has the fuzzer find each planted fault in each run: with more draws than it takes, and always the same. It
// keeps rapid from leaving files behind, and from looking for the smallest request for long. Flags that are given win.
func TestMain(m *testing.M) {
	flag.Parse()
	values := map[string]string{"rapid.seed": "1", "rapid.checks": "300", "rapid.nofailfile": "true", "rapid.shrinktime": "20ms"}
	flag.Visit(func(f *flag.Flag) { delete(values, f.Name) })
	for name, value := range values {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// recorder takes the place of a test that is meant to fail.
type recorder struct {
	testing.TB

	errors []string
	logs   []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Log(args ...any)   { r.logs = append(r.logs, fmt.Sprint(args...)) }
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Failed() bool      { return len(r.errors) > 0 }
func (r *recorder) FailNow()          { runtime.Goexit() }

func (r *recorder) Logf(f string, args ...any) { r.Log(fmt.Sprintf(f, args...)) }

func (r *recorder) Errorf(f string, args ...any) { r.Error(fmt.Sprintf(f, args...)) }

func (r *recorder) Fatalf(f string, args ...any) {
	r.Error(fmt.Sprintf(f, args...))
	r.FailNow()
}

// record runs a test that is meant to fail to its end.
func record(t *testing.T, test func(tb testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // FailNow ends the goroutine
		defer close(done)
		test(r)
	}()
	<-done
	return r
}

func (r *recorder) mentions(parts ...string) bool {
	all := strings.Join(r.errors, "\n")
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(all, part) })
}

var loaded = sync.OnceValues(Load)

// fresh is a kit of the document that has seen nothing. Reading the document is what takes long, so that is done once.
func fresh(t *testing.T) *Kit {
	t.Helper()
	kit, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return &Kit{
		doc: kit.doc, operations: kit.operations, problems: kit.problems, unrouted: kit.unrouted, kin: kit.kin, pb33f: kit.pb33f,
		answered: newMemory(), seen: map[Status]bool{},
	}
}

// answer is what the local handler sends; the kit's own tests bend one.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// documentedAnswer is the example of the document, with the headers that it asks for.
func documentedAnswer(t *testing.T, kit *Kit, path string, code int) answer {
	t.Helper()
	op := kit.doc.Paths.Value(path).Get
	response := op.Responses.Status(code).Value
	a := answer{code: code, header: commonHeaders(kit.operations[op.OperationID].Limit)}
	for name, header := range response.Headers {
		if a.header.Get(name) == "" && name != "X-Api-Key-Status" {
			a.header.Set(name, fmt.Sprint(header.Value.Example))
		}
	}
	if code < 400 {
		a.header.Set("Cache-Control", kit.operations[op.OperationID].Cache.Header())
		a.header.Set("Vary", "Accept-Encoding")
	}
	for contentType, media := range response.Content {
		a.header.Set("Content-Type", contentType)
		example := media.Example
		switch {
		case contentType == "image/png":
			a.body = []byte("\x89PNG")
			continue
		case contentType == eventStream:
			text, err := json.Marshal(kit.doc.Paths.Value(eventsAs).Get.Responses.Status(code).Value.Content.Get("application/json").Example)
			if err != nil {
				t.Fatal(err)
			}
			a.body = append(append([]byte("retry: 2000\n\n:\n\nid: 1-1-1\ndata: "), text...), "\n\n"...)
			a.header.Del("Vary")
			continue
		case contentType == htmlType && code < 400:
			a.body = []byte("<!doctype html><title>A page</title>")
			continue
		case contentType == htmlType: // the problem is that of all other operations
			example = kit.doc.Paths.Value("/api/chart/{mint}").Get.Responses.Status(code).Value.Content.Get("application/problem+json").Example
		}
		if path == "/openapi.json" && code == http.StatusOK {
			text, err := contract.JSON("0123abc")
			if err != nil {
				t.Fatal(err)
			}
			example = json.RawMessage(text)
		}
		body, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		a.body = body
	}
	if code == http.StatusOK && a.header.Get("Content-Type") != eventStream {
		a.header.Set("ETag", tagOf(a.body))
	}
	// One example stands for all operations.
	if code == http.StatusBadRequest {
		p := op.Parameters[0].Value
		a = a.with(t, []any{map[string]any{"name": p.Name, "in": p.In, "reason": "is wrong"}}, "errors")
	}
	if code == http.StatusTooManyRequests {
		a = a.with(t, []string{op.OperationID}, "violated-policies").with(t, 12, "retry_after_s").withHeader("Retry-After", "12")
		a.header.Set("RateLimit", strings.Replace(a.header.Get("RateLimit"), "r=17", "r=0", 1))
	}
	if code >= 400 && a.header.Get("Content-Type") == htmlType {
		a.body = onPage(a.body)
	}
	return a
}

const htmlType = "text/html"

// onPage is a page with a problem on it.
func onPage(problem []byte) []byte {
	return []byte(`<!doctype html><title>No</title><body data-problem="` + html.EscapeString(string(problem)) + `"><p>No.</p>`)
}

// commonHeaders are those that every answer has.
func commonHeaders(limit contract.Limit) http.Header {
	return http.Header{
		"Access-Control-Allow-Origin":   {"*"},
		"Access-Control-Expose-Headers": {exposed},
		"Ratelimit":                     {fmt.Sprintf("%q;r=17;t=12", limit.Name)},
		"Ratelimit-Policy":              {fmt.Sprintf("%q;q=%d;w=%d", limit.Name, limit.Requests, limit.WindowS)},
	}
}

// tagOf is the ETag of a body.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return fmt.Sprintf(`W/"%x"`, sum[:16])
}

// with returns a with one member of the body replaced, and the ETag of that; a nil value removes it. Steps go into
// objects by name, into lists by number.
func (a answer) with(t *testing.T, value any, steps ...string) answer {
	t.Helper()
	var root any
	if err := json.Unmarshal(a.body, &root); err != nil {
		t.Fatal(err)
	}
	node := root
	for _, step := range steps[:len(steps)-1] {
		if list, ok := node.([]any); ok {
			i, err := strconv.Atoi(step)
			if err != nil {
				t.Fatal(err)
			}
			node = list[i]
			continue
		}
		node = object(t, node)[step]
	}
	last, members := steps[len(steps)-1], object(t, node)
	if value == nil {
		delete(members, last)
	} else {
		members[last] = value
	}
	var err error
	if a.body, err = json.Marshal(root); err != nil {
		t.Fatal(err)
	}
	if a.code == http.StatusOK {
		a = a.withHeader("ETag", tagOf(a.body))
	}
	return a
}

// verify holds an answer to the kit, without a server in between.
func (a answer) verify(kit *Kit, req *http.Request) error {
	body := a.body
	if req.Method == http.MethodHead || a.code == http.StatusNotModified {
		body = nil
	}
	return kit.Verify(req, &http.Response{StatusCode: a.code, Header: a.header}, body)
}

func object(t *testing.T, node any) map[string]any {
	t.Helper()
	members, ok := node.(map[string]any)
	if !ok {
		t.Fatalf("%v is no object", node)
	}
	return members
}

func (a answer) withHeader(name, value string) answer {
	a.header = a.header.Clone()
	a.header.Del(name)
	if value != "" {
		a.header.Set(name, value)
	}
	return a
}

// exchanged is a request and its response, the body of which was read.
type exchanged struct {
	req  *http.Request
	res  *http.Response
	body []byte
}

// exchange sends one request through a real server that gives the answer.
func exchange(t *testing.T, method, target string, a answer) exchanged {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), a.header)
		w.WriteHeader(a.code)
		if r.Method != http.MethodHead && a.code != http.StatusNotModified {
			_, _ = w.Write(a.body)
		}
	}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return exchanged{req, res, body}
}

const (
	liveTarget     = "/api/market/live"
	chartTarget    = "/api/chart/So11111111111111111111111111111111111111112?tf=1h&unknown=x"
	infoTarget     = "/api/token/info/So11111111111111111111111111111111111111112"
	boardTarget    = "/api/launch/launches"
	launchedTarget = "/api/launch/token/0x8f3a5c1e07b94d26a1c0e5f7d8b293641a0c7d55"
)

func operations(t *testing.T) []contract.Operation {
	t.Helper()
	all, err := contract.Operations()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every example of the document, with its headers, satisfies both validators, and together they are all statuses.
func TestExamplesPass(t *testing.T) {
	t.Parallel()
	kit := New(t)
	mint := strings.NewReplacer("{mint}", "So11111111111111111111111111111111111111112",
		"{mint_address}", "So11111111111111111111111111111111111111112")
	for _, status := range kit.documented() {
		path := kit.operations[status.Operation].Path
		a := documentedAnswer(t, kit, path, status.Code)
		method := http.MethodGet
		if status.Code == http.StatusMethodNotAllowed {
			method = http.MethodPost
		}
		e := exchange(t, method, mint.Replace(path), a)
		kit.Check(t, e.req, e.res, e.body)
		if method == http.MethodGet {
			e = exchange(t, http.MethodHead, mint.Replace(path), a)
			kit.Check(t, e.req, e.res, e.body)
		}
	}
	kit.requireAllStatuses(t)
	kit.RouteParity(t, operations(t))
}

func TestPlantedFaultsFail(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	live := documentedAnswer(t, kit, "/api/market/live", 200)
	chart := documentedAnswer(t, kit, "/api/chart/{mint}", 200)
	info := documentedAnswer(t, kit, "/api/token/info/{mint_address}", 200)
	board := documentedAnswer(t, kit, "/api/launch/launches", 200)
	launched := documentedAnswer(t, kit, "/api/launch/token/{mint}", 200)
	notFound := documentedAnswer(t, kit, "/api/token/info/{mint_address}", 404)
	unavailable := documentedAnswer(t, kit, "/api/chart/{mint}", 503)
	const kin, pb33f = "kin-openapi", "libopenapi-validator"
	null := json.RawMessage("null")
	teapot := live
	teapot.code = http.StatusTeapot

	for _, test := range []struct {
		name   string
		method string
		target string
		answer answer
		want   []string
	}{
		{"required member missing", "GET", liveTarget, live.with(t, nil, "as_of"), []string{kin, pb33f, "as_of"}},
		{"required member of an item missing", "GET", liveTarget, live.with(t, nil, "tokens", "0", "price"), []string{kin, pb33f, "price"}},
		{"required member of the extension missing", "GET", liveTarget, live.with(t, nil, "tokens", "0", "chain_rank"), []string{kin, pb33f, "chain_rank"}},
		{"null where there is none", "GET", chartTarget, chart.with(t, null, "candles", "0", "c"), []string{kin, pb33f}},
		{"null list", "GET", liveTarget, live.with(t, null, "empty_chains"), []string{kin, pb33f}},
		{"null map", "GET", liveTarget, live.with(t, null, "tokens", "0", "unknown_reasons"), []string{kin, pb33f}},
		{"number as text", "GET", infoTarget, info.with(t, "142.3", "price"), []string{kin, pb33f}},
		{"negative price", "GET", infoTarget, info.with(t, -1, "price"), []string{kin, pb33f}},
		{"value outside an enum", "GET", chartTarget, chart.with(t, "2m", "tf"), []string{kin, pb33f}},
		{"value outside a nullable enum", "GET", infoTarget, info.with(t, "diluted", "supply_basis"), []string{kin, pb33f}},
		{"unknown reason of unknown", "GET", infoTarget, info.with(t, "because", "unknown_reasons", "price"), []string{kin, pb33f}},
		{"fractions of a second", "GET", infoTarget, info.with(t, "2026-03-02T12:00:05.5Z", "as_of"), []string{kin, pb33f}},
		{"no calendar date", "GET", infoTarget, info.with(t, "2026-13-02T12:00:05Z", "as_of"), []string{pb33f}},
		{"wrong null branch", "GET", infoTarget, info.with(t, map[string]any{"launchpad": "x"}, "launch"), []string{kin, pb33f}},
		// What follows from another member only the second validator knows.
		{"holders null without a source", "GET", boardTarget, board.with(t, null, "launches", "0", "holders"), []string{pb33f, "holders"}},
		{"a source beside holders", "GET", boardTarget, board.with(t, "stale", "launches", "0", "holders_source"), []string{pb33f}},
		{"the same of one token", "GET", launchedTarget, launched.with(t, "stale", "holders_source"), []string{pb33f}},
		{"clones on another sort", "GET", boardTarget, board.with(t, 1, "launches", "0", "clones"), []string{pb33f}},
		{"no clones on new", "GET", boardTarget, board.with(t, "new", "sort"), []string{pb33f, "clones"}},
		{"external without a link", "GET", boardTarget, board.with(t, "external", "launches", "0", "buy", "mode"), []string{pb33f, "url"}},
		{"a link of the app", "GET", boardTarget, board.with(t, "https://a.example", "launches", "0", "buy", "url"), []string{pb33f}},
		{"no gate", "GET", boardTarget, board.with(t, nil, "gate"), []string{kin, pb33f, "gate"}},
		{"undocumented member", "GET", liveTarget, live.with(t, 1, "extra"), []string{"undocumented member $.extra"}},
		{"undocumented member of an item", "GET", liveTarget, live.with(t, 1, "tokens", "0", "extra"), []string{"undocumented member $.tokens[0].extra"}},
		{"undocumented member of a nested object", "GET", liveTarget, live.with(t, 1, "tokens", "0", "traction", "parts", "extra"), []string{"undocumented member $.tokens[0].traction.parts.extra"}},
		{"undocumented status", "GET", liveTarget, teapot, []string{"undocumented status", "418"}},
		{"undocumented route", "GET", "/api/nothing", live, []string{"no such path"}},
		{"undocumented header", "GET", liveTarget, live.withHeader("X-Secret", "1"), []string{"undocumented header X-Secret"}},
		{"undocumented cookie", "GET", liveTarget, live.withHeader("Set-Cookie", "a=b"), []string{"undocumented header Set-Cookie"}},
		{"required header missing", "GET", liveTarget, live.withHeader("ETag", ""), []string{kin, pb33f, "ETag"}},
		{"header missing from 304", "GET", liveTarget, documentedAnswer(t, kit, "/api/market/live", 304).withHeader("ETag", ""), []string{pb33f, "ETag"}},
		{"header missing from HEAD", "HEAD", liveTarget, live.withHeader("ETag", ""), []string{kin, pb33f, "ETag"}},
		{"header of another type", "GET", chartTarget, unavailable.withHeader("Retry-After", "soon"), []string{kin, pb33f}},
		{"strong ETag", "GET", liveTarget, live.withHeader("ETag", `"9f86d081884c7d659a2feaa0c55ad015"`), []string{kin, pb33f}},
		{"another origin", "GET", liveTarget, live.withHeader("Access-Control-Allow-Origin", "https://a.example"), []string{kin, pb33f}},
		{"cached error", "GET", infoTarget, notFound.withHeader("Cache-Control", "public, max-age=5"), []string{kin, pb33f}},
		{"another cache policy", "GET", liveTarget, live.withHeader("Cache-Control", "public, max-age=6, stale-while-revalidate=30"), []string{"Cache-Control"}},
		{"another content type", "GET", infoTarget, notFound.withHeader("Content-Type", "application/json"), []string{kin, pb33f}},
		{"problem of no known shape", "GET", infoTarget, notFound.with(t, "about:blank", "type"), []string{kin, pb33f}},
		{"POST served", "POST", liveTarget, live, []string{"must be answered 405"}},
		{"OPTIONS", "OPTIONS", liveTarget, live, []string{"OPTIONS"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := exchange(t, test.method, test.target, test.answer)
			r := &recorder{TB: t}
			kit.Check(r, e.req, e.res, e.body)
			if len(r.errors) == 0 {
				t.Fatal("passed")
			}
			if !r.mentions(test.want...) {
				t.Errorf("want findings that mention %q, got\n%s", test.want, strings.Join(r.errors, "\n"))
			}
		})
	}
}

func TestBodyOfHEADFails(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	live := documentedAnswer(t, kit, "/api/market/live", 200)
	e := exchange(t, http.MethodHead, liveTarget, live)
	if err := kit.Verify(e.req, e.res, live.body); err == nil {
		t.Error("passed")
	}
}

// unroutedAnswer is that to a path which stands in no document.
func unroutedAnswer(t *testing.T, kit *Kit) answer {
	t.Helper()
	a := documentedAnswer(t, kit, "/api/chart/{mint}", 404)
	maps.Copy(a.header, commonHeaders(kit.unrouted))
	return a.with(t, "https://docs.example.com/problems/route-not-found", "type").with(t, "No such route", "title").
		with(t, nil, "mint").with(t, nil, "chain")
}

func TestUnrouted(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	notFound := unroutedAnswer(t, kit)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e := exchange(t, method, "/api/nothing", notFound)
		kit.checkUnrouted(t, e.req, e.res, e.body)
	}

	for target, a := range map[string]answer{
		liveTarget:       notFound,
		"/api/nothing/1": documentedAnswer(t, kit, "/api/market/live", 200),
		"/api/nothing/2": notFound.with(t, nil, "title"),
		"/api/nothing/3": notFound.with(t, 1, "extra"),
		"/api/nothing/4": notFound.withHeader("RateLimit-Policy", `"getChart";q=120;w=60`),
		"/api/nothing/5": notFound.withHeader("RateLimit", ""),
		"/api/nothing/6": notFound.withHeader("Access-Control-Allow-Origin", ""),
		"/api/nothing/7": notFound.with(t, "https://docs.example.com/problems/token-not-found", "type").with(t, "No such token", "title"),
		"/api/nothing/8": notFound.withHeader("Cache-Control", "public, max-age=5"),
	} {
		e := exchange(t, http.MethodGet, target, a)
		r := &recorder{TB: t}
		if kit.checkUnrouted(r, e.req, e.res, e.body); len(r.errors) == 0 {
			t.Errorf("%s passed", target)
		}
	}
}

func TestRequireAllStatuses(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	all := kit.documented()
	unseen, err := kit.Unseen()
	if err != nil || len(unseen) != len(all) {
		t.Fatalf("unseen %d of %d, %v", len(unseen), len(all), err)
	}
	e := exchange(t, http.MethodGet, liveTarget, documentedAnswer(t, kit, "/api/market/live", 200))
	kit.Check(t, e.req, e.res, e.body)
	// A response that fails its check doesn't count.
	e = exchange(t, http.MethodGet, liveTarget, documentedAnswer(t, kit, "/api/market/live", 503).withHeader("Retry-After", ""))
	kit.Check(&recorder{TB: t}, e.req, e.res, e.body)

	r := &recorder{TB: t}
	kit.requireAllStatuses(r, Status{Code: 500}, Status{Operation: "getVersion", Code: 503}, Status{Operation: "getMarketLive", Code: 200})
	if !r.mentions("getMarketLive 503", "getChart 404", `skip "getMarketLive 200" is not needed`) {
		t.Error(r.errors)
	}
	if r.mentions("produced it: getMarketLive 200") || r.mentions("getVersion 503") || r.mentions("getChart 500") {
		t.Error(r.errors)
	}
}

func TestRouteParity(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	routes := operations(t)
	kit.RouteParity(t, routes)
	again := routes[slices.IndexFunc(routes, func(op contract.Operation) bool { return op.ID == "getTokenInfo" })]
	routes[0].Path += "/"
	routes = append(routes[:len(routes)-1], contract.Operation{ID: "getSecret", Method: "GET", Path: "/secret"}, again)
	r := &recorder{TB: t}
	kit.RouteParity(r, routes)
	if len(r.errors) != 5 || !r.mentions(
		"served, but not documented: getMarketLive GET /api/market/live/",
		"documented, but not served: getMarketLive GET /api/market/live",
		"served, but not documented: getSecret GET /secret",
		"documented, but not served: getOpenAPI GET /openapi.json",
		"served twice: getTokenInfo") {
		t.Error(strings.Join(r.errors, "\n"))
	}
}

func TestRouteOfInfo(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	for target, want := range map[string]string{
		"/api/token/info/candles": "getTokenInfo",
		"/api/token/abc/candles":  "getTokenCandles",
		"/api/token/info/%2F":     "getTokenInfo",
		"/api/token//candles":     "",
		"/api/version/":           "",
	} {
		route, err := kit.kin.route(httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if got := ""; err == nil {
			if got = route.Operation.OperationID; got != want {
				t.Errorf("%s is %s, want %s", target, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: %v", target, err)
		}
	}
}
