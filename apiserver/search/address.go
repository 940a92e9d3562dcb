package search

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// parseAddress reads an address as people paste it: 0x and 40 or 64 hexadecimal digits in any case, or base58 that
// stands for 32 bytes. Whitespace around it and invisible characters in it don't matter.
func parseAddress(q string) (market.Address, bool) {
	q = squeeze(head(q))
	if strings.HasPrefix(q, "0x") || strings.HasPrefix(q, "0X") {
		a, err := market.ParsePool(q)
		return a, err == nil
	}
	return parseBase58(q)
}

const (
	base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	// A value of 32 bytes has 32 digits when all of them are 0, and at most 44.
	base58Min, base58Max = 32, 44
)

// parseBase58 reads base58 of exactly 32 bytes: a leading 1 for each leading zero byte, then the number without any.
func parseBase58(s string) (market.Address, bool) {
	if len(s) < base58Min || len(s) > base58Max {
		return market.Address{}, false
	}
	var value [32]byte
	for i := range len(s) {
		carry := strings.IndexByte(base58Digits, s[i])
		if carry < 0 {
			return market.Address{}, false
		}
		for j := len(value) - 1; j >= 0; j-- {
			carry += 58 * int(value[j])
			value[j] = byte(carry)
			carry >>= 8
		}
		if carry > 0 {
			return market.Address{}, false
		}
	}
	ones, zeros := len(s)-len(strings.TrimLeft(s, "1")), 0
	for zeros < len(value) && value[zeros] == 0 {
		zeros++
	}
	if ones != zeros {
		return market.Address{}, false
	}
	a, err := market.AddressFromBytes(value[:])
	return a, err == nil
}
