package decode

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// nad.fun's BondingCurve holds all its curves: constant product on virtual reserves, quoted in the native coin.
var (
	topicNadCreate   = topic("CurveCreate(address,address,address,string,string,string,uint256,uint256,uint256)")
	topicNadBuy      = topic("CurveBuy(address,address,uint256,uint256)")
	topicNadSell     = topic("CurveSell(address,address,uint256,uint256)")
	topicNadSync     = topic("CurveSync(address,uint256,uint256,uint256,uint256)")
	topicNadLocked   = topic("CurveTokenLocked(address)")
	topicNadGraduate = topic("CurveGraduate(address,address)")
	topicNadListed   = topic("CurveTokenListed(address,address)")
)

var nadFunRules = market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}

func (d *Decoder) nadFun(v venue) {
	d.launch(v, topicNadCreate, 4, decodeNadCreate)
	d.launch(v, topicNadBuy, 3, decodeNadTrade(false))
	d.launch(v, topicNadSell, 3, decodeNadTrade(true))
	d.launch(v, topicNadSync, 2, decodeNadSync)
	d.launch(v, topicNadLocked, 2, decodeNadLocked)
	d.launch(v, topicNadGraduate, 3, decodeNadGraduate)
	d.launch(v, topicNadListed, 3, decodeNadGraduate) // the same by its older name
}

// decodeNadCreate reads (name, symbol, tokenURI, virtualMon, virtualToken, targetTokenAmount); creator, token and pool are topics.
// The curve locks when its virtual tokens have come down to the target, so it sells what is between, and then holds what the
// constant product gives, to within its rounding. The pool is the one that the token moves to later, so it isn't the launch's.
func decodeNadCreate(r *launchLog, venue string) market.Event {
	quote, base, target := r.amount(3), r.amount(4), r.amount(5)
	sale := r.less(base, target)
	l := market.Launched{
		Venue: venue, Creator: r.topic(1), Token: r.named(r.topic(2)),
		Name: r.name(0), Symbol: r.name(1), Metadata: r.reference(2),
		Curve: r.contract(), Rules: nadFunRules, Quote: market.Native, SaleBase: sale,
		Reserves: market.CurveReserves{VirtualQuote: quote, VirtualBase: base, RealBase: sale},
		Tells:    tellsReserves,
	}
	l.TargetQuote = market.RaisedByAll(&quote, &sale, &target)
	return l
}

// decodeNadTrade reads (amountIn, amountOut) with the trader and the token as topics. The log tells nothing of the curve after
// the trade: derivation moves its reserves by these amounts, unless a CurveSync of the same transaction tells them.
func decodeNadTrade(sell bool) launchDecode {
	return func(r *launchLog, venue string) market.Event {
		in, out := r.amount(0), r.amount(1)
		t := market.CurveTrade{
			Venue: venue, Curve: r.contract(), Trader: r.topic(1), Token: r.named(r.topic(2)), Sell: sell,
			BaseAmount: out, QuoteAmount: in, Raised: in,
		}
		if sell {
			t.BaseAmount, t.QuoteAmount, t.Raised = in, out, out
		}
		return t
	}
}

// decodeNadSync reads (realMon, realToken, virtualMon, virtualToken) with the token as topic. The real tokens hold those for the
// pool too, so they don't say what is left for sale.
func decodeNadSync(r *launchLog, venue string) market.Event {
	_ = r.amount(1)
	return market.CurveSet{
		Venue: venue, Curve: r.contract(), Token: r.named(r.topic(1)),
		State: market.CurveReserves{RealQuote: r.amount(0), VirtualQuote: r.amount(2), VirtualBase: r.amount(3)},
		Tells: market.TellsVirtual | market.TellsQuote,
	}
}

func decodeNadLocked(r *launchLog, venue string) market.Event {
	return market.CurveCompleted{Venue: venue, Curve: r.contract(), Token: r.named(r.topic(1))}
}

func decodeNadGraduate(r *launchLog, venue string) market.Event {
	return market.Graduated{Venue: venue, Curve: r.contract(), Token: r.named(r.topic(1)), Pool: poolIn(r.l.Topics[2])}
}
