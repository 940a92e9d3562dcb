package evm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func fourMemeCases(tb testing.TB) []launchCase {
	tb.Helper()
	const v1, v2 = chainconfig.FourMemeV1, chainconfig.FourMemeV2
	at1, at2 := venueContract(v1), venueContract(v2)
	curve1, curve2 := hexAddress(tb, at1), hexAddress(tb, at2)
	token, trader, maker := hexAddress(tb, "0x"+tokenA), hexAddress(tb, "0x"+aTrader), hexAddress(tb, "0x"+aMaker)
	first := market.Launched{
		Venue: string(v1), Token: token, Creator: maker, Name: "Pier Pup", Symbol: "PUP", Curve: curve1,
		Rules: market.CurveRules{Pricing: market.PriceExecuted}, Quote: market.ZeroEVM,
	}
	second := first
	second.Venue, second.Curve, second.Quote = string(v2), curve2, market.Address{}
	second.Rules = market.CurveRules{Pricing: market.PricePosted, Basis: market.TokensSold, FillsUp: true}
	trade1 := func(sell bool) market.Event {
		return market.CurveTrade{
			Venue: string(v1), Curve: curve1, Token: token, Trader: trader, Sell: sell,
			BaseAmount: number(10), QuoteAmount: number(100), Raised: number(100),
		}
	}
	trade2 := func(sell bool, quote uint64) market.Event {
		return market.CurveTrade{
			Venue: string(v2), Curve: curve2, Token: token, Trader: trader, Sell: sell,
			BaseAmount: number(10), QuoteAmount: number(quote), Raised: number(100),
			After: market.CurveReserves{Price: number(9), RealBase: number(790), RealQuote: number(600)},
			Tells: market.TellsPrice | market.TellsBase | market.TellsQuote,
		}
	}
	words2 := []any{tokenA, aTrader, "09", "0a", "64", "01", "0316", "0258"}
	create := []any{aMaker, tokenA, "2a", text("Pier Pup"), text("PUP"), "03e8", "65a0"}
	return []launchCase{
		{"FourMemeV1 TokenCreate", v1, venueLog(tb, at1, topicFourV1Create, nil, create...), first},
		{"FourMemeV1 TokenCreate with a fee", v1, venueLog(tb, at1, topicFourCreate, nil, append(create, "07")...), first},
		{"FourMemeV1 TokenPurchase", v1, venueLog(tb, at1, topicFourV1Purchase, nil, tokenA, aTrader, "0a", "64"), trade1(false)},
		{"FourMemeV1 TokenSale", v1, venueLog(tb, at1, topicFourV1Sale, nil, tokenA, aTrader, "0a", "64"), trade1(true)},
		{
			"FourMemeV1 TokenPurchase with a fee", v1, venueLog(tb, at1, topicFourV1PurchaseFee, nil, tokenA, aTrader, "0a", "64", "01"),
			trade1(false),
		},
		{"FourMemeV1 TokenSale with a fee", v1, venueLog(tb, at1, topicFourV1SaleFee, nil, tokenA, aTrader, "0a", "64", "01"), trade1(true)},
		{
			"FourMemeV1 TradeStop", v1, venueLog(tb, at1, topicFourStop, nil, tokenA),
			market.CurveCompleted{Venue: string(v1), Curve: curve1, Token: token},
		},
		{
			"FourMemeV1 LiquidityAdded", v1, venueLog(tb, at1, topicFourLiquidity, nil, tokenA, "07", "00", "08"),
			market.Graduated{Venue: string(v1), Curve: curve1, Token: token},
		},
		{"FourMemeV2 TokenCreate", v2, venueLog(tb, at2, topicFourCreate, nil, append(create, "07")...), second},
		{"FourMemeV2 TokenPurchase", v2, venueLog(tb, at2, topicFourPurchase, nil, words2...), trade2(false, 101)},
		{"FourMemeV2 TokenSale", v2, venueLog(tb, at2, topicFourSale, nil, words2...), trade2(true, 99)},
		{
			"FourMemeV2 TradeStop", v2, venueLog(tb, at2, topicFourStop, nil, tokenA),
			market.CurveCompleted{Venue: string(v2), Curve: curve2, Token: token},
		},
		{
			"FourMemeV2 LiquidityAdded", v2, venueLog(tb, at2, topicFourLiquidity, nil, tokenA, "07", tokenB, "08"),
			market.Graduated{Venue: string(v2), Curve: curve2, Token: token},
		},
	}
}

