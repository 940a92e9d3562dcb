package rpc

import (
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
