package market

import (
	"math"
	"math/big"
	"math/bits"
)

// USD is a sum of money in 1e-9 USD: 128 bits in two's complement, which no number of trades can fill, as each is worth less
// than 2^63. It is comparable.
type USD struct {
	hi int64
	lo uint64
}

// NanoUSD is v units of 1e-9 USD.
func NanoUSD(v int64) USD { return USD{v >> 63, uint64(v)} }

// Add is u + v.
func (u USD) Add(v USD) USD {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	return USD{u.hi + v.hi + int64(carry), lo}
}

// Sub is u - v.
func (u USD) Sub(v USD) USD {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	return USD{u.hi - v.hi - int64(borrow), lo}
}

// Sign is -1, 0 or 1.
func (u USD) Sign() int {
	switch {
	case u.hi < 0:
		return -1
	case u.hi == 0 && u.lo == 0:
		return 0
	default:
		return 1
	}
}

// Cmp is the sign of u - v.
func (u USD) Cmp(v USD) int { return u.Sub(v).Sign() }

// Dollars is the sum in whole USD, as near as a float64 comes.
func (u USD) Dollars() float64 {
	if u.hi == int64(u.lo)>>63 { // it fits 64 bits, which the usual way is exact for
		return float64(int64(u.lo)) / 1e9
	}
	return (math.Ldexp(float64(u.hi), 64) + float64(u.lo)) / 1e9
}

// Big is the number of 1e-9 USD.
func (u USD) Big() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(u.hi), 64)
	return v.Add(v, new(big.Int).SetUint64(u.lo))
}

// Share is u * part / whole, rounded half to even. u isn't negative, part is no more than whole, and whole isn't 0.
func (u USD) Share(part, whole *Amount) USD {
	if part.Eq(whole) {
		return u
	}
	x := Amount{u.lo, uint64(u.hi)}
	var quotient, rest, back Amount
	quotient.MulDivOverflow(&x, part, whole)
	// The remainder is below 2^256, so that the lower halves of the two products are enough for it.
	rest.Mul(&x, part)
	rest.Sub(&rest, back.Mul(&quotient, whole))
	switch up := rest.Cmp(back.Sub(whole, &rest)); {
	case up > 0, up == 0 && quotient[0]&1 == 1:
		quotient.AddUint64(&quotient, 1)
	}
	return USD{int64(quotient[1]), quotient[0]}
}

// Amount is the sum as an unsigned number of 1e-9 USD. The sum isn't negative.
func (u USD) Amount() Amount { return Amount{u.lo, uint64(u.hi)} }

// USDOf is a sum of so many 1e-9 USD; ok is false where they are too many for one.
func USDOf(nano *Amount) (sum USD, ok bool) {
	if nano[3] != 0 || nano[2] != 0 || int64(nano[1]) < 0 {
		return USD{}, false
	}
	return USD{int64(nano[1]), nano[0]}, true
}
