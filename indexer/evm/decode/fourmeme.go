package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// four.meme's TokenManager (V1, no new tokens since September 2024) and TokenManager2 (V2). No field is indexed. V1 takes the
// native coin alone; a curve of V2 takes that or a BEP-20 token, which its contract tells and no log before LiquidityAdded.
var (
	topicFourV1Create      = topic("TokenCreate(address,address,uint256,string,string,uint256,uint256)")
	topicFourV1Purchase    = topic("TokenPurchase(address,address,uint256,uint256)")
	topicFourV1Sale        = topic("TokenSale(address,address,uint256,uint256)")
	topicFourV1PurchaseFee = topic("TokenPurchase(address,address,uint256,uint256,uint256)")
	topicFourV1SaleFee     = topic("TokenSale(address,address,uint256,uint256,uint256)")

	topicFourCreate    = topic("TokenCreate(address,address,uint256,string,string,uint256,uint256,uint256)")
	topicFourPurchase  = topic("TokenPurchase(address,address,uint256,uint256,uint256,uint256,uint256,uint256)")
	topicFourSale      = topic("TokenSale(address,address,uint256,uint256,uint256,uint256,uint256,uint256)")
	topicFourStop      = topic("TradeStop(address)")
	topicFourLiquidity = topic("LiquidityAdded(address,uint256,address,uint256)")
)

// fourMemeV1Rules have no progress: no log tells how much the curve sells.
var (
	fourMemeV1Rules = market.CurveRules{Pricing: market.PriceExecuted}
	fourMemeV2Rules = market.CurveRules{Pricing: market.PricePosted, Basis: market.TokensSold, FillsUp: true}
)

func (d *Decoder) fourMemeV1(v venue) {
	create := decodeFourCreate(fourMemeV1Rules, market.Native)
	d.launch(v, topicFourV1Create, 1, create)
	d.launch(v, topicFourCreate, 1, create)
	d.launch(v, topicFourV1Purchase, 1, decodeFourV1Trade(false))
	d.launch(v, topicFourV1Sale, 1, decodeFourV1Trade(true))
	d.launch(v, topicFourV1PurchaseFee, 1, decodeFourV1Trade(false))
	d.launch(v, topicFourV1SaleFee, 1, decodeFourV1Trade(true))
	d.launch(v, topicFourStop, 1, decodeFourStop)
	d.launch(v, topicFourLiquidity, 1, decodeFourLiquidity)
}

func (d *Decoder) fourMemeV2(v venue) {
	d.launch(v, topicFourCreate, 1, decodeFourCreate(fourMemeV2Rules, market.Address{}))
	d.launch(v, topicFourPurchase, 1, decodeFourTrade(false))
	d.launch(v, topicFourSale, 1, decodeFourTrade(true))
	d.launch(v, topicFourStop, 1, decodeFourStop)
	d.launch(v, topicFourLiquidity, 1, decodeFourLiquidity)
}

// decodeFourCreate reads (creator, token, requestId, name, symbol, totalSupply, launchTime), and a launchFee that is no matter
// of ours.
func decodeFourCreate(rules market.CurveRules, quote market.Address) launchDecode {
	return func(r *launchLog, venue string) market.Event {
		return market.Launched{
			Venue: venue, Creator: r.address(0), Token: r.named(r.address(1)), Name: r.name(3), Symbol: r.name(4),
			Curve: r.contract(), Rules: rules, Quote: quote,
		}
	}
}

// decodeFourV1Trade reads (token, account, tokenAmount, etherAmount). A later form has a fee at its end; whether etherAmount
// holds it isn't known, so it is left out of both.
func decodeFourV1Trade(sell bool) launchDecode {
	return func(r *launchLog, venue string) market.Event {
		quote := r.amount(3)
		return market.CurveTrade{
			Venue: venue, Curve: r.contract(), Token: r.named(r.address(0)), Trader: r.address(1), Sell: sell,
			BaseAmount: r.amount(2), QuoteAmount: quote, Raised: quote,
		}
	}
}

// decodeFourTrade reads (token, account, price, amount, cost, fee, offers, funds). cost is what the curve keeps or gives, without
// the fee; price, offers (left for sale) and funds (raised) are those after the trade.
func decodeFourTrade(sell bool) launchDecode {
	return func(r *launchLog, venue string) market.Event {
		cost, fee := r.amount(4), r.amount(5)
		t := market.CurveTrade{
			Venue: venue, Curve: r.contract(), Token: r.named(r.address(0)), Trader: r.address(1), Sell: sell,
			BaseAmount: r.amount(3), Raised: cost,
			After: market.CurveReserves{Price: r.amount(2), RealBase: r.amount(6), RealQuote: r.amount(7)},
			Tells: market.TellsPrice | market.TellsBase | market.TellsQuote,
		}
		if sell {
			t.QuoteAmount = r.less(cost, fee)
		} else {
			t.QuoteAmount = plusAmount(cost, fee)
		}
		return t
	}
}

func decodeFourStop(r *launchLog, venue string) market.Event {
	return market.CurveCompleted{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0))}
}

// decodeFourLiquidity reads (base, offers, quote, funds): the pool isn't named.
func decodeFourLiquidity(r *launchLog, venue string) market.Event {
	_ = r.word(3)
	return market.Graduated{Venue: venue, Curve: r.contract(), Token: r.named(r.address(0))}
}
