package price

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// OneRange is a pool whose liquidity all lies in one range of prices, and that tells its price and its reserves (Meteora DAMM v2). Liquidity is in the program's
// unit, 2^-64; 0 where it isn't known, and of a pool that has no range.
type OneRange struct {
	Reserves                    Reserves
	SqrtPriceX96                *market.Amount
	Liquidity                   *market.Amount
	BaseIs0                     bool
	BaseDecimals, QuoteDecimals uint8
}

// Quote is the zero Quote for a pool without a price. The range needn't be known: at its end nothing is left of the quote, so that depth is what the liquidity gives out while
// the price falls by depthMove, or all that there is. Where the liquidity isn't known depth is as if the range had no ends: a narrower one is deeper.
func (o OneRange) Quote() Quote {
	price := Concentrated{SqrtPriceX96: o.SqrtPriceX96, BaseIs0: o.BaseIs0, BaseDecimals: o.BaseDecimals, QuoteDecimals: o.QuoteDecimals}.price()
	if price == 0 {
		return Quote{}
	}
	r := o.Reserves
	reach := r.Quote // as much quote as a range without ends has
	if !o.Liquidity.IsZero() {
		// The liquidity holds L·√P of the second token from the price 0 up to P, and L/√P of the first one from P on (the program's source, cp-amm, get_delta_amount_b and _a).
		reach = o.Liquidity.Float64() / (1 << 64)
		if s := o.SqrtPriceX96.Float64() / q96; o.BaseIs0 {
			reach *= s
		} else {
			reach /= s
		}
		reach /= Pow10(o.QuoteDecimals)
	}
	return Quote{Price: price, Depth: min(r.Quote, reach*(1-math.Sqrt(1-depthMove))), Locked: r.Quote + min(r.Quote, r.Base*price)}
}

// The least that a swap has to change of a pool of one range for its liquidity to follow from that to within 0.02 %: of the second token, in its smallest unit, and of the
// square root of the price, in units of 2^-64. The program rounds either.
const leastCrossed, leastRise = 10_000, 1 << 16

// LiquidityAfter is the liquidity after a swap of a pool that tells its price; the pool still has the price before it. V3-like pools tell their liquidity. That of a pool of one range
// follows from how far the swap moved the price, L = 2^128 Δb/Δ√P with √P in units of 2^-64. Where that is about the liquidity that is known, and where the swap tells none or is too
// small, the known one stays; without one it is 0.
func LiquidityAfter(p *market.Pool, e *market.Swap) (liquidity market.Amount) {
	if p.Protocol.Concentrated() {
		return e.Liquidity
	}
	if p.SqrtPriceX96.IsZero() || e.Crossed.LtUint64(leastCrossed) {
		return p.Liquidity
	}
	rise := market.SignedAmount{Abs: e.SqrtPriceX96}.Add(market.SignedAmount{Abs: p.SqrtPriceX96, Neg: true}).Abs
	if rise.Rsh(&rise, 32); rise.LtUint64(leastRise) {
		return p.Liquidity
	}
	liquidity.Lsh(&e.Crossed, 128)
	liquidity.Div(&liquidity, &rise)
	if known := p.Liquidity.Float64(); math.Abs(liquidity.Float64()-known) < 0.01*known {
		return p.Liquidity // what is known by sums is exact
	}
	return liquidity
}
