package search

import (
	"slices"
	"testing"
)

// FuzzSearch gives texts to a token and looks for them: nothing may panic, whatever is normal stays so, and a token is
// found by its ticker and by the beginning of its name.
func FuzzSearch(f *testing.F) {
	for _, s := range odd {
		f.Add(s, "Pepe "+s)
	}
	f.Fuzz(func(t *testing.T, symbol, name string) {
		for _, s := range []string{symbol, name} {
			checkNormal(t, normalise(s))
		}
		x := New()
		token := Token{Chain: "a", Mint: mint(1), Name: name, Symbol: symbol, LiquidityUSD: 1}
		x.Put([]Token{token, {Chain: "a", Mint: mint(2), Name: "Pepe Coin", Symbol: "PEPE", LiquidityUSD: 2}})
		is := func(q string, m Match) bool {
			return slices.Contains(x.Search(q, 30), Hit{Chain: token.Chain, Mint: token.Mint, Match: m})
		}
		if _, isAddress := parseAddress(symbol); !isAddress && tickerKey(symbol) != "" && !is(symbol, Ticker) {
			t.Errorf("%q is not found by its ticker", symbol)
		}
		if _, isAddress := parseAddress(name); !isAddress && nameKey(name) != "" && !is(name, Prefix) && !is(name, Ticker) {
			t.Errorf("%q is not found by its name", name)
		}
		if err := x.check(); err != nil {
			t.Error(err)
		}
		x.RemoveChain("a")
		if x.Len() > 0 || len(x.Search(name, 30)) > 0 {
			t.Errorf("%d tokens are left", x.Len())
		}
	})
}
