package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestTickers: a ticker names a token if it is the only one with a price that has it, whatever the ticker's case and length.
func TestTickers(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := storetest.Open(t, kind)
			w := written.NewMarket(t, st, 1_760_000_000)
			n := byte(20)
			add := func(symbol string, isTraded bool) market.Address {
				token, pair := written.Contract(n), written.Contract(n+100)
				n++
				fact := market.TokenFact{Token: token, Name: "n", Symbol: symbol, HasDecimals: true, Decimals: 18, FromCreation: true}
				events := []market.Event{written.PairOf(w.Factory, pair, token, w.USDC)}
				if isTraded {
					events = append(events, written.TradeAt(pair, 5, 100_000)...)
				}
				w.Block(t, 1, []market.Fact{fact}, events...)
				return token
			}
			long := strings.Repeat("L", 5_000)
			tokens := map[string]market.Address{}
			for _, symbol := range []string{"Solo", "$cash", "ДОЖ", "a b", long} {
				tokens[symbol] = add(symbol, true)
			}
			add("TWIN", true)
			add("twin", true)
			add("ghost", false)
			tokens["half"] = add("half", true)
			add("HALF", false)
			for _, c := range []struct{ ticker, of string }{
				{"solo", "Solo"},
				{"SOLO", "Solo"},
				{"CASH", "$cash"},
				{"ДОЖ", "ДОЖ"},
				{"дож", "ДОЖ"},
				{"TWIN", ""},
				{"ghost", ""},
				{"half", "half"},
				{"sol", ""},
				{"a", ""},
				{strings.Repeat("L", 32), ""},
				{"", ""},
				{"none", ""},
				{"%", ""},
			} {
				at, ok, err := st.Tokens.OnlyWithTicker(t.Context(), c.ticker)
				want := store.TokenAt{}
				if c.of != "" {
					want = store.TokenAt{Chain: "base", Mint: tokens[c.of]}
				}
				if err != nil || at != want || ok != (c.of != "") {
					t.Errorf("%s means %+v, %t, %v; want %+v", c.ticker, at, ok, err, want)
				}
			}
			at, err := st.Tokens.ListedAt(t.Context(), []market.Address{tokens["Solo"], w.Unpriced, written.Contract(7)})
			if err != nil || fmt.Sprint(at) != fmt.Sprint([]store.TokenAt{{Chain: "base", Mint: tokens["Solo"]}}) {
				t.Errorf("at three addresses there are %+v, %v", at, err)
			}
		})
	}
}
