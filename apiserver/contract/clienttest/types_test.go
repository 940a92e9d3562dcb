package clienttest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
)

// newTypes is a bench with the types that openapi-typescript makes of a document.
func newTypes(t *testing.T, document []byte) bench {
	t.Helper()
	b := newBench(t, "tsconfig.json", "client.ts", "dexscreener.ts", "documented.ts", "unread.mjs")
	b.write(t, "openapi.json", document)
	const generator = "node_modules/openapi-typescript/bin/cli.js"
	if _, err := b.node(t.Context(), generator, "openapi.json", "--output", "api.d.ts"); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestClientCompiles(t *testing.T) {
	t.Parallel()
	served, err := contract.JSON("test")
	if err != nil {
		t.Fatal(err)
	}
	b := newTypes(t, served)
	if err := b.compile(t.Context(), "tsconfig.json"); err != nil {
		t.Errorf("npm/client.ts and npm/documented.ts, which are what authors of clients write, compile no more:\n%v", err)
	}
	out, err := b.node(t.Context(), "unread.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var members struct {
		Total  int
		Unread []string
	}
	if err := json.Unmarshal(out, &members); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if members.Total < 200 {
		t.Errorf("the types have %d members: they were not read whole", members.Total)
	}
	if len(members.Unread) > 0 {
		t.Errorf("npm/client.ts would compile without these members: read them there\n%s", strings.Join(members.Unread, "\n"))
	}
}

// TestClientCompilesNoMore shows what breaks the clients of others.
func TestClientCompilesNoMore(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	schemas := doc.at("components", "schemas")
	properties := func(schema string) object { return schemas.at(schema, "properties") }
	optional := func(schema, member string) {
		required, ok := schemas.at(schema)["required"].([]any)
		if !ok {
			t.Fatalf("%s requires nothing", schema)
		}
		schemas.at(schema)["required"] = slices.DeleteFunc(required, func(name any) bool { return name == member })
	}

	delete(properties("MarketToken"), "fdv")
	delete(properties("Majors"), "stale")
	properties("DexToken").at("symbol")["type"] = []string{"string", "null"}
	properties("DexPair").at("priceUsd")["type"] = "number"
	properties("Heartbeat")["latency_ms"] = object{"type": "string"}
	optional("Candle", "v")
	optional("DexWindowTxns", "h24")
	schemas.at("Finality")["enum"] = []string{"latest", "safe", "final", "gone"}
	delete(doc.at("paths"), "/api/auth/social/providers")

	b := newTypes(t, doc.json(t))
	found := b.compile(t.Context(), "tsconfig.json")
	if found == nil {
		t.Fatal("a client compiles over a document that is not the one it was written for")
	}
	for _, want := range []string{
		"client.ts", "documented.ts",
		"'fdv' does not exist",
		"'stale' does not exist",
		"'string | null' is not assignable to parameter of type 'string'",
		"'number' is not assignable to parameter of type 'string'",
		"'string' is not assignable to parameter of type 'number'",
		"'number | undefined' is not assignable to type 'number'",
		"'txns' is possibly 'undefined'",
		"'gone' is missing",
		`'"getSignInProviders"' does not satisfy`,
	} {
		if !strings.Contains(found.Error(), want) {
			t.Errorf("nothing says: %s", want)
		}
	}
	if t.Failed() {
		t.Log(found)
	}
}
