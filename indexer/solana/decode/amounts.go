package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// amountOf is a number as an amount.
func amountOf(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

// sum is a sum of amounts, which are of 64 bits.
func sum(list ...market.Amount) (out market.Amount) {
	for i := range list {
		out.Add(&out, &list[i])
	}
	return out
}

// less is a - b, and nought where b is more.
func less(a, b market.Amount) (out market.Amount) {
	if _, under := out.SubOverflow(&a, &b); under {
		out.Clear()
	}
	return out
}

func in(a market.Amount) market.SignedAmount { return market.SignedAmount{Abs: a} }

func out(a market.Amount) market.SignedAmount { return in(a).Negate() }
