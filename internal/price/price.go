// Package price turns pool states into prices and depths. Everything here is pure arithmetic in float64: inputs are
// exact integers, results carry a relative error below 1e-12.
package price

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// depthMove is the price move within which a pool's depth is measured: 2 %.
const depthMove = 0.02

// Pow10 is 10^d for a token's decimals.
func Pow10(d uint8) float64 { return math.Pow10(int(d)) }

// Whole is a raw amount in whole tokens.
func Whole(raw *market.Amount, decimals uint8) float64 { return raw.Float64() / Pow10(decimals) }

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
