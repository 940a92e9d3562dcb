package contracttest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// The table and the schema of problems are the same contract.
func TestProblemTable(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	schema := kit.doc.Components.Schemas["Problem"].Value
	for _, slug := range []string{
		invalidParameter, missingParameter, tooManyItems, unsupportedChain, unsupportedAddress, routeNotFound, "method-not-allowed",
		"malformed-request", "quota-exceeded", "internal", "unavailable",
	} {
		if _, ok := kit.problems[slug]; !ok {
			t.Errorf("x-problems has no %s", slug)
		}
	}
	for slug, row := range kit.problems {
		for member := range row.Members {
			if schema.Properties[member] == nil {
				t.Errorf("%s has %s, which is no member of Problem", slug, member)
			}
		}
		if row.Status < 400 || row.Title == "" || row.Type != "" && !strings.HasSuffix(row.Type, "#"+slug) {
			t.Errorf("%s: %+v", slug, row)
		}
		if _, named := row.Members["request_id"]; named != (row.Status == http.StatusInternalServerError || row.Status == http.StatusServiceUnavailable) {
			t.Errorf("%s is %d, and request_id is a member of it: %v", slug, row.Status, named)
		}
	}
	if kit.unrouted.Name == "" || kit.unrouted.Requests == 0 || kit.unrouted.WindowS == 0 {
		t.Errorf("x-unrouted is %+v", kit.unrouted)
	}
}

// Each problem here has one fault, which breaks this rule and no other, but where the schema of problems says so too.
func TestPlantedFaultsInProblemsFail(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	bad := documentedAnswer(t, kit, "/api/market/live", 400)
	internal := documentedAnswer(t, kit, "/api/market/live", 500)
	unavailable := documentedAnswer(t, kit, "/api/market/live", 503)
	limited := documentedAnswer(t, kit, "/api/market/live", 429)
	notFound := documentedAnswer(t, kit, "/api/chart/{mint}", 404)
	const base = "https://docs.example.com/problems/"
	null := any(nil)
	for name, test := range map[string]struct {
		target string
		answer answer
		says   string // empty passes
	}{
		"as documented, 400":          {liveTarget, bad, ""},
		"as documented, 404":          {chartTarget, notFound, ""},
		"as documented, 500":          {liveTarget, internal, ""},
		"as documented, 503":          {liveTarget, unavailable, ""},
		"with detail and instance":    {liveTarget, internal.with(t, "x", "detail").with(t, "/x", "instance"), ""},
		"too busy":                    {liveTarget, unavailable.with(t, kit.problems["temporary-reduced-capacity"].Type, "type").with(t, "Too busy", "title"), ""},
		"unknown type":                {liveTarget, bad.with(t, base+"no-such-problem", "type"), "not in x-problems"},
		"no slug of ours":             {liveTarget, bad.with(t, "https://iana.org/assignments/http-problem-types#invalid-parameter", "type"), "type is"},
		"our type for a borrowed one": {liveTarget, limited.with(t, base+"quota-exceeded", "type"), "type is"},
		"type of another status":      {liveTarget, bad.with(t, base+"token-not-found", "type").with(t, "No such token", "title").with(t, null, "errors"), "status is"},
		"another status in the body":  {liveTarget, bad.with(t, 404, "status"), "status is 404 in the body"},
		"another title":               {liveTarget, bad.with(t, "Bad parameter", "title"), "title is"},
		"member of another problem":   {liveTarget, bad.with(t, 7, "max"), "max is no member"},
		"request_id where none is":    {liveTarget, bad.with(t, "x", "request_id"), "request_id is no member"},
		"no request_id":               {liveTarget, internal.with(t, null, "request_id"), "request_id is <nil>"},
		"another request_id":          {liveTarget, unavailable.with(t, "x", "request_id"), "request_id is x"},
		"nothing named":               {liveTarget, bad.with(t, null, "errors"), "no parameter is named"},
		"unknown parameter named":     {liveTarget, bad.with(t, []any{map[string]any{"name": "limit", "in": "query", "reason": "x"}}, "errors"), `name "limit" in query`},
		"named in another place":      {liveTarget, bad.with(t, []any{map[string]any{"name": "per_chain", "in": "path", "reason": "x"}}, "errors"), `name "per_chain" in path`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.answer.verify(fresh(t), httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.target, nil))
			if test.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if got := rulesOf(err); !slices.Equal(got, []string{"problem"}) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("breaks %q, want a problem that %s:\n%v", got, test.says, err)
			}
		})
	}
}

// A path of the document is route-not-found only where another reader might not see it as one.
func TestRouteNotFoundOfARoute(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	notFound := unroutedAnswer(t, kit)
	for path, passes := range map[string]bool{"/api/chart/x": false, "/api/chart/x%2Fy": true, "/api/chart/%2e%2e": true, "/api/chart/.": true} {
		err := notFound.verify(fresh(t), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if (err == nil) != passes {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAmbiguous(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"/a/b": false, "/a/..b": false, "/a/..": true, "/a/%2E/b": true, "/a%2fb": true, "/%2525": false} {
		if got := ambiguous(&url.URL{Path: mustUnescape(t, path), RawPath: path}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func mustUnescape(t *testing.T, path string) string {
	t.Helper()
	text, err := url.PathUnescape(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
