package decode

import (
	"fmt"
	"testing"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func boardwalkCases(tb testing.TB) []launchCase {
	tb.Helper()
	const p = chainconfig.BoardwalkCurve
	at := venueContract(p)
	curve, token, trader := hexAddress(tb, at), hexAddress(tb, "0x"+tokenA), hexAddress(tb, "0x"+aTrader)
	maker, b := hexAddress(tb, "0x"+aMaker), hexAddress(tb, "0x"+tokenB)
	launched := market.Launched{
		Venue: string(p), Token: token, Creator: maker, Name: "Pier Pup", Symbol: "PUP", Metadata: "ipfs://bafy/meta.json",
		Curve: curve, Rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}, Quote: market.Native,
		SaleBase: number(700), TargetQuote: number(85),
		Reserves: market.CurveReserves{VirtualBase: number(1073), VirtualQuote: number(30), RealBase: number(700)},
		Tells:    market.TellsVirtual | market.TellsBase | market.TellsQuote, FeeBps: 100,
	}
	inToken := launched
	inToken.Quote, inToken.Name, inToken.Symbol, inToken.Metadata = b, "", "", ""
	bought := market.CurveTrade{
		Venue: string(p), Curve: curve, Token: token, Trader: trader,
		BaseAmount: number(10), QuoteAmount: number(100), Raised: number(99),
		After: market.CurveReserves{VirtualBase: number(1063), VirtualQuote: number(129), RealBase: number(690), RealQuote: number(99)},
		Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote,
	}
	sold := bought
	sold.Sell, sold.Raised = true, number(101)
	trade := func(sell string) *Log {
		return venueLog(tb, at, topicBoardwalkTrade, []string{tokenA, aTrader}, sell, "0a", "64", "01", "0427", "81", "02b2", "63")
	}
	graduated := func(pool market.Address) market.Event {
		return market.Graduated{Venue: string(p), Curve: curve, Token: token, Pool: pool}
	}
	return []launchCase{
		{"BoardwalkCurve TokenLaunched", p, venueLog(tb, at, topicBoardwalkLaunched, []string{tokenA, aMaker},
			text("Pier Pup"), text("PUP"), text("ipfs://bafy/meta.json"), "00", "0431", "1e", "02bc", "55", "64"), launched},
		{"BoardwalkCurve TokenLaunched in a token", p, venueLog(tb, at, topicBoardwalkLaunched, []string{tokenA, aMaker},
			text(""), text(""), text(""), tokenB, "0431", "1e", "02bc", "55", "64"), inToken},
		{"BoardwalkCurve CurveTrade, a buy", p, trade("00"), bought},
		{"BoardwalkCurve CurveTrade, a sale", p, trade("01"), sold},
		{
			"BoardwalkCurve CurveCompleted", p, venueLog(tb, at, topicBoardwalkCompleted, []string{tokenA}, "55"),
			market.CurveCompleted{Venue: string(p), Curve: curve, Token: token},
		},
		{
			"BoardwalkCurve TokenGraduated to an address", p, venueLog(tb, at, topicBoardwalkGraduated, []string{tokenA, aPool[2:]}, "07", "08"),
			graduated(hexAddress(tb, aPool)),
		},
		{
			"BoardwalkCurve TokenGraduated to a pool id", p, venueLog(tb, at, topicBoardwalkGraduated, []string{tokenA, someID}, "07", "08"),
			graduated(hexAddress(tb, "0x"+someID)),
		},
		{
			"BoardwalkCurve TokenGraduated to nowhere named", p, venueLog(tb, at, topicBoardwalkGraduated, []string{tokenA, "00"}, "07", "08"),
			graduated(market.Address{}),
		},
	}
}

// TestWorkedExample is the example of docs/venues.md, digit for digit.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	decimal := func(s string) string { return fmt.Sprintf("%064x", uint256.MustFromDecimal(s).ToBig()) }
	at := venueContract(chainconfig.BoardwalkCurve)
	d := decoderOf(t, venueDocument(t))
	launched, ok := d.Decode(venueLog(t, at, topicBoardwalkLaunched, []string{tokenA, aMaker}, text("Pier Pup"), text("PUP"), text(""), "00",
		decimal("1073000000000000000000000000"), decimal("30000000000000000000"), decimal("793100000000000000000000000"),
		decimal("85005359056806002144"), "64")).(market.Launched)
	if !ok {
		t.Fatal("no launch")
	}
	var l market.Launch
	l.SaleBase, l.TargetQuote, l.Rules = launched.SaleBase, launched.TargetQuote, launched.Rules
	l.Begin(&launched)
	if !l.HasProgress || l.Progress != 0 {
		t.Errorf("a fresh curve is at %v %%", l.Progress)
	}

	// A buy of 1 coin: 1 % is the fee, 0.99 move the curve, and what is left of the product is rounded up.
	in, base, quote := uint256.MustFromDecimal("990000000000000000"), &launched.Reserves.VirtualBase, &launched.Reserves.VirtualQuote
	quoteAfter := new(uint256.Int).Add(quote, in)
	baseAfter, rest := new(uint256.Int).DivMod(new(uint256.Int).Mul(base, quote), quoteAfter, new(uint256.Int))
	if !rest.IsZero() {
		baseAfter.AddUint64(baseAfter, 1)
	}
	out := new(uint256.Int).Sub(base, baseAfter)
	left := new(uint256.Int).Sub(&launched.SaleBase, out)
	for name, v := range map[string][2]string{
		"tokens out":   {out.Dec(), exampleOut},
		"virtual base": {baseAfter.Dec(), exampleBase},
		"real base":    {left.Dec(), exampleLeft},
	} {
		if v[0] != v[1] {
			t.Errorf("%s: %s, the page says %s", name, v[0], v[1])
		}
	}
	bought, ok := d.Decode(venueLog(t, at, topicBoardwalkTrade, []string{tokenA, aTrader}, "00", decimal(exampleOut),
		decimal("1000000000000000000"), decimal("10000000000000000"), decimal(exampleBase), decimal("30990000000000000000"),
		decimal(exampleLeft), decimal("990000000000000000"))).(market.CurveTrade)
	if !ok {
		t.Fatal("no trade")
	}
	l.Book(&bought)
	price := l.Reserves.VirtualQuote.Float64() / l.Reserves.VirtualBase.Float64()
	if got := fmt.Sprintf("%.6f %% at %.6e", l.Progress, price); got != exampleCard {
		t.Errorf("%s, the page says %s", got, exampleCard)
	}
	if bought.Raised != *in {
		t.Errorf("raised %s", bought.Raised.Dec())
	}
}

// The figures of the page.
const (
	exampleOut  = "34277831558567279767666989"
	exampleBase = "1038722168441432720232333011"
	exampleLeft = "758822168441432720232333011"
	exampleCard = "4.322006 % at 2.983473e-08"
)
