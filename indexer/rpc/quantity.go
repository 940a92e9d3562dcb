package rpc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// Quantity reads "0x…" into v.
func Quantity(v *uint64) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		n, err := ParseQuantity(raw)
		*v = n
		return err
	}
}

// ParseQuantity reads "0x…".
func ParseQuantity(raw []byte) (uint64, error) {
	if len(raw) < 5 || raw[0] != '"' || raw[1] != '0' || raw[2] != 'x' {
		return 0, fmt.Errorf("%w: %.40q is no quantity", ErrGarbage, raw)
	}
	n, err := strconv.ParseUint(string(raw[3:len(raw)-1]), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %.40q is no quantity", ErrGarbage, raw)
	}
	return n, nil
}

// HexQuantity writes "0x…".
func HexQuantity(n uint64) string { return "0x" + strconv.FormatUint(n, 16) }

// ParseBytes reads "0x…" into bytes, those of a number without leading zeros: zero has none. An odd count of digits is an error, but of a number.
func ParseBytes(raw json.RawMessage, number bool) ([]byte, error) {
	const prefix = `"0x`
	if len(raw) <= len(prefix) || string(raw[:len(prefix)]) != prefix {
		return nil, fmt.Errorf("%w: %.40q is no hex", ErrGarbage, raw)
	}
	digits := raw[len(prefix) : len(raw)-1]
	if number {
		if digits = bytes.TrimLeft(digits, "0"); len(digits)%2 == 1 {
			digits = append([]byte{'0'}, digits...)
		}
	}
	b := make([]byte, len(digits)/2)
	if _, err := hex.Decode(b, digits); err != nil {
		return nil, fmt.Errorf("%w: %.40q is no hex", ErrGarbage, raw)
	}
	return b, nil
}
