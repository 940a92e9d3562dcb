package decode

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func ponsCases(tb testing.TB) []launchCase {
	tb.Helper()
	const p = chainconfig.PonsV2
	at, own := venueContract(p), "0x"+aCurve
	curve, token, trader := hexAddress(tb, own), hexAddress(tb, "0x"+tokenA), hexAddress(tb, "0x"+aTrader)
	launched := market.Launched{
		Venue: string(p), Token: token, Creator: hexAddress(tb, "0x"+aMaker), Curve: curve,
		Rules: market.CurveRules{Pricing: market.PriceExecuted, Basis: market.FundsRaised, FillsUp: true},
		Quote: market.Native, TargetQuote: number(4200), Tells: market.TellsQuote,
	}
	inToken := launched
	inToken.Quote = hexAddress(tb, "0x"+tokenB)
	trade := func(sell bool, raised uint64) market.Event {
		return market.CurveTrade{
			Curve: curve, Trader: trader, Sell: sell, BaseAmount: number(10), QuoteAmount: number(100), Raised: number(raised),
		}
	}
	return []launchCase{
		{"PonsV2 TokenLaunched", p, venueLog(tb, at, topicPonsLaunched, []string{tokenA, aCurve, aMaker}, "00", "01", "1068"), launched},
		{
			"PonsV2 TokenLaunched in a token", p, venueLog(tb, at, topicPonsLaunched, []string{tokenA, aCurve, aMaker}, tokenB, "01", "1068"),
			inToken,
		},
		{
			"PonsV2 LaunchSwept", p, venueLog(tb, at, topicPonsSwept, []string{tokenA}, "07", "08"),
			market.CurveCompleted{Venue: string(p), Token: token},
		},
		{
			"PonsV2 PoolGraduated", p, venueLog(tb, at, topicPonsGraduated, []string{tokenA}, "2a", "07", "08"),
			market.Graduated{Venue: string(p), Token: token},
		},
		{"a Pons curve's CurveBuy", "", venueLog(tb, own, topicPonsBuy, []string{aMaker, aTrader}, "64", "0a", "01", "02"), trade(false, 97)},
		{"a Pons curve's CurveSell", "", venueLog(tb, own, topicPonsSell, []string{aTrader, aMaker}, "0a", "64", "01", "02"), trade(true, 103)},
		{"a Pons curve's BuybackLocked", "", venueLog(tb, own, topicPonsBuyback, nil, "64", "0a"), market.CurveTrade{
			Curve: curve, Trader: curve, BaseAmount: number(10), QuoteAmount: number(100), Raised: number(100),
			Buyback: true,
		}},
	}
}

// TestPonsCurvesCountWithAFactoryAlone: without a declared factory nobody could say whose a curve is.
func TestPonsCurvesCountWithAFactoryAlone(t *testing.T) {
	t.Parallel()
	doc := chainDocument(t, "ethereum")
	doc.Venues = []chainconfig.Venue{{ID: "empty", Protocol: chainconfig.PonsV2}}
	for _, tt := range ponsCases(t) {
		if got := decoderOf(t, doc).Decode(tt.log); got != nil {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