// TestFourMemeV2Progress: what a curve sells follows from its first buy.
func TestFourMemeV2Progress(t *testing.T) {
	t.Parallel()
	d := decoderOf(t, venueDocument(t))
	at := venueContract(chainconfig.FourMemeV2)
	create := venueLog(t, at, topicFourCreate, nil, aMaker, tokenA, "2a", text("N"), text("S"), "03e8", "65a0", "07")
	launched, ok := d.Decode(create).(market.Launched)
	if !ok {
		t.Fatal("no launch")
	}
	l := market.Launch{Rules: launched.Rules}
	l.Begin(&launched)
	if l.HasProgress {
		t.Error("a progress before the first buy")
	}
	for _, step := range []struct {
		amount, offers string
		want           float64
	}{{"c8", "0258", 25}, {"0258", "00", 100}} {
		buy := venueLog(t, at, topicFourPurchase, nil, tokenA, aTrader, "09", step.amount, "64", "01", step.offers, "64")
		e, ok := d.Decode(buy).(market.CurveTrade)
		if !ok {
			t.Fatal("no trade")
		}
		l.Book(&e)
		if !l.HasProgress || l.Progress != step.want || l.SaleBase != number(800) || l.Reserves.Price != number(9) {
			t.Errorf("%v %% of %s at %s, want %v %% of 800 at 9", l.Progress, l.SaleBase.Dec(), l.Reserves.Price.Dec(), step.want)
		}
	}
}

// TestFourMemeQuotes: what a curve takes is the second word of its token's record, if the first is the token.
func TestFourMemeQuotes(t *testing.T) {
	t.Parallel()
	if callFourInfo != "0xe684626b" { // as public readers of the contract have it
		t.Errorf("_tokenInfos is %s", callFourInfo)
	}
	const other = "00000000000000000000000000000000000000bb"
	word := func(low string) string { return strings.Repeat("0", 64-len(low)) + low }
	record := func(base, quote string) string {
		return `"0x` + word(base) + word(quote) + strings.Repeat(word("7"), 11) + `"`
	}
	token, manager := hexAddress(t, "0x"+tokenA), hexAddress(t, venueContract(chainconfig.FourMemeV2))
	key := market.CurveKey{Curve: manager, Token: token}
	for name, c := range map[string]struct {
		answer string
		quote  market.Address
		known  bool
	}{
		"a token":                     {record(tokenA, other), hexAddress(t, "0x"+other), true},
		"the native coin":             {record(tokenA, "00"), market.ZeroEVM, true},
		"two words alone":             {`"0x` + word(tokenA) + word("00") + `"`, market.ZeroEVM, true},
		"another token's record":      {record(other, "00"), market.Address{}, false},
		"no record":                   {record("00", "00"), market.Address{}, false},
		"a quote that is no address":  {record(tokenA, "01"+other), market.Address{}, false},
		"a token with words above it": {record("01"+tokenA, "00"), market.Address{}, false},
		"the token itself":            {record(tokenA, tokenA), market.Address{}, false},
		"one word":                    {`"0x` + word(tokenA) + `"`, market.Address{}, false},
		"a word and a half":           {`"0x` + word(tokenA) + word("00")[:32] + `"`, market.Address{}, false},
		"nothing":                     {`"0x"`, market.Address{}, false},
		"a refusal":                   {"", market.Address{}, false},
	} {
		node := newFakeNode(t, func(_ string, params []json.RawMessage) (result, refusal string) {
			var asked struct{ To, Data string }
			if json.Unmarshal(params[0], &asked) != nil || asked.To != manager.String() || asked.Data != "0xe684626b"+word(tokenA) {
				t.Errorf("asked %s", params[0])
			}
			if c.answer == "" {
				return "", `{"code":3,"message":"execution reverted"}`
			}
			return c.answer, ""
		})
		got, _, err := sourceOf(t, time.Now, node.URL).CurveFacts(t.Context(), BlockRef{Number: 5}, []market.CurveKey{key})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if f := got[0]; f.CurveKey != key || f.Known != c.known || f.Quote != c.quote || (f.Reason == "") != c.known {
			t.Errorf("%s: %+v, want %q known %v", name, f, c.quote, c.known)
		}
	}
}

// TestFourMemeQuotesOfAnOldBlock: a curve's quote doesn't change, so that the newest answer does where old state is gone; more
// tokens than go into one batch keep their order.
func TestFourMemeQuotesOfAnOldBlock(t *testing.T) {
	t.Parallel()
	node := newFakeNode(t, func(_ string, params []json.RawMessage) (result, refusal string) {
		if string(params[1]) != `"latest"` {
			return "", `{"code":-32000,"message":"missing trie node 0xabc (path )"}`
		}
		var asked struct{ Data string }
		if err := json.Unmarshal(params[0], &asked); err != nil {
			t.Error(err)
		}
		token := asked.Data[len("0xe684626b"):]
		quote := strings.Repeat("0", 62) + token[62:] // tells the token
		return `"0x` + token + quote + `"`, ""
	})
	keys := make([]market.CurveKey, callsAtOnce+1)
	for i := range keys {
		w := [32]byte{12: 0xaa, 31: byte(i)}
		keys[i] = market.CurveKey{Curve: market.ZeroEVM, Token: market.EVMAddress(w)}
	}
	got, _, err := sourceOf(t, time.Now, node.URL).CurveFacts(t.Context(), BlockRef{Number: 5}, keys)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, keys, func(f market.CurveFact, k market.CurveKey) bool {
		return f.CurveKey == k && f.Known && f.Quote.Bytes()[19] == k.Token.Bytes()[19]
	}) {
		t.Errorf("%+v", got)
	}
}
