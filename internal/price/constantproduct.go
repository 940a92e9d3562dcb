package price

import "math"

// ConstantProduct is an x·y=k pool (Uniswap V2 whitepaper, section 3).
type ConstantProduct struct{ Reserves Reserves }

// Quote is the zero Quote for an empty pool.
func (c ConstantProduct) Quote() Quote {
	r := c.Reserves
	base, quote := r.Base+r.VirtualBase, r.Quote+r.VirtualQuote
	if r.Base <= 0 || r.Quote <= 0 || base <= 0 || quote <= 0 {
		return Quote{}
	}
	q := Quote{Price: quote / base, Depth: quote * (1 - math.Sqrt(1-depthMove)), Locked: 2 * r.Quote}
	if r.VirtualBase != 0 || r.VirtualQuote != 0 {
		q.Depth, q.Locked = min(q.Depth, r.Quote), r.Quote+min(r.Quote, r.Base*q.Price)
	}
	return q
}
