// Package price turns pool states into prices and depths. Everything here is pure arithmetic in float64: inputs are
// exact integers, results carry a relative error below 1e-12.
package price

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// DepthMove is the price move within which a pool's depth is measured: 2 %.
const DepthMove = 0.02

const q96 = 1 << 96

// Pow10 is 10^d for a token's decimals.
func Pow10(d uint8) float64 { return math.Pow10(int(d)) }

// Whole is a raw amount in whole tokens.
func Whole(raw *market.Amount, decimals uint8) float64 { return raw.Float64() / Pow10(decimals) }

// Reserves is a V2-like pool seen from its base token. Amounts are whole tokens.
type Reserves struct{ Base, Quote float64 }

// ConstantProduct is price, depth and locked liquidity of an x·y=k pool (Uniswap V2 whitepaper, section 3). Price is 0
// for an empty pool.
func ConstantProduct(r Reserves) (price, depth, locked float64) {
	if r.Base <= 0 || r.Quote <= 0 {
		return 0, 0, 0
	}
	return r.Quote / r.Base, r.Quote * (1 - math.Sqrt(1-DepthMove)), 2 * r.Quote
}

// StableCurve is the same for Solidly's x³y+y³x=k (Solidly, BaseV1Pair._k). The marginal price, the ratio of the partial
// derivatives, hangs on r = y/x alone, and with k = x⁴(r+r³) so does the point at which it has fallen by DepthMove.
func StableCurve(r Reserves) (price, depth, locked float64) {
	if r.Base <= 0 || r.Quote <= 0 {
		return 0, 0, 0
	}
	ratio := r.Quote / r.Base
	price = marginalPrice(ratio)
	low, high := 0.0, ratio
	for range 100 {
		if mid := (low + high) / 2; marginalPrice(mid) < price*(1-DepthMove) {
			low = mid
		} else {
			high = mid
		}
	}
	moved := r.Base * math.Pow((ratio+ratio*ratio*ratio)/(high+high*high*high), 0.25)
	return price, max(r.Quote-high*moved, 0), r.Quote + min(r.Quote, r.Base*price)
}

func marginalPrice(r float64) float64 { return (3*r + r*r*r) / (1 + 3*r*r) }

// Concentrated is a V3-like pool.
type Concentrated struct {
	SqrtPriceX96                *market.Amount
	Liquidity                   *market.Amount
	Tick                        int32
	Ticks                       market.TickMap
	BaseIs0                     bool
	BaseDecimals, QuoteDecimals uint8
}

// Price is quote per base in whole tokens, from the square root of the raw price (Uniswap V3 whitepaper, section 6.1).
func (c Concentrated) Price() float64 {
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

// DepthAndLocked walks the tick map from the current price. Depth is the quote that comes out while the base's price
// falls by DepthMove; locked is all quote in range positions on the quote's side plus the base's side at the current
// price, the latter capped at the former. Both in whole quotes.
func (c Concentrated) DepthAndLocked() (depth, locked float64) {
	s := c.SqrtPriceX96.Float64() / q96
	if s == 0 {
		return 0, 0
	}
	// token1 lies below the current price and token0 above it.
	quoteUnit, baseUnit := Pow10(c.QuoteDecimals), Pow10(c.BaseDecimals)
	var quoteSide, baseSide float64
	if c.BaseIs0 {
		floor := s * math.Sqrt(1-DepthMove)
		depth, quoteSide = c.below(s, floor)
		_, baseSide = c.above(s, math.Inf(1))
	} else {
		ceil := s / math.Sqrt(1-DepthMove)
		depth, quoteSide = c.above(s, ceil)
		_, baseSide = c.below(s, 0)
	}
	depth, quoteSide = depth/quoteUnit, quoteSide/quoteUnit
	return depth, quoteSide + min(quoteSide, baseSide/baseUnit*c.Price())
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

// NanoUSD is the value of a raw quote amount in 1e-9 USD, rounded half to even once. ok is false when the price is
// unknown or the value does not fit 63 bits (9.2 billion USD): no honest trade is that large.
func NanoUSD(quote *market.Amount, decimals uint8, usd float64) (nano int64, ok bool) {
	if usd <= 0 {
		return 0, false
	}
	v := math.RoundToEven(quote.Float64() * usd * 1e9 / Pow10(decimals))
	if math.IsNaN(v) || v >= math.MaxInt64 {
		return 0, false
	}
	return int64(v), true
}

// Close is what a candle of a pool ended at, with its volumes.
type Close struct {
	USD, Native float64 // per whole base; Native in the chain's own coin
	// VolumeUSD and VolumeQuote are the candle's volume in USD and in whole quotes.
	VolumeUSD, VolumeQuote float64
}

// InQuote is the close in whole quotes; 0 when nothing tells it. native says that the quote is the chain's own coin, pegUSD what it is worth
// while it stands at its peg, else 0. The worth of another quote follows from the volume, which is counted in both: it is the minute's
// mean, near to what it was at the close.
func (c Close) InQuote(native bool, pegUSD float64) float64 {
	switch {
	case native:
		return c.Native
	case pegUSD > 0:
		return c.USD / pegUSD
	case c.VolumeUSD > 0:
		return c.USD * c.VolumeQuote / c.VolumeUSD
	default:
		return 0
	}
}
