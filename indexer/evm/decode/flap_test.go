package decode

import (
	"testing"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func flapCases(tb testing.TB) []launchCase {
	tb.Helper()
	const p = chainconfig.Flap
	at := venueContract(p)
	curve, token, trader := hexAddress(tb, at), hexAddress(tb, "0x"+tokenA), hexAddress(tb, "0x"+aTrader)
	byDefault := *uint256.MustFromDecimal("667000000000000000000000000")
	launched := market.Launched{
		Venue: string(p), Token: token, Creator: hexAddress(tb, "0x"+aMaker), Name: "Pier Pup", Symbol: "PUP",
		Metadata: "bafkreigh2akiscaildc", Curve: curve,
		Rules: market.CurveRules{Pricing: market.PricePosted, Basis: market.TokensSold, FillsUp: true},
		Quote: market.Native, SaleBase: byDefault,
		Reserves: market.CurveReserves{RealBase: byDefault}, Tells: market.TellsBase | market.TellsQuote,
	}
	set := func(change market.CurveSet) market.Event {
		change.Venue, change.Curve, change.Token = string(p), curve, token
		return change
	}
	trade := func(sell bool, quote, raised uint64) market.Event {
		return market.CurveTrade{
			Venue: string(p), Curve: curve, Token: token, Trader: trader, Sell: sell,
			BaseAmount: number(10), QuoteAmount: number(quote), Raised: number(raised),
			After: market.CurveReserves{Price: number(9)}, Tells: market.TellsPrice,
		}
	}
	words := []any{"65a0", tokenA, aTrader, "0a", "64", "01", "09"}
	graduated := func(pool market.Address) market.Event {
		return market.Graduated{Venue: string(p), Curve: curve, Token: token, Pool: pool}
	}
	const manager = "000000000004444c5dc75cb358380d2e3de08a90" // the PoolManager of chainDocument's ethereum
	return []launchCase{
		{"Flap TokenCreated", p, venueLog(tb, at, topicFlapCreated, nil, "65a0", aMaker, "2a", tokenA, text("Pier Pup"), text("PUP"),
			text("bafkreigh2akiscaildc")), launched},
		{
			"Flap TokenQuoteSet", p, venueLog(tb, at, topicFlapQuote, nil, tokenA, tokenB),
			set(market.CurveSet{Quote: hexAddress(tb, "0x"+tokenB)}),
		},
		{
			"Flap TokenQuoteSet to the native coin", p, venueLog(tb, at, topicFlapQuote, nil, tokenA, "00"),
			set(market.CurveSet{Quote: market.Native}),
		},
		{
			"Flap TokenDexSupplyThreshSet", p, venueLog(tb, at, topicFlapThreshold, nil, tokenA, "0320"),
			set(market.CurveSet{SaleBase: number(800)}),
		},
		// r 6.14, h 107,036,752 and k 6,797,205,657.28, as BNB Smart Chain has them: 6.14 / 1,107,036,752 a token.
		{"Flap TokenCurveSetV2", p, venueLog(tb, at, topicFlapCurve, nil, tokenA, "5535a97808e60000", "5889e9f3e4c6e14f400000",
			"15f6844905cece43c3e00000"), set(market.CurveSet{
			State: market.CurveReserves{Price: number(5_546_337_995)}, Tells: market.TellsPrice,
		})},
		{"Flap TokenBought", p, venueLog(tb, at, topicFlapBought, nil, words...), trade(false, 100, 99)},
		{"Flap TokenSold", p, venueLog(tb, at, topicFlapSold, nil, words...), trade(true, 99, 100)},
		{"Flap LaunchedToDEX", p, venueLog(tb, at, topicFlapLaunched, nil, tokenA, aPool[2:], "07", "08"), graduated(hexAddress(tb, aPool))},
		{
			"Flap LaunchedToDEX in a Uniswap V4 pool", p, venueLog(tb, at, topicFlapLaunched, nil, tokenA, manager, "07", "08"),
			graduated(market.Address{}),
		},
		{
			"Flap LaunchedToDEX without a pool", p, venueLog(tb, at, topicFlapLaunched, nil, tokenA, "00", "07", "08"),
			graduated(market.Address{}),
		},
		{"Flap FlapTokenCLPoolCreated", p, venueLog(tb, at, topicFlapPool, nil, tokenA, someID, "05"), graduated(hexAddress(tb, "0x"+someID))},
	}
}
