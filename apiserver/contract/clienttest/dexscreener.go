package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Pair is a pair as dexscreener-api returns it: the members that its types declare. Those that may be missing are pointers.
type Pair struct {
	ChainID       string             `json:"chainId"`
	DexID         string             `json:"dexId"`
	URL           string             `json:"url"`
	PairAddress   string             `json:"pairAddress"`
	BaseToken     Token              `json:"baseToken"`
	QuoteToken    Token              `json:"quoteToken"` // the client declares the symbol alone
	PriceNative   string             `json:"priceNative"`
	PriceUSD      *string            `json:"priceUsd"`
	Txns          map[string]Txns    `json:"txns"`        // m5, h1, h6 and h24
	Volume        map[string]float64 `json:"volume"`      // m5, h1, h6 and h24
	PriceChange   map[string]float64 `json:"priceChange"` // some of m5, h1, h6 and h24
	Liquidity     *Liquidity         `json:"liquidity"`
	FDV           *float64           `json:"fdv"`
	PairCreatedAt *int64             `json:"pairCreatedAt"` // unix milliseconds
}

// Token is one side of a pair.
type Token struct {
	Address string `json:"address"`
	Name    string `json:"name"`
	Symbol  string `json:"symbol"`
}

// Txns are trades of a window.
type Txns struct {
	Buys  int `json:"buys"`
	Sells int `json:"sells"`
}

// Liquidity is what is in a pair: in USD, and in whole tokens of its sides.
type Liquidity struct {
	USD   *float64 `json:"usd"`
	Base  *float64 `json:"base"`
	Quote *float64 `json:"quote"`
}

// DexScreenerSearch asks the server at baseURL (scheme and host, no slash at the end) with dexscreener-api, an npm client of
// DexScreener of which only the address is changed, and returns the pairs that it got. The test fails when the client does,
// or when what it returned isn't what its types declare, but for the figures that DexScreener itself leaves out
// (npm/dexscreener.ts).
func DexScreenerSearch(tb testing.TB, baseURL, query string) []Pair {
	tb.Helper()
	b := newDexScreener(tb)
	answer, err := b.search(tb.Context(), baseURL, query)
	if err != nil {
		tb.Fatal(err)
	}
	if found := b.check(tb, answer)[0]; found != "" {
		tb.Fatalf("dexscreener-api returned what its users don't expect: %s\n%s", found, answer)
	}
	var parsed struct{ Pairs []Pair }
	if err := json.Unmarshal(answer, &parsed); err != nil {
		tb.Fatalf("read what dexscreener-api returned: %v\n%s", err, answer)
	}
	return parsed.Pairs
}

type dexScreener struct{ bench }

func newDexScreener(tb testing.TB) dexScreener {
	tb.Helper()
	return dexScreener{newBench(tb, "search.cjs", "dexscreener.ts", "tsconfig.json", "received.tsconfig.json")}
}

// search returns what the client returns to its caller. At run time the client looks at the status alone: whatever a 200 has
// for a body is returned, be it JSON or not.
func (d dexScreener) search(ctx context.Context, baseURL, query string) (json.RawMessage, error) {
	out, err := d.node(ctx, "search.cjs", baseURL, query)
	if err != nil {
		return nil, err
	}
	if !json.Valid(out) {
		return nil, fmt.Errorf("search.cjs printed no JSON: %q", out)
	}
	return out, nil
}

// check holds what the client returned to the types that it declares. It returns what the compiler says of each answer, in
// their order; nothing is good.
func (d dexScreener) check(tb testing.TB, answers ...json.RawMessage) []string {
	tb.Helper()
	check, err := bundled.ReadFile("npm/received.ts")
	if err != nil {
		tb.Fatal(err)
	}
	for i, answer := range answers {
		name := fmt.Sprintf("received-%d", i)
		d.write(tb, name+".json", answer)
		d.write(tb, name+".ts", bytes.ReplaceAll(check, []byte("./received.json"), []byte("./"+name+".json")))
	}
	found := make([]string, len(answers))
	err = d.compile(tb.Context(), "received.tsconfig.json")
	if err == nil {
		return found
	}
	current := -1
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, " ") { // a diagnostic; its reasons are indented
			if _, scanErr := fmt.Sscanf(line, "received-%d.ts(", &current); scanErr != nil || current >= len(found) {
				tb.Fatal(err)
			}
		}
		if current < 0 {
			tb.Fatal(err)
		}
		found[current] += line
	}
	return found
}
