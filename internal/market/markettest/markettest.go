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
