package clienttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// documentedSearch is the example of a search in the document.
func documentedSearch(t *testing.T) object {
	t.Helper()
	example := readDocument(t).at("paths", "/api/dexscreener/search", "get",
		"responses", "200", "content", "application/json", "example")
	if example == nil {
		t.Fatal("the document has no example of a search")
	}
	return example
}

// serve answers every search with one body, at the path that the client asks with its slash at the end.
func serve(t *testing.T, status int, body []byte) (baseURL string, queries <-chan string) {
	t.Helper()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/api/dexscreener/search/" {
			http.NotFound(w, r)
			return
		}
		asked <- r.URL.Query().Get("q")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestDexScreenerClientReadsTheDocumentedAnswer(t *testing.T) {
	t.Parallel()
	example := documentedSearch(t).json(t)
	var want struct{ Pairs []Pair }
	if err := json.Unmarshal(example, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Pairs) == 0 {
		t.Fatal("the example has no pair")
	}
	baseURL, asked := serve(t, http.StatusOK, example)
	const query = "a b&c#d+é"
	if got := DexScreenerSearch(t, baseURL, query); !reflect.DeepEqual(got, want.Pairs) {
		t.Errorf("the client returned %+v, want %+v", got, want.Pairs)
	}
	if got := <-asked; got != query {
		t.Errorf("the server was asked for %q, want %q", got, query)
	}
}

func TestDexScreenerClientReadsNoPairs(t *testing.T) {
	t.Parallel()
	baseURL, _ := serve(t, http.StatusOK, []byte(`{"schemaVersion":"1.0.0","pairs":[]}`))
	if got := DexScreenerSearch(t, baseURL, "nothing"); len(got) != 0 {
		t.Errorf("the client returned %+v for no pairs", got)
	}
}

// TestWhatTheDexScreenerClientNotices is a list of faulty answers with who notices. The client itself looks at the status
// alone: it returns a body as it is, so that its users crash later or show nonsense. Its types tell, if answers are held to
// them. What they don't declare nobody here notices; the validators of contracttest do.
func TestWhatTheDexScreenerClientNotices(t *testing.T) {
	t.Parallel()
	spoilt := func(spoil func(answer, pair object)) []byte {
		answer := documentedSearch(t)
		pairs, _ := answer["pairs"].([]any)
		if len(pairs) == 0 {
			t.Fatal("the example has no pair")
		}
		first, ok := pairs[0].(map[string]any)
		if !ok {
			t.Fatal("the example's pair is no object")
		}
		spoil(answer, first)
		return answer.json(t)
	}
	cases := []struct {
		name  string
		body  []byte
		types string // part of what its types tell; empty: nothing
	}{
		{
			name: "no pairs at all", body: spoilt(func(answer, _ object) { answer["pairs"] = nil }),
			types: "Type 'null' is not assignable",
		},
		{
			name: "a price that is a number", body: spoilt(func(_, pair object) { pair["priceUsd"] = 0.00312 }),
			types: "Type 'number' is not assignable to type 'string'",
		},
		{
			name: "a price that is null", body: spoilt(func(_, pair object) { pair["priceUsd"] = nil }),
			types: "Type 'null' is not assignable to type 'string",
		},
		{
			name: "a window without trades", body: spoilt(func(_, pair object) { delete(pair.at("txns"), "h24") }),
			types: "Property 'h24' is missing",
		},
		{
			name: "a window without a volume", body: spoilt(func(_, pair object) { delete(pair.at("volume"), "h24") }),
			types: "Property 'h24' is missing",
		},
		{
			name: "a pair without its token", body: spoilt(func(_, pair object) { delete(pair, "baseToken") }),
			types: "Property 'baseToken' is missing",
		},
		{
			name: "a body that is cut off", body: []byte(`{"schemaVersion":"1.0.0","pairs":[{"chainId":"ba`),
			types: "Type 'string' is not assignable to type",
		},
		{
			name: "what is not declared, and what dexscreener.ts is lenient about",
			body: spoilt(func(answer, pair object) {
				answer["schemaVersion"] = "2.0.0"
				pair["priceUsd"] = "1e-9x"
				pair["pairCreatedAt"] = 1704716400 // seconds
				pair["marketCap"] = "much"
			}),
		},
	}
	b := newDexScreener(t)
	var returned []json.RawMessage
	for _, c := range cases {
		baseURL, _ := serve(t, http.StatusOK, c.body)
		answer, err := b.search(t.Context(), baseURL, "degen")
		if err != nil {
			t.Fatalf("%s: the client noticed: %v", c.name, err)
		}
		returned = append(returned, answer)
	}
	for i, found := range b.check(t, returned...) {
		if c := cases[i]; !strings.Contains(found, c.types) || (c.types == "") != (found == "") {
			t.Errorf("%s: the client's types say %q, want %q", c.name, found, c.types)
		}
	}
}

func TestDexScreenerClientNoticesErrors(t *testing.T) {
	t.Parallel()
	baseURL, _ := serve(t, http.StatusServiceUnavailable, []byte(`{"type":"about:blank","title":"Too busy","status":503}`))
	answer, err := newDexScreener(t).search(t.Context(), baseURL, "degen")
	if err == nil || !strings.Contains(err.Error(), "Request failed with status code 503") {
		t.Errorf("the client returned %s and the error %v, want one about 503", answer, err)
	}
}
