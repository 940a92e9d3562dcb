package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// The platform's own curve contract: one holds all curves of its chain. docs/venues.md is its interface.
var (
	topicBoardwalkLaunched = topic(
		"TokenLaunched(address,address,string,string,string,address,uint256,uint256,uint256,uint256,uint16)")
	topicBoardwalkTrade = topic(
		"CurveTrade(address,address,bool,uint256,uint256,uint256,uint256,uint256,uint256,uint256)")
	topicBoardwalkCompleted = topic("CurveCompleted(address,uint256)")
	topicBoardwalkGraduated = topic("TokenGraduated(address,bytes32,uint256,uint256)")
)

var boardwalkRules = market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}

const tellsReserves = market.TellsVirtual | market.TellsBase | market.TellsQuote

func (d *Decoder) boardwalkCurve(v venue) {
	d.launch(v, topicBoardwalkLaunched, 3, decodeBoardwalkLaunched)
	d.launch(v, topicBoardwalkTrade, 3, decodeBoardwalkTrade)
	d.launch(v, topicBoardwalkCompleted, 2, decodeBoardwalkCompleted)
	d.launch(v, topicBoardwalkGraduated, 3, decodeBoardwalkGraduated)
}

// decodeBoardwalkLaunched reads (name, symbol, metadata, quote, virtualBase, virtualQuote, saleBase, targetQuote, feeBps);
// token and creator are topics.
func decodeBoardwalkLaunched(r *launchLog, venue string) market.Event {
	sale, fee := r.amount(6), r.amount(8)
	if !fee.IsUint64() || fee.Uint64() > 10_000 {
		return nil
	}
	return market.Launched{
		Venue: venue, Token: r.named(r.topic(1)), Creator: r.topic(2),
		Name: r.name(0), Symbol: r.name(1), Metadata: r.reference(2),
		Curve: r.contract(), Rules: boardwalkRules, Quote: r.address(3), SaleBase: sale, TargetQuote: r.amount(7),
		Reserves: market.CurveReserves{VirtualBase: r.amount(4), VirtualQuote: r.amount(5), RealBase: sale},
		Tells:    tellsReserves, FeeBps: uint32(fee.Uint64()),
	}
}

// decodeBoardwalkTrade reads (sell, baseAmount, quoteAmount, fee, virtualBase, virtualQuote, realBase, realQuote); token and
// trader are topics. quoteAmount is what the trader paid, fee included, or got, fee taken off; the reserves are those after the
// trade.
func decodeBoardwalkTrade(r *launchLog, venue string) market.Event {
	t := market.CurveTrade{
		Venue: venue, Curve: r.contract(), Token: r.named(r.topic(1)), Trader: r.topic(2),
		Sell: r.flag(0), BaseAmount: r.amount(1), QuoteAmount: r.amount(2),
		After: market.CurveReserves{
			VirtualBase: r.amount(4), VirtualQuote: r.amount(5), RealBase: r.amount(6), RealQuote: r.amount(7),
		},
		Tells: tellsReserves,
	}
	if fee := r.amount(3); t.Sell {
		t.Raised = plusAmount(t.QuoteAmount, fee)
	} else {
		t.Raised = r.less(t.QuoteAmount, fee)
	}
	return t
}

func decodeBoardwalkCompleted(r *launchLog, venue string) market.Event {
	return market.CurveCompleted{Venue: venue, Curve: r.contract(), Token: r.named(r.topic(1))}
}

func decodeBoardwalkGraduated(r *launchLog, venue string) market.Event {
	return market.Graduated{Venue: venue, Curve: r.contract(), Token: r.named(r.topic(1)), Pool: poolIn(r.l.Topics[2])}
}
