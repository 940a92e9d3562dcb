package search

import "github.com/boardwalkhq/boardwalk/internal/market"

// parseAddress reads an address as people paste it: 0x and 40 or 64 hexadecimal digits in any case, or base58 that
// stands for 32 bytes. Whitespace around it and invisible characters in it don't matter.
func parseAddress(q string) (market.Address, bool) {
	a, err := market.ParseAddress(squeeze(head(q)))
	return a, err == nil
}
