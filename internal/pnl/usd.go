package pnl

import (
	"math/bits"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// USD is a sum of money in 1e-9 USD.
type USD = market.USD

// Nano is v units of 1e-9 USD.
func Nano(v int64) USD { return market.NanoUSD(v) }

// maxFeeBps is a fee of everything.
const maxFeeBps = 10_000

// fee is so many basis points of a value that isn't negative, rounded half to even.
func fee(nano int64, bps uint16) int64 {
	const half = maxFeeBps / 2
	hi, lo := bits.Mul64(uint64(nano), uint64(min(bps, maxFeeBps)))
	quotient, rest := bits.Div64(hi, lo, maxFeeBps)
	if rest > half || (rest == half && quotient&1 == 1) {
		quotient++
	}
	return int64(quotient)
}
