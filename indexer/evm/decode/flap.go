package decode

import (
	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Flap's Portal holds all its curves. Nothing is indexed. A launch is several logs of one transaction, TokenCreated the first.
var (
	topicFlapCreated   = topic("TokenCreated(uint256,address,uint256,address,string,string,string)")
	topicFlapQuote     = topic("TokenQuoteSet(address,address)")
	topicFlapCurve     = topic("TokenCurveSetV2(address,uint256,uint256,uint256)")
	topicFlapThreshold = topic("TokenDexSupplyThreshSet(address,uint256)")
	topicFlapBought    = topic("TokenBought(uint256,address,address,uint256,uint256,uint256,uint256)")
	topicFlapSold      = topic("TokenSold(uint256,address,address,uint256,uint256,uint256,uint256)")
	topicFlapLaunched  = topic("LaunchedToDEX(address,address,uint256,uint256)")
	topicFlapPool      = topic("FlapTokenCLPoolCreated(address,bytes32,uint160)")
)

var flapRules = market.CurveRules{Pricing: market.PricePosted, Basis: market.TokensSold, FillsUp: true}

// flapUnit is one token of 18 decimals and flapSupply what there is of each.
var (
	flapUnit   = uint256.NewInt(1e18)
	flapSupply = uint256.MustFromDecimal("1000000000000000000000000000")
)

// flapSaleBase is what a curve sells where no TokenDexSupplyThreshSet says otherwise: 667,000,000 tokens of 18 decimals.
var flapSaleBase = uint256.MustFromDecimal("667000000000000000000000000")

func (d *Decoder) flap(v venue) {
	d.launch(v, topicFlapCreated, 1, decodeFlapCreated)
	d.launch(v, topicFlapQuote, 1, decodeFlapQuote)
	d.launch(v, topicFlapCurve, 1, decodeFlapCurve)
	d.launch(v, topicFlapThreshold, 1, decodeFlapThreshold)
	d.launch(v, topicFlapBought, 1, decodeFlapTrade(false))
	d.launch(v, topicFlapSold, 1, decodeFlapTrade(true))
	d.launch(v, topicFlapLaunched, 1, d.decodeFlapLaunched)
	d.launch(v, topicFlapPool, 1, decodeFlapPool)
}

// decodeFlapCreated reads (ts, creator, nonce, token, name, symbol, meta).
func decodeFlapCreated(r *launchLog, venue string) market.Event {
	return market.Launched{
		Venue: venue, Creator: r.address(1), Token: r.named(r.address(3)),
		Name: r.name(4), Symbol: r.name(5), Metadata: r.reference(6),
		Curve: r.contract(), Rules: flapRules, Quote: market.Native, SaleBase: *flapSaleBase,
		Reserves: market.CurveReserves{RealBase: *flapSaleBase}, Tells: market.TellsBase | market.TellsQuote,
	}
}

func decodeFlapQuote(r *launchLog, venue string) market.Event {
	return market.CurveSet{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0)), Quote: r.address(1)}
}

// decodeFlapCurve reads (token, r, h, k), each with 18 decimals: with the supply s in circulation and the reserve e,
// (10^9 + h - s) (r + e) = k, so that the price is k / (10^9 + h - s)^2, here before the first trade.
func decodeFlapCurve(r *launchLog, venue string) market.Event {
	_ = r.amount(1)
	base, k := plusAmount(*flapSupply, r.amount(2)), r.amount(3)
	set := market.CurveSet{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0)), Tells: market.TellsPrice}
	var perBase market.Amount
	if _, over := perBase.MulDivOverflow(&k, flapUnit, &base); over {
		return nil
	}
	if _, over := set.State.Price.MulDivOverflow(&perBase, flapUnit, &base); over {
		return nil
	}
	return set
}

func decodeFlapThreshold(r *launchLog, venue string) market.Event {
	return market.CurveSet{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0)), SaleBase: r.amount(1)}
}

// decodeFlapTrade reads (ts, token, trader, amount, eth, fee, postPrice). eth has the fee in it either way: a buyer pays it, a
// seller gets it without the fee. postPrice is the quote for a whole token after the trade.
func decodeFlapTrade(sell bool) launchDecode {
	return func(r *launchLog, venue string) market.Event {
		gross := r.amount(4)
		net := r.less(gross, r.amount(5))
		t := market.CurveTrade{
			Venue: venue, Curve: r.contract(), Token: r.named(r.address(1)), Trader: r.address(2), Sell: sell,
			BaseAmount: r.amount(3), QuoteAmount: gross, Raised: net,
			After: market.CurveReserves{Price: r.amount(6)}, Tells: market.TellsPrice,
		}
		if sell {
			t.QuoteAmount, t.Raised = net, gross
		}
		return t
	}
}

// decodeFlapLaunched reads (token, pool, amount, eth). For a Uniswap V4 pool it names the PoolManager, which is no pool: the id
// is in FlapTokenCLPoolCreated.
func (d *Decoder) decodeFlapLaunched(r *launchLog, venue string) market.Event {
	_ = r.word(3)
	g := market.Graduated{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0))}
	pool := r.word(1)
	if _, manager := d.at[source{[20]byte(pool[12:]), TopicV4Initialize}]; !manager {
		g.Pool = poolIn(pool)
	}
	return g
}

// decodeFlapPool reads (token, poolId, sqrtPriceX96).
func decodeFlapPool(r *launchLog, venue string) market.Event {
	id := r.word(1)
	if id == [32]byte{} {
		return nil
	}
	return market.Graduated{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0)), Pool: market.PoolID(id)}
}
