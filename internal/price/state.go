package price

import "github.com/boardwalkhq/boardwalk/internal/market"

// State is what a pool holds, seen from its base token. There is one for each kind of pool: ConstantProduct, StableCurve, Concentrated, OneRange
// and BondingCurve.
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

// Reserves is a pool of two reserves seen from its base token. Amounts are whole tokens.
type Reserves struct {
	Base, Quote float64
	// VirtualBase and VirtualQuote count for the price alone: nobody can take them out. They may be negative.
	VirtualBase, VirtualQuote float64
}

// ReservesOf gives the reserves of a pool of two reserves, in whole tokens.
func ReservesOf(p *market.Pool, baseDecimals, quoteDecimals uint8) Reserves {
	virtual := func(decimals uint8) float64 {
		if p.Virtual1.Neg {
			return -Whole(&p.Virtual1.Abs, decimals)
		}
		return Whole(&p.Virtual1.Abs, decimals)
	}
	if p.BaseIs0 {
		return Reserves{Base: Whole(&p.Reserve0, baseDecimals), Quote: Whole(&p.Reserve1, quoteDecimals), VirtualQuote: virtual(quoteDecimals)}
	}
	return Reserves{Base: Whole(&p.Reserve1, baseDecimals), Quote: Whole(&p.Reserve0, quoteDecimals), VirtualBase: virtual(baseDecimals)}
}
