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
        - {name: q, in: query, required: true, schema: {type: string, minLength: 1, maxLength: 3}, example: abc}
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
		got = append(got, bad.Name()+" "+bad.Target+" "+strings.Join(bad.Slugs, " "))
	}
	want := []string{
		"search/kind/outside its enum /search/no-such-value?q=abc invalid-parameter",
		"search/kind/invalid UTF-8 /search/%ff?q=abc invalid-parameter",
		"search/kind/NUL /search/%00?q=abc invalid-parameter",
		"search/q/omitted /search/token missing-parameter",
		"search/q/empty /search/token?q= missing-parameter",
		"search/q/only spaces /search/token?q=%20%20 missing-parameter invalid-parameter",
		"search/q/over its length /search/token?q=aaaa invalid-parameter",
		"search/q/over its length in characters /search/token?q=%D0%B6%D0%B6%D0%B6%D0%B6 invalid-parameter",
		"search/q/invalid UTF-8 /search/token?q=%ff invalid-parameter",
		"search/q/NUL /search/token?q=%00 invalid-parameter",
		"search/q/broken escape /search/token?q=%zz invalid-parameter",
		"search/q/given twice /search/token?q=abc&q=abc invalid-parameter",
		"search/share/no number /search/token?q=abc&share=abc invalid-parameter",
		"search/share/not finite /search/token?q=abc&share=NaN invalid-parameter",
		"search/share/under its minimum /search/token?q=abc&share=0 invalid-parameter",
		"search/share/over its maximum /search/token?q=abc&share=1 invalid-parameter",
		"search/share/given twice /search/token?q=abc&share=0.5&share=0.5 invalid-parameter",
		"search/share/with a semicolon /search/token?q=abc&share=0.5;x=1 invalid-parameter",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const listParameters = `
openapi: 3.1.0
info: {title: Test, version: dev}
servers: [{url: /}]
paths:
  /ranks:
    get:
      operationId: ranks
      parameters:
        - name: handles
          in: query
          required: true
          style: form
          explode: false
          schema: {type: array, minItems: 1, maxItems: 3, items: {type: string, pattern: '^[a-z0-9_]{1,8}$', maxLength: 8}}
          example: [someone]
        - name: mints
          in: query
          style: form
          explode: false
          schema: {type: array, maxItems: 2, items: {type: string, pattern: '^0x[0-9a-fA-F]{40}$'}}
          example: ['0x4ed4e862860bed51a9570b96d89af5e1b0efefed']
      responses:
        '200': {description: ok}
`

func TestBadRequestsOfLists(t *testing.T) {
	t.Parallel()
	kit, err := load([]byte(listParameters), []contract.Operation{{ID: "ranks", Method: "GET", Path: "/ranks"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, bad := range kit.BadRequests() {
		got = append(got, strings.TrimPrefix(bad.Name(), "ranks/")+" "+bad.Target+" "+strings.Join(bad.Slugs, " "))
		if over := strings.HasSuffix(bad.Name(), "too many items"); over != (bad.Max > 0) || over && bad.Got != bad.Max+1 {
			t.Errorf("%s: max %d, got %d", bad.Name(), bad.Max, bad.Got)
		}
	}
	mint := func(n string) string { return "0x4ed4e862860bed51a9570b96d89af5e1b0ef" + n }
	pair := "/ranks?handles=someone&mints=" + mint("1111") + ","
	const either = " invalid-parameter unsupported-chain unsupported-address"
	want := []string{
		"handles/omitted /ranks missing-parameter",
		"handles/empty /ranks?handles= missing-parameter",
		"handles/an item against its pattern /ranks?handles=som1111,%21,som1112 invalid-parameter",
		"handles/an item with a head against its pattern /ranks?handles=som1111,%21som1113,som1112 invalid-parameter",
		"handles/an item with a tail against its pattern /ranks?handles=som1111,som1113%21,som1112 invalid-parameter",
		"handles/an item over its length /ranks?handles=som1111,aaaaaaaaa,som1112 invalid-parameter",
		"handles/an item with invalid UTF-8 /ranks?handles=som1111,%ff,som1112 invalid-parameter",
		"handles/an item with NUL /ranks?handles=som1111,%00,som1112 invalid-parameter",
		"handles/an item with broken escape /ranks?handles=som1111,%zz,som1112 invalid-parameter",
		"handles/too many items /ranks?handles=som1111,som1112,som1113,som1114 too-many-items",
		"mints/an item against its pattern " + pair + "%21," + mint("1112") + either,
		"mints/an item with a head against its pattern " + pair + "%21" + mint("1113") + "," + mint("1112") + either,
		"mints/an item with a tail against its pattern " + pair + mint("1113") + "%21," + mint("1112") + either,
		"mints/an item with invalid UTF-8 " + pair + "%ff," + mint("1112") + either,
		"mints/an item with NUL " + pair + "%00," + mint("1112") + either,
		"mints/an item with broken escape " + pair + "%zz," + mint("1112") + either,
		"mints/too many items " + pair + mint("1112") + "," + mint("1113") + " too-many-items",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each bad request of the document goes to a documented operation, and every parameter with a rule has one.
func TestBadRequestsOfTheDocument(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
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
			if seen[op.OperationID+" "+param.Value.Name] == isLenient(param.Value) {
				t.Errorf("none or some bad requests for %s of %s", param.Value.Name, op.OperationID)
			}
			for example := range strings.SplitSeq(exampleOf(param.Value), ",") {
				if pattern := scalarOf(param.Value).Pattern; pattern != "" && !regexp.MustCompile(pattern).MatchString(example) {
					t.Errorf("example of %s of %s is itself bad", param.Value.Name, op.OperationID)
				}
			}
		}
	}
}

func TestRequireBadRequest(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	limit := BadRequest{Operation: "getChart", Param: "limit", In: "query", Why: "over its maximum", Target: "/api/chart/x?limit=1001"}
	chain := BadRequest{Operation: "getChart", Param: "chain", In: "query", Slugs: []string{invalidParameter, unsupportedChain}}
	mints := BadRequest{Operation: "getTokenPrices", Param: "mints", In: "query", Slugs: []string{tooManyItems}, Max: 100, Got: 101}
	empty := BadRequest{Operation: "getTokenPrices", Param: "mints", In: "query", Slugs: []string{missingParameter}}
	documented := documentedAnswer(t, kit, "/api/chart/{mint}", 400)
	named := func(slug, name, in string) answer {
		return documented.with(t, []any{map[string]any{"name": name, "in": in, "reason": "x"}}, "errors").with(t, "/problems/"+slug, "type")
	}
	tooMany := named(tooManyItems, "mints", "query").with(t, 100, "max").with(t, 101, "got")
	for name, test := range map[string]struct {
		bad    BadRequest
		answer answer
		passes bool
	}{
		"as documented":        {limit, named(invalidParameter, "limit", "query"), true},
		"another parameter":    {limit, named(invalidParameter, "tf", "query"), false},
		"another place":        {limit, named(invalidParameter, "limit", "path"), false},
		"no parameter":         {limit, documented.with(t, nil, "errors"), false},
		"another status":       {limit, documentedAnswer(t, kit, "/api/chart/{mint}", 404), false},
		"answered":             {limit, documentedAnswer(t, kit, "/api/chart/{mint}", 200), false},
		"no JSON":              {limit, answer{code: 400, body: []byte("oops")}, false},
		"another problem":      {limit, named(missingParameter, "limit", "query"), false},
		"a limit as a chain":   {limit, named(unsupportedChain, "limit", "query"), false},
		"a chain as any":       {chain, named(invalidParameter, "chain", "query"), true},
		"a chain as a chain":   {chain, named(unsupportedChain, "chain", "query"), true},
		"a chain as a mint":    {chain, named(unsupportedAddress, "chain", "query"), false},
		"too many":             {mints, tooMany, true},
		"too many, not how":    {mints, tooMany.with(t, nil, "max"), false},
		"too many, miscounted": {mints, tooMany.with(t, 100, "got"), false},
		"too many as any":      {mints, named(invalidParameter, "mints", "query"), false},
		"missing":              {empty, named(missingParameter, "mints", "query"), true},
		"missing as any":       {empty, named(invalidParameter, "mints", "query"), false},
	} {
		r := &recorder{TB: t}
		kit.RequireBadRequest(r, test.bad, test.answer.code, test.answer.body)
		if passed := len(r.errors) == 0; passed != test.passes {
			t.Errorf("%s: passed %v, want %v: %v", name, passed, test.passes, r.errors)
		}
	}
}
