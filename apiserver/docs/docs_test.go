package docs

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/site"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// table is what the tests' pages say.
func table() Config {
	return Config{
		DocsURL: "https://docs.example.com",
		Problems: []Problem{
			{
				Slug: "unavailable", Status: 503, Title: "Temporarily unavailable", When: "There is no answer for now.",
				Do: "Wait for `Retry-After` seconds.", Members: []Member{{"request_id", "Name of the answer in our logs."}},
			},
			{
				Slug: "invalid-parameter", Status: 400, Title: "Invalid parameter", When: "A parameter cannot be used.",
				Do: "Read `errors`, and send another value.", Members: []Member{{"errors", "A list of `{name, in, reason}`."}},
				Example: `{"type":"https://elsewhere.example/problems/invalid-parameter","title":"Invalid parameter","status":400,` +
					`"errors":[{"name":"limit","in":"query","reason":"must be 1 to 1000","max":1000,"type":"kept"}]}`,
			},
			{Slug: "internal", Status: 500, Title: "Internal error", When: "The fault is ours.", Do: "Tell us the request id."},
			{
				Slug: "quota-exceeded", Status: 429, Title: "Too many requests", When: "The limit is reached.", Do: "Wait.",
				Type:    "https://iana.org/assignments/http-problem-types#quota-exceeded",
				Example: `{"type":"about:blank","status":429,"violated-policies":["getTokenPrices"],"retry_after_s":12}`,
			},
			{Slug: "token-not-found", Status: 404, Title: "No such token", When: "No chain has it.", Do: "Check the address."},
		},
		Gate: []Bound{{"holders_min", "50", "of <all> tokens, by `holders`"}},
		Changelog: []site.Entry{
			{ID: "second", At: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Label: "The second", Text: "One.\n\nTwo."},
			{ID: "also-second", At: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Label: "The same day"},
			{ID: "first", At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Label: "The first", Text: "Nothing before."},
		},
	}
}

