package market

import "github.com/holiman/uint256"

// Amount is a raw, unsigned 256-bit token amount in the token's smallest unit.
type Amount = uint256.Int

// SignedAmount is a raw amount with a sign: how Uniswap V3 and V4 report what a swap moved. Neg is false for zero.
type SignedAmount struct {
	Abs Amount
	Neg bool
}

// SignedFromWord reads a two's complement 256-bit word.
func SignedFromWord(word [32]byte) SignedAmount {
	var v Amount
	v.SetBytes32(word[:])
	return SignedFromTwos(v)
}

// SignedFromTwos reads v as a two's complement number.
func SignedFromTwos(v Amount) SignedAmount {
	if v.Sign() < 0 {
		var abs Amount
		abs.Neg(&v)
		return SignedAmount{Abs: abs, Neg: true}
	}
	return SignedAmount{Abs: v}
}

// Negate is the amount with the other sign.
func (s SignedAmount) Negate() SignedAmount {
	if s.Abs.IsZero() {
		return s
	}
	return SignedAmount{Abs: s.Abs, Neg: !s.Neg}
}

// IsZero reports whether the amount is nought.
func (s SignedAmount) IsZero() bool { return s.Abs.IsZero() }

// AddedTo is an amount after a change. Where less than nothing would be left it is nothing.
func (s SignedAmount) AddedTo(a Amount) Amount {
	if after := (SignedAmount{Abs: a}).Add(s); !after.Neg {
		return after.Abs
	}
	return Amount{}
}

// Add is s + o. A sum beyond 256 bits wraps, which no token's supply allows.
func (s SignedAmount) Add(o SignedAmount) SignedAmount {
	if s.Neg == o.Neg {
		var sum Amount
		sum.Add(&s.Abs, &o.Abs)
		return SignedAmount{Abs: sum, Neg: s.Neg && !sum.IsZero()}
	}
	var diff Amount
	if s.Abs.Lt(&o.Abs) {
		diff.Sub(&o.Abs, &s.Abs)
		return SignedAmount{Abs: diff, Neg: o.Neg}
	}
	diff.Sub(&s.Abs, &o.Abs)
	return SignedAmount{Abs: diff, Neg: s.Neg && !diff.IsZero()}
}
