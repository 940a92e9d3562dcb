package price

import "math"

// StableCurve is a pool of Solidly's x³y+y³x=k (Solidly, BaseV1Pair._k).
type StableCurve struct{ Reserves Reserves }

// Quote is the zero Quote for an empty pool. The marginal price, the ratio of the partial derivatives, hangs on r = y/x alone, and with k = x⁴(r+r³) so
// does the point at which it has fallen by depthMove.
func (c StableCurve) Quote() Quote {
	r := c.Reserves
	if r.Base <= 0 || r.Quote <= 0 {
		return Quote{}
	}
	ratio := r.Quote / r.Base
	price := marginalPrice(ratio)
	low, high := 0.0, ratio
	for range 100 {
		if mid := (low + high) / 2; marginalPrice(mid) < price*(1-depthMove) {
			low = mid
		} else {
			high = mid
		}
	}
	moved := r.Base * math.Pow((ratio+ratio*ratio*ratio)/(high+high*high*high), 0.25)
	return Quote{Price: price, Depth: max(r.Quote-high*moved, 0), Locked: r.Quote + min(r.Quote, r.Base*price)}
}

func marginalPrice(r float64) float64 { return (3*r + r*r*r) / (1 + 3*r*r) }
