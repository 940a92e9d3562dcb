package price

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

const q96 = 1 << 96

// Concentrated is a V3-like pool.
type Concentrated struct {
	SqrtPriceX96                *market.Amount
	Liquidity                   *market.Amount
	Tick                        int32
	Ticks                       market.TickMap
	BaseIs0                     bool
	BaseDecimals, QuoteDecimals uint8
}

// Quote walks the tick map from the current price. Depth is the quote that comes out while the base's price falls by depthMove; locked is all
// quote in range positions on the quote's side plus the base's side at the current price, the latter capped at the former.
func (c Concentrated) Quote() Quote {
	depth, locked := c.depthAndLocked()
	return Quote{Price: c.price(), Depth: depth, Locked: locked}
}

// price is quote per base in whole tokens, from the square root of the raw price (Uniswap V3 whitepaper, section 6.1).
func (c Concentrated) price() float64 {
	s := c.SqrtPriceX96.Float64() / q96
	if s == 0 {
		return 0
	}
	raw := s * s // token1 per token0
	if !c.BaseIs0 {
		raw = 1 / raw
	}
	return raw * Pow10(c.BaseDecimals) / Pow10(c.QuoteDecimals)
}

// Sides walks the tick map for what all positions hold of either token at the current price, in the smallest units.
func (c Concentrated) Sides() (token0, token1 float64) {
	s := c.SqrtPriceX96.Float64() / q96
	if s == 0 {
		return 0, 0
	}
	_, token0 = c.above(s, math.Inf(1))
	_, token1 = c.below(s, 0)
	return token0, token1
}

// depthAndLocked are both in whole quotes.
func (c Concentrated) depthAndLocked() (depth, locked float64) {
	s := c.SqrtPriceX96.Float64() / q96
	if s == 0 {
		return 0, 0
	}
	// token1 lies below the current price and token0 above it.
	quoteUnit, baseUnit := Pow10(c.QuoteDecimals), Pow10(c.BaseDecimals)
	var quoteSide, baseSide float64
	if c.BaseIs0 {
		floor := s * math.Sqrt(1-depthMove)
		depth, quoteSide = c.below(s, floor)
		_, baseSide = c.above(s, math.Inf(1))
	} else {
		ceil := s / math.Sqrt(1-depthMove)
		depth, quoteSide = c.above(s, ceil)
		_, baseSide = c.below(s, 0)
	}
	depth, quoteSide = depth/quoteUnit, quoteSide/quoteUnit
	return depth, quoteSide + min(quoteSide, baseSide/baseUnit*c.price())
}

// below sums token1 between the current price s and the lowest tick; near is the part down to limit. Liquidity is summed
// as an integer: where it is nought, a residue of rounding must not pass for more or for less than nothing.
func (c Concentrated) below(s, limit float64) (near, all float64) {
	active := market.SignedAmount{Abs: *c.Liquidity}
	top := s
	for i := len(c.Ticks) - 1; i >= 0 && !active.Neg; i-- {
		t := c.Ticks[i]
		if t.Tick > c.Tick {
			continue
		}
		low, l := min(sqrtAt(t.Tick), top), active.Abs.Float64()
		all += l * (top - low)
		if top > limit {
			near += l * (top - max(low, limit))
		}
		top, active = low, active.Add(t.Net.Negate())
	}
	return near, all
}

// above sums token0 between the current price s and the highest tick; near is the part up to limit.
func (c Concentrated) above(s, limit float64) (near, all float64) {
	active := market.SignedAmount{Abs: *c.Liquidity}
	bottom := s
	for _, t := range c.Ticks {
		if t.Tick <= c.Tick || active.Neg {
			continue
		}
		high, l := max(sqrtAt(t.Tick), bottom), active.Abs.Float64()
		all += l * (1/bottom - 1/high)
		if bottom < limit {
			near += l * (1/bottom - 1/min(high, limit))
		}
		bottom, active = high, active.Add(t.Net)
	}
	return near, all
}

// lnTickBase is ln 1.0001, which is exact where 1.0001 itself is no double.
const lnTickBase = 9.99950003333083353331667e-05

// sqrtAt is the square root of the price at a tick: 1.0001^(tick/2).
func sqrtAt(tick int32) float64 { return math.Exp(float64(tick) * (lnTickBase / 2)) }
