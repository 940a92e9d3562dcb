package contracttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

const figureSchemas = `
openapi: 3.1.0
info: {title: Test, version: dev}
servers: [{url: /}]
paths:
  /figures:
    get:
      operationId: figures
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema:
                type: object
                properties:
                  price: {type: [number, 'null']}
                  other: {type: [number, 'null']}
                  n: {type: [integer, 'null']}
                  holders: {type: [integer, 'null']}
                  holders_source: {type: string}
                  price_source: {type: [string, 'null']}
                  unknown_reasons: {type: object, additionalProperties: {type: string}}
                  figure_sources: {type: object, additionalProperties: {type: string}}
                  parts: {type: object, properties: {price: {type: [number, 'null']}, wash: {type: [number, 'null']}}}
                  list: {type: array, items: {allOf: [{type: object, properties: {price: {type: [number, 'null']}, unknown_reasons: {type: object}}}]}}
                  map: {type: object, additionalProperties: {type: [number, 'null']}}
                  anything: {}
                  either: {oneOf: [{type: 'null'}, {type: object, properties: {price: {type: [number, 'null']}}}]}
`

func TestFigures(t *testing.T) {
	t.Parallel()
	kit, err := load([]byte(figureSchemas), []contract.Operation{{ID: "figures", Method: "GET", Path: "/figures"}})
	if err != nil {
		t.Fatal(err)
	}
	response := kit.doc.Paths.Value("/figures").Get.Responses.Status(200).Value
	for body, want := range map[string]string{
		// Why a figure is null.
		`{"price":1}`:    "",
		`{"price":null}`: "$.price is null, and nothing beside it says why",
		`{"price":null,"unknown_reasons":{"price":"indexing"}}`:                     "",
		`{"price":null,"unknown_reasons":{"other":"indexing"}}`:                     "$.price is null",
		`{"price":null,"unknown_reasons":null}`:                                     "$.price is null",
		`{"price":1,"unknown_reasons":{"price":"indexing"}}`:                        "unknown_reasons names price, which is not null",
		`{"price":0,"unknown_reasons":{"price":"indexing"}}`:                        "unknown_reasons names price, which is not null",
		`{"unknown_reasons":{"price":"indexing"}}`:                                  "unknown_reasons names price, which is not there",
		`{"holders":null,"holders_source":"stale"}`:                                 "",
		`{"holders":null,"holders_source":"chain_transfers"}`:                       "$.holders is null",
		`{"price":null,"price_source":null}`:                                        "$.price_source is null",
		`{"parts":{"wash":null}}`:                                                   "$.parts.wash is null",
		`{"parts":{"wash":null},"unknown_reasons":{"wash":"indexing"}}`:             "$.parts.wash is null",
		`{"parts":{"wash":1},"unknown_reasons":{"wash":"indexing"}}`:                "$.unknown_reasons names wash, which is not there",
		`{"price":1,"parts":{"price":null},"unknown_reasons":{"price":"indexing"}}`: "names price, which is not null",
		`{"price":null,"parts":{"price":1},"unknown_reasons":{"price":"indexing"}}`: "",
		`{"either":null}`: "$.either is null",
		`{"either":{"price":null},"unknown_reasons":{"price":"indexing"}}`: "$.either.price is null",
		`{"map":{"a":null}}`:                    "$.map.a is null",
		`{"list":[{"price":1},{"price":null}]}`: "$.list[1].price is null",
		`{"list":[{"price":1},{"price":null}],"unknown_reasons":{"price":"stale"}}`:          "$.list[1].price is null",
		`{"list":[{"price":1}],"unknown_reasons":{"price":"stale"}}`:                         "$.unknown_reasons names price, which is not there",
		`{"list":[{"price":null,"unknown_reasons":{}}],"unknown_reasons":{"price":"stale"}}`: "$.list[0].price is null",
		`{"list":[{"price":1,"unknown_reasons":{}}],"unknown_reasons":{"price":"stale"}}`:    "$.unknown_reasons names price, which is not there",
		`{"list":[{"price":null,"unknown_reasons":{"price":"stale"}}],"price":null}`:         "$.price is null",
		`{"anything":{"a":null,"n":0.12345678901234567,"figure_sources":{"x":"y"}}}`:         "",
		`{"anything":null}`:   "$.anything is null",
		`{"undeclared":null}`: "$.undeclared is null",
		// Where a figure comes from.
		`{"price":1,"figure_sources":{"price":"market"}}`:                                        "",
		`{"price":0,"figure_sources":{"price":"market"}}`:                                        "",
		`{"figure_sources":{"price":"market"}}`:                                                  "figure_sources names price, which is null or not there",
		`{"price":null,"figure_sources":{"price":"market"},"unknown_reasons":{"price":"stale"}}`: "figure_sources names price, which is null or not there",
		`{"parts":{"price":1},"figure_sources":{"price":"market"}}`:                              "figure_sources names price",
		// Numbers.
		`{"price":0.123456789012345}`:       "",
		`{"price":123456789012345e-20}`:     "",
		`{"price":-1.23456789012345E9}`:     "",
		`{"price":100000000000000000000}`:   "",
		`{"price":0.000000000000000000123}`: "",
		`{"price":0.1234567890123456}`:      "significant digits",
		`{"price":1.00000000000000001}`:     "significant digits",
		`{"price":1234567890123456}`:        "significant digits",
		`{"price":0.30000000000000004}`:     "significant digits",
		`{"price":1e309}`:                   "not finite",
		`{"price":-1e999}`:                  "not finite",
		`{"list":[{"price":1e309}]}`:        "$.list[0].price is 1e309",
		`{"n":9007199254740991}`:            "",
		`{"n":9007199254740992}`:            "not every client",
		`{"n":1.5}`:                         "not every client",
		`{"map":{"a":0.30000000000000004}}`: "$.map.a is",
		`no JSON`:                           "invalid character",
	} {
		a := answer{code: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/figures", nil)
		err := checkFigures(response, newReply(req, &http.Response{StatusCode: a.code, Header: a.header}, a.body))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n got %v\nwant %q", body, err, want)
		}
	}
}

