package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// Pons v2: a factory announces tokens and their graduation; each token has a curve contract of its own that logs its trades.
var (
	topicPonsLaunched  = topic("TokenLaunched(address,address,address,address,uint256,uint256)")
	topicPonsSwept     = topic("LaunchSwept(address,uint256,uint256)")
	topicPonsGraduated = topic("PoolGraduated(address,uint256,uint256,uint256)")
	topicPonsBuy       = topic("CurveBuy(address,address,uint256,uint256,uint256,uint256)")
	topicPonsSell      = topic("CurveSell(address,address,uint256,uint256,uint256,uint256)")
	topicPonsBuyback   = topic("BuybackLocked(uint256,uint256)")
)

// ponsV2Rules: no log tells the virtual quote, so the price is that of the last trade.
var ponsV2Rules = market.CurveRules{Pricing: market.PriceExecuted, Basis: market.FundsRaised, FillsUp: true}

// ponsV2 binds a factory. The curves' events may come from any contract, since curves are made while we run: those of a contract
// that no factory announced are dropped when they are derived.
func (d *Decoder) ponsV2(v venue) {
	d.launch(v, topicPonsLaunched, 4, decodePonsLaunched)
	d.launch(v, topicPonsSwept, 2, decodePonsSwept)
	d.launch(v, topicPonsGraduated, 2, decodePonsGraduated)
	d.anywhere[topicPonsBuy] = launchDecoder("", 3, decodePonsBuy)
	d.anywhere[topicPonsSell] = launchDecoder("", 3, decodePonsSell)
	d.anywhere[topicPonsBuyback] = launchDecoder("", 1, decodePonsBuyback)
}

// decodePonsLaunched reads (pairToken, launchConfigId, graduationThreshold); token, curve and deployer are topics. The pair token
// is 0x0 for the native coin.
func decodePonsLaunched(r *launchLog, venue string) market.Event {
	return market.Launched{
		Venue: venue, Token: r.named(r.topic(1)), Curve: r.named(r.topic(2)), Creator: r.topic(3),
		Rules: ponsV2Rules, Quote: r.address(0), TargetQuote: r.amount(2), Tells: market.TellsQuote,
	}
}

// decodePonsBuy reads (quoteIn, tokensOut, fee, tax) with buyer and recipient as topics; quoteIn has fee and tax in it.
func decodePonsBuy(r *launchLog, _ string) market.Event {
	quote, fees := r.amount(0), plusAmount(r.amount(2), r.amount(3))
	return market.CurveTrade{
		Curve: r.contract(), Trader: r.topic(2), BaseAmount: r.amount(1), QuoteAmount: quote, Raised: r.less(quote, fees),
	}
}

// decodePonsSell reads (tokensIn, quoteOut, fee, tax) with seller and recipient as topics; fee and tax are off quoteOut already.
func decodePonsSell(r *launchLog, _ string) market.Event {
	quote, fees := r.amount(1), plusAmount(r.amount(2), r.amount(3))
	return market.CurveTrade{
		Curve: r.contract(), Trader: r.topic(1), Sell: true, BaseAmount: r.amount(0), QuoteAmount: quote,
		Raised: plusAmount(quote, fees),
	}
}

// decodePonsBuyback reads (quoteSpent, tokensLocked): the curve buys from itself with fees, which stay in it, and locks the
// tokens.
func decodePonsBuyback(r *launchLog, _ string) market.Event {
	spent := r.amount(0)
	return market.CurveTrade{
		Curve: r.contract(), Trader: r.contract(), BaseAmount: r.amount(1), QuoteAmount: spent, Raised: spent, Buyback: true,
	}
}

// decodePonsSwept reads (quoteOut, tokenOut): the factory emptied a full curve.
func decodePonsSwept(r *launchLog, venue string) market.Event {
	_ = r.word(1)
	return market.CurveCompleted{Venue: venue, Token: r.named(r.topic(1))}
}

// decodePonsGraduated reads (positionId, tokenAmount, pairAmount): the pool, on Uniswap V4, isn't named.
func decodePonsGraduated(r *launchLog, venue string) market.Event {
	_ = r.word(2)
	return market.Graduated{Venue: venue, Token: r.named(r.topic(1))}
}
