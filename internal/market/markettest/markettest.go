// Package markettest makes domain values of text for tests.
package markettest

import "github.com/boardwalkhq/boardwalk/internal/market"

// Address is the address that a text names, whatever the family; none for the empty text. It panics for any other text that names none.
func Address(text string) (a market.Address) {
	if err := a.UnmarshalText([]byte(text)); err != nil {
		panic(err) //nolint:forbidigo // a test's own constant is wrong
	}
	return a
}

// Addresses parses addresses.
func Addresses(texts ...string) []market.Address {
	out := make([]market.Address, len(texts))
	for i, text := range texts {
		out[i] = Address(text)
	}
	return out
}

// Ladder gives n ranges, each beginning where the one before ends, and each with another liquidity.
func Ladder(from, spacing int32, n int) (ranges []market.RangeLiquidity) {
	for i := range n {
		lower := from + int32(i)*spacing
		ranges = append(ranges, Range(lower, lower+spacing, uint64(i+1)))
	}
	return ranges
}

// Range is liquidity between two ticks.
func Range(lower, upper int32, liquidity uint64) market.RangeLiquidity {
	r := market.RangeLiquidity{TickLower: lower, TickUpper: upper}
	r.Delta.Abs.SetUint64(liquidity)
	return r
}

// SignedWord is a signed amount as an ABI word, which is its two's complement.
func SignedWord(v market.SignedAmount) [32]byte {
	word := v.Abs
	if v.Neg {
		word.Neg(&word)
	}
	return word.Bytes32()
}
