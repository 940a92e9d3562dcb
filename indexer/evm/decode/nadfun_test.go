package decode

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func nadCases(tb testing.TB) []launchCase {
	tb.Helper()
	const p = chainconfig.NadFun
	at := venueContract(p)
	curve, token, trader := hexAddress(tb, at), hexAddress(tb, "0x"+tokenA), hexAddress(tb, "0x"+aTrader)
	launched := market.Launched{
		Venue: string(p), Token: token, Creator: hexAddress(tb, "0x"+aMaker), Name: "Pier Pup", Symbol: "PUP",
		Metadata: "https://storage.example/meta.json", Curve: curve,
		Rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold},
		// 90,000 MON and 1,073,000 tokens, of which 279,900 are left when it locks: 90,000 x 793,100 / 279,900 is 255,016.08, and
		// whoever buys the last tokens pays the part of a unit as a whole one.
		Quote: market.Native, SaleBase: number(793_100), TargetQuote: number(255_017),
		Reserves: market.CurveReserves{VirtualBase: number(1_073_000), VirtualQuote: number(90_000), RealBase: number(793_100)},
		Tells:    market.TellsVirtual | market.TellsBase | market.TellsQuote,
	}
	endless := launched
	endless.SaleBase, endless.TargetQuote, endless.Reserves.RealBase = number(1_073_000), number(0), number(1_073_000)
	trade := func(sell bool, base, quote uint64) market.Event {
		return market.CurveTrade{
			Venue: string(p), Curve: curve, Token: token, Trader: trader, Sell: sell,
			BaseAmount: number(base), QuoteAmount: number(quote), Raised: number(quote),
		}
	}
	create := func(target string) *Log {
		return venueLog(tb, at, topicNadCreate, []string{aMaker, tokenA, aPool[2:]}, text("Pier Pup"), text("PUP"),
			text("https://storage.example/meta.json"), "015f90", "105f68", target)
	}
	graduated := market.Graduated{Venue: string(p), Curve: curve, Token: token, Pool: hexAddress(tb, aPool)}
	return []launchCase{
		{"NadFun CurveCreate", p, create("04455c"), launched},
		{"NadFun CurveCreate without a target", p, create("00"), endless},
		{"NadFun CurveBuy", p, venueLog(tb, at, topicNadBuy, []string{aTrader, tokenA}, "64", "0a"), trade(false, 10, 100)},
		{"NadFun CurveSell", p, venueLog(tb, at, topicNadSell, []string{aTrader, tokenA}, "0a", "64"), trade(true, 10, 100)},
		{"NadFun CurveSync", p, venueLog(tb, at, topicNadSync, []string{tokenA}, "63", "03e7", "015ff3", "105f5e"), market.CurveSet{
			Venue: string(p), Curve: curve, Token: token,
			State: market.CurveReserves{RealQuote: number(99), VirtualQuote: number(90_099), VirtualBase: number(1_072_990)},
			Tells: market.TellsVirtual | market.TellsQuote,
		}},
		{
			"NadFun CurveTokenLocked", p, venueLog(tb, at, topicNadLocked, []string{tokenA}),
			market.CurveCompleted{Venue: string(p), Curve: curve, Token: token},
		},
		{"NadFun CurveGraduate", p, venueLog(tb, at, topicNadGraduate, []string{tokenA, aPool[2:]}), graduated},
		{"NadFun CurveTokenListed", p, venueLog(tb, at, topicNadListed, []string{tokenA, aPool[2:]}), graduated},
	}
}
