package price

import "github.com/boardwalkhq/boardwalk/internal/market"

// State is what a pool holds, seen from its base token. There is one for each kind of pool: ConstantProduct, StableCurve, Concentrated and
// BondingCurve.
type State interface {
	Quote() Quote
}

// Quote is the valuation of a pool in its quote asset: price, depth and liquidity. It is not the quote asset itself.
type Quote struct {
	// Price is of one whole base in whole quotes; 0 while it is unknown, and of an empty pool.
	Price float64
	// Depth is the quote, in whole units, that sellers can take out while the price falls by depthMove.
	Depth float64
	// Locked is the pool's liquidity in whole quotes: the quote side and the base side at the pool's price, the latter counted no higher than the
	// former.
	Locked float64
}

// Reserves is a V2-like pool seen from its base token. Amounts are whole tokens.
type Reserves struct{ Base, Quote float64 }

// ReservesOf are those of a V2-like pool in whole tokens.
func ReservesOf(p *market.Pool, baseDecimals, quoteDecimals uint8) Reserves {
	base, quote := &p.Reserve0, &p.Reserve1
	if !p.BaseIs0 {
		base, quote = quote, base
	}
	return Reserves{Base: Whole(base, baseDecimals), Quote: Whole(quote, quoteDecimals)}
}
