package contracttest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

const requiredParameters = `
openapi: 3.1.0
info: {title: Test, version: dev}
servers: [{url: /}]
paths:
  /search/{kind}:
    get:
      operationId: search
      parameters:
        - {name: kind, in: path, required: true, schema: {type: string, enum: [token, pair]}, example: token}
        - {name: q, in: query, required: true, schema: {type: string, maxLength: 3}, example: abc}
        - {name: share, in: query, schema: {type: number, minimum: 0.5, maximum: 0.75}}
        - {name: X-Other, in: header, schema: {type: integer}}
      responses:
        '200': {description: ok}
`

func TestBadRequestsOfRequiredParameters(t *testing.T) {
	t.Parallel()
	kit, err := load([]byte(requiredParameters), []contract.Operation{{ID: "search", Method: "GET", Path: "/search/{kind}"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, bad := range kit.BadRequests() {
		got = append(got, bad.Name()+" "+bad.Target)
	}
	want := []string{
		"search/kind/outside its enum /search/no-such-value?q=abc",
		"search/q/omitted /search/token",
		"search/q/empty /search/token?q=",
		"search/q/over its length /search/token?q=aaaa",
		"search/share/no number /search/token?q=abc&share=abc",
		"search/share/not finite /search/token?q=abc&share=NaN",
		"search/share/under its minimum /search/token?q=abc&share=0",
		"search/share/over its maximum /search/token?q=abc&share=1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each bad request of the document goes to a documented operation, and every parameter with a rule has one.
func TestBadRequestsOfTheDocument(t *testing.T) {
	t.Parallel()
	kit := New(t)
	bad := kit.BadRequests()
	seen := map[string]bool{}
	for _, b := range bad {
		seen[b.Operation+" "+b.Param] = true
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.Target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if route, err := kit.kin.route(req); err != nil || route.Operation.OperationID != b.Operation {
			t.Errorf("%s goes elsewhere: %v", b.Target, err)
		}
	}
	for _, path := range kit.doc.Paths.InMatchingOrder() {
		op := kit.doc.Paths.Value(path).Get
		for _, param := range op.Parameters {
			if !seen[op.OperationID+" "+param.Value.Name] {
				t.Errorf("no bad request for %s of %s", param.Value.Name, op.OperationID)
			}
			if example := exampleOf(param.Value); param.Value.Schema.Value.Pattern != "" &&
				!regexp.MustCompile(param.Value.Schema.Value.Pattern).MatchString(example) {
				t.Errorf("example of %s of %s is itself bad", param.Value.Name, op.OperationID)
			}
		}
	}
}

func TestRequireBadRequest(t *testing.T) {
	t.Parallel()
	kit := New(t)
	bad := BadRequest{Operation: "getChart", Param: "limit", In: "query", Why: "over its maximum", Target: "/api/chart/x?limit=1001"}
	documented := documentedAnswer(t, kit, "/api/chart/{mint}", 400)
	for name, test := range map[string]struct {
		answer answer
		passes bool
	}{
		"as documented":     {documented, true},
		"another parameter": {documented.with(t, []any{map[string]any{"name": "tf", "in": "query", "reason": "x"}}, "errors"), false},
		"another place":     {documented.with(t, []any{map[string]any{"name": "limit", "in": "path", "reason": "x"}}, "errors"), false},
		"no parameter":      {documented.with(t, nil, "errors"), false},
		"another status":    {documentedAnswer(t, kit, "/api/chart/{mint}", 404), false},
		"no JSON":           {answer{code: 400, body: []byte("oops")}, false},
	} {
		e := exchange(t, http.MethodGet, bad.Target, test.answer)
		r := &recorder{TB: t}
		kit.RequireBadRequest(r, bad, e.res.StatusCode, e.body)
		if passed := len(r.errors) == 0; passed != test.passes {
			t.Errorf("%s: passed %v, want %v: %v", name, passed, test.passes, r.errors)
		}
	}
}
