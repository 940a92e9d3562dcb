package price

import "math"

// ConstantProduct is an x·y=k pool (Uniswap V2 whitepaper, section 3).
type ConstantProduct struct{ Reserves Reserves }

// Quote is the zero Quote for an empty pool.
func (c ConstantProduct) Quote() Quote {
	r := c.Reserves
	if r.Base <= 0 || r.Quote <= 0 {
		return Quote{}
	}
	return Quote{Price: r.Quote / r.Base, Depth: r.Quote * (1 - math.Sqrt(1-depthMove)), Locked: 2 * r.Quote}
}
