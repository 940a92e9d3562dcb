package decode

import (
	"testing"

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
		Rules: market.CurveRules{Pricing: market.PriceExecuted}, Quote: market.Native,
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