func newHandler(t *testing.T, c Config) http.Handler {
	t.Helper()
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request; headers are name, value, name, value.
func ask(t *testing.T, h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func read(t *testing.T, h http.Handler, path string) string {
	t.Helper()
	return ask(t, h, http.MethodGet, path).Body.String()
}

var pagePaths = []string{
	"/docs/", "/docs/problems/", "/docs/problems/invalid-parameter", "/docs/problems/quota-exceeded", "/docs/ranking", "/docs/changelog",
	"/docs/developers", "/docs/support", "/docs/news",
}

func TestPagesAreCached(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	etags := map[string]string{}
	for _, path := range pagePaths {
		got := ask(t, h, http.MethodGet, path)
		body := got.Body.String()
		etag := got.Header().Get("ETag")
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
			got.Header().Get("Cache-Control") != "public, max-age=300" || !strings.HasPrefix(body, "<!doctype html>") {
			t.Errorf("%s: %d %v", path, got.Code, got.Header())
		}
		if other, twice := etags[etag]; twice || !regexp.MustCompile(`^W/"[0-9a-f]{32}"$`).MatchString(etag) {
			t.Errorf("%s: ETag %s, also of %q", path, etag, other)
		}
		etags[etag] = path

		head := ask(t, h, http.MethodHead, path)
		if head.Body.String() != "" || head.Code != http.StatusOK || !reflect.DeepEqual(head.Header(), got.Header()) ||
			head.Header().Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("HEAD %s: %d %v, GET has %v", path, head.Code, head.Header(), got.Header())
		}
		for _, known := range []string{etag, `"other", ` + etag, strings.TrimPrefix(etag, "W/"), "*"} {
			same := ask(t, h, http.MethodGet, path, "If-None-Match", known)
			if same.Body.String() != "" || same.Code != http.StatusNotModified || same.Header().Get("ETag") != etag ||
				same.Header().Get("Cache-Control") != "public, max-age=300" {
				t.Errorf("%s with If-None-Match %s: %d %v", path, known, same.Code, same.Header())
			}
		}
		if changed := ask(t, h, http.MethodGet, path, "If-None-Match", `W/"other"`); changed.Code != http.StatusOK {
			t.Errorf("%s with another ETag: %d", path, changed.Code)
		}
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	const most = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
	const rest = "; connect-src 'self'; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
	for _, path := range append(slices.Clone(pagePaths), "/docs", "/docs/no-such-page", "/docs/problems/no-such-problem") {
		want := most + rest
		if path == "/docs/" {
			want = most + " blob:" + rest
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if method == http.MethodPost {
				want = most + rest
			}
			got := ask(t, h, method, path).Header()
			if got.Get("Content-Security-Policy") != want || got.Get("X-Content-Type-Options") != "nosniff" ||
				got.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s %s: %v", method, path, got)
			}
		}
	}
}

func TestScriptsAreOnTheReferenceAlone(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	script := regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`)
	ours := regexp.MustCompile(`^<script src="/docs/assets/[0-9a-f]{16}/[a-z-]+\.js" defer></script>$`)
	for _, path := range append(slices.Clone(pagePaths), "/docs/no-such-page") {
		found := script.FindAllString(read(t, h, path), -1)
		if path != "/docs/" && len(found) > 0 || path == "/docs/" && len(found) != 2 {
			t.Errorf("%s: scripts %q", path, found)
		}
		for _, s := range found {
			if !ours.MatchString(s) {
				t.Errorf("%s: %s", path, s)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	named := regexp.MustCompile(`/docs/assets/([0-9a-f]{16})/([a-z.-]+)`).
		FindAllStringSubmatch(read(t, h, "/docs/"), -1)
	types := map[string]string{
		"docs.css": "text/css; charset=utf-8", "reference.css": "text/css; charset=utf-8", "mark.svg": "image/svg+xml",
		"reference.js": "text/javascript; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
	}
	if len(named) != len(types) {
		t.Errorf("the reference names %q", named)
	}
	for _, n := range named {
		path, version, name := n[0], n[1], n[2]
		got := ask(t, h, http.MethodGet, path)
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != types[name] ||
			got.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || len(got.Body.String()) == 0 {
			t.Errorf("%s: %d %v", path, got.Code, got.Header())
		}
		if same := ask(t, h, http.MethodGet, path, "If-None-Match", got.Header().Get("ETag")); same.Code != http.StatusNotModified {
			t.Errorf("%s with its ETag: %d", path, same.Code)
		}
		// A page of the version before, or after, may ask for its own.
		other := strings.Replace(path, version, strings.Repeat("0", 16), 1)
		if got := ask(t, h, http.MethodGet, other); got.Code != http.StatusOK ||
			got.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%s: %d %v", other, got.Code, got.Header())
		}
	}
}

func TestWhatThereIsNot(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	version := regexp.MustCompile(`[0-9a-f]{16}`).FindString(read(t, h, "/docs/"))
	for _, path := range []string{
		"/docs/nothing", "/docs//", "/docs//problems/", "/docs/problems//internal", "/docs/..", "/docs/../docs/", "/docs/./",
		"/docs/problems/../changelog", "/docs/problems/internal/", "/docs/%70roblems/", "/docs/problems/%69nternal",
		"/docs%2Fproblems/", "/docs/%2e%2e/docs/", "/docs/assets", "/docs/assets/", "/docs/assets/" + version, "/docs/assets/" + version + "/",
		"/docs/assets/" + version + "/layout.html", "/docs/assets/" + version + "/../docs.css", "/docs/assets/docs.css",
		"/docs/assets/" + strings.Repeat("z", 16) + "/docs.css", "/docs/assets/" + version + "0/docs.css",
		"/docs/web/layout.html", "/docs/index.html", "/docs/problems/INTERNAL", "/docs/changelog/second", "/elsewhere",
	} {
		got := ask(t, h, http.MethodGet, path)
		body := got.Body.String()
		if got.Code != http.StatusNotFound || got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("ETag") != "" ||
			got.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(body, "<h1>No such ") {
			t.Errorf("%s: %d %v", path, got.Code, got.Header())
		}
		head := ask(t, h, http.MethodHead, path)
		if head.Body.String() != "" || head.Code != http.StatusNotFound || head.Header().Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("HEAD %s: %d %v", path, head.Code, head.Header())
		}
	}
	body := read(t, h, "/docs/problems/no-such-problem")
	for _, p := range table().Problems {
		if !strings.Contains(body, `<a href="/docs/problems/`+p.Slug+`">`+p.Title+"</a>") {
			t.Errorf("an unknown problem's page doesn't name %s", p.Slug)
		}
	}
}

func TestOtherSpellingsLeadOn(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	for from, to := range map[string]string{
		"/docs": "/docs/", "/docs/problems": "/docs/problems/", "/docs/changelog/": "/docs/changelog",
	} {
		if got := ask(t, h, http.MethodGet, from); got.Code != http.StatusMovedPermanently || got.Header().Get("Location") != to {
			t.Errorf("%s: %d to %q", from, got.Code, got.Header().Get("Location"))
		}
	}
}

func TestOtherMethods(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, "BREW"} {
		for _, path := range []string{"/docs/", "/docs/nothing"} {
			got := ask(t, h, method, path)
			if got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" ||
				got.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v", method, path, got.Code, got.Header())
			}
		}
	}
}

// textOf is what a reader sees, more or less: without tags, with single spaces.
func textOf(page string) string {
	page = regexp.MustCompile(`(?s)<head>.*</head>|<[^>]*>`).ReplaceAllString(page, "")
	return strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

func TestProblemPages(t *testing.T) {
	t.Parallel()
	h := newHandler(t, table())
	own := textOf(read(t, h, "/docs/problems/invalid-parameter"))
	for _, part := range []string{
		"400 Bad Request Invalid parameter type https://docs.example.com/problems/invalid-parameter",
		"When it happens A parameter cannot be used.",
		"What to do Read errors, and send another value.",
		"Extension members errors A list of {name, in, reason}.",
		`{ "type": "https://docs.example.com/problems/invalid-parameter", "title": "Invalid parameter", "status": 400, "errors": [ {`,
		`"max": 1000, "type": "kept" } ] }`,
	} {
		if !strings.Contains(own, part) {
			t.Errorf("there is no %q in\n%s", part, own)
		}
	}
	foreign := textOf(read(t, h, "/docs/problems/quota-exceeded"))
	for _, part := range []string{
		"429 Too Many Requests Too many requests type https://iana.org/assignments/http-problem-types#quota-exceeded",
		"registered for everyone", "None beside the standard",
		`{ "type": "https://iana.org/assignments/http-problem-types#quota-exceeded", "status": 429,`,
	} {
		if !strings.Contains(foreign, part) {
			t.Errorf("there is no %q in\n%s", part, foreign)
		}
	}
	if bare := textOf(read(t, h, "/docs/problems/internal")); strings.Contains(bare, "Example") {
		t.Errorf("an example of nothing:\n%s", bare)
	}

	index := read(t, h, "/docs/problems/")
	var order []string
	for _, m := range regexp.MustCompile(`<a href="/docs/problems/([a-z-]+)">`).FindAllStringSubmatch(index, -1) {
		order = append(order, m[1])
	}
	want := []string{"invalid-parameter", "token-not-found", "quota-exceeded", "internal", "unavailable"}
	if !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

func TestChangelogPage(t *testing.T) {
	t.Parallel()
	page := read(t, newHandler(t, table()), "/docs/changelog")
	if text := textOf(page); !strings.Contains(text,
		"2 November 2026 The second One. Two. The same day 1 March 2026 The first Nothing before.") {
		t.Errorf("text:\n%s", text)
	}
	for _, id := range []string{"second", "also-second", "first"} {
		if strings.Count(page, ` id="`+id+`"`) != 1 || !strings.Contains(page, `href="#`+id+`"`) {
			t.Errorf("no anchor for %s", id)
		}
	}
	if strings.Count(page, "<time ") != 2 {
		t.Error("a day stands more than once")
	}
	empty := textOf(read(t, newHandler(t, Config{}), "/docs/changelog"))
	if !strings.Contains(empty, "Nothing has been announced yet.") {
		t.Errorf("without entries:\n%s", empty)
	}
}

func TestTextIsInert(t *testing.T) {
	t.Parallel()
	const evil = `</p></pre><script>alert("x")</script><img src=x onerror=alert(1)>`
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{DocsURL: evil, Problems: []Problem{{
		Slug: "bad", Status: 400, Title: evil, When: evil + " `" + evil + "`", Do: evil, Members: []Member{{evil, evil}},
		Example: `{"type":"x",` + string(quoted) + `:` + string(quoted) + `}`,
	}}, Changelog: []site.Entry{{ID: "bad", Label: evil, Text: evil}}}
	h := newHandler(t, c)
	for _, path := range []string{"/docs/", "/docs/problems/", "/docs/problems/bad", "/docs/changelog", "/docs/problems/" + "none"} {
		if page := read(t, h, path); strings.Contains(page, "<script>") || strings.Contains(page, "<img") {
			t.Errorf("%s has markup of others:\n%s", path, page)
		}
	}
}

// TestRankingHasTheBarInForce reads the page that explains the score: it has the bounds that it was given, as text.
func TestRankingHasTheBarInForce(t *testing.T) {
	t.Parallel()
	page := read(t, newHandler(t, table()), "/docs/ranking")
	for _, want := range []string{"<code>holders_min</code></dt> <dd>50, of &lt;all&gt; tokens, by <code>holders</code></dd>", "<code>" + traction.Formula + "</code>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestRankingNamesEveryPart holds the page to the API's document: it names each part that an answer has.
func TestRankingNamesEveryPart(t *testing.T) {
	t.Parallel()
	page := read(t, newHandler(t, table()), "/docs/ranking")
	parts := reflect.TypeFor[contract.TractionParts]()
	for part := range parts.Fields() {
		name := part.Tag.Get("json")
		if name != "unknown_reasons" && !strings.Contains(page, "<dt><code>"+name+"</code></dt>") {
			t.Errorf("the page says nothing of %s", name)
		}
	}
}