// In answers of the document, each with one fault, which breaks this rule and no other.
func TestPlantedFaultsInFiguresFail(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	live := documentedAnswer(t, kit, "/api/market/live", 200)
	info := documentedAnswer(t, kit, "/api/token/info/{mint_address}", 200)
	prices := documentedAnswer(t, kit, "/api/market/token-prices", 200)
	beat := documentedAnswer(t, kit, "/api/status/heartbeat", 200)
	null := json.RawMessage("null")
	const price = "base:0x4ed4e862860bed51a9570b96d89af5e1b0efefed"
	for name, test := range map[string]struct {
		target string
		answer answer
		says   string
	}{
		"null without a reason":           {liveTarget, live.with(t, null, "tokens", "0", "fdv"), "$.tokens[0].fdv is null"},
		"part without a reason":           {liveTarget, live.with(t, null, "tokens", "0", "traction", "parts", "members"), "parts.members is null"},
		"reason gone":                     {infoTarget, info.with(t, nil, "unknown_reasons", "launch"), "$.launch is null"},
		"reason of a nested object":       {infoTarget, info.with(t, nil, "links", "unknown_reasons", "x"), "$.links.x is null"},
		"null in a map":                   {"/api/market/token-prices?mints=x", prices.with(t, null, "prices", price, "block"), "block is null"},
		"null beside others":              {"/api/status/heartbeat", beat.with(t, null, "chains", "0", "head_lag_s"), "$.chains[0].head_lag_s is null"},
		"reason for what is known":        {infoTarget, info.with(t, "stale", "unknown_reasons", "price"), "names price, which is not null"},
		"reason for a part that is known": {liveTarget, live.with(t, "stale", "tokens", "0", "traction", "unknown_reasons", "members"), "names members, which is not there"},
		"source of what is null":          {infoTarget, info.with(t, "market", "figure_sources", "fdv"), "names fdv"},
		"source of nothing":               {infoTarget, info.with(t, "market", "figure_sources", "holders"), "names holders"},
		"too many digits":                 {infoTarget, info.with(t, json.RawMessage("0.30000000000000004"), "price"), "$.price is 0.30000000000000004"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.answer.verify(fresh(t), httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.target, nil))
			if got := rulesOf(err); !slices.Equal(got, []string{"figures"}) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("breaks %q, want a figure that %s:\n%v", got, test.says, err)
			}
		})
	}
}
