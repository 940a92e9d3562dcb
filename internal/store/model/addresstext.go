package model

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// In former images and facts an address is a text that begins with its kind:
//
//	evm:0x and 40 digits     an account or a contract of an EVM chain, or its native coin
//	pool:0x and 64 digits    a Uniswap V4 pool
//	solana: and a key        an account of Solana, in base58
//	curve: and a token       a bonding curve, by the text of its token's address
//
// Digits are lower-case hexadecimal. No address is null, and an empty text in a column that takes no NULL.
const (
	evmKind    = "evm:0x"
	poolKind   = "pool:0x"
	solanaKind = "solana:"
	curveKind  = "curve:"
)

// appendAddress appends the text of an address that a column has as bytes; no bytes are an empty text.
func appendAddress(dst, column []byte) ([]byte, error) {
	switch len(column) {
	case 0: // nobody, in a column that takes no NULL
		return dst, nil
	case market.EVMAddressLen:
		return hex.AppendEncode(append(dst, evmKind...), column), nil
	case market.PoolIDLen:
		if mint, ok := market.CurveMint(market.PoolID([market.PoolIDLen]byte(column))); ok {
			return hex.AppendEncode(append(append(dst, curveKind...), evmKind...), mint.Bytes()), nil
		}
		return hex.AppendEncode(append(dst, poolKind...), column), nil
	case market.SolanaLen:
		a, err := market.AddressFromBytes(column)
		if err != nil {
			return nil, err
		}
		if mint, ok := market.CurveMint(a); ok {
			dst, a = append(dst, curveKind...), mint
		}
		return append(append(dst, solanaKind...), a.String()...), nil
	default:
		return nil, fmt.Errorf("an address of %d bytes has no text", len(column))
	}
}

// parseAddress reads what appendAddress wrote, into bytes as a column has them.
func parseAddress(text []byte) ([]byte, error) {
	if len(text) == 0 {
		return []byte{}, nil
	}
	if digits, ok := bytes.CutPrefix(text, []byte(evmKind)); ok {
		return parseDigits(digits, market.EVMAddressLen)
	}
	if digits, ok := bytes.CutPrefix(text, []byte(poolKind)); ok {
		return parseDigits(digits, market.PoolIDLen)
	}
	if key, ok := bytes.CutPrefix(text, []byte(solanaKind)); ok {
		a, err := market.ParseSolanaAddress(string(key))
		return a.Bytes(), err
	}
	if token, ok := bytes.CutPrefix(text, []byte(curveKind)); ok {
		if !bytes.HasPrefix(token, []byte(evmKind)) && !bytes.HasPrefix(token, []byte(solanaKind)) {
			return nil, fmt.Errorf("%.80q is the curve of a token of a kind that this binary doesn't know", text)
		}
		b, err := parseAddress(token)
		if err != nil {
			return nil, err
		}
		mint, err := market.AddressFromBytes(b)
		if err != nil {
			return nil, err
		}
		return market.CurveID(mint).Bytes(), nil
	}
	return nil, fmt.Errorf("%.80q is an address of a kind that this binary doesn't know", text)
}

func parseDigits(digits []byte, n int) ([]byte, error) {
	if len(digits) != 2*n {
		return nil, fmt.Errorf("%.80q is no address: it must have %d hexadecimal digits", digits, 2*n)
	}
	out := make([]byte, n)
	if _, err := hex.Decode(out, digits); err != nil {
		return nil, fmt.Errorf("%.80q is no address: it must have %d hexadecimal digits", digits, 2*n)
	}
	return out, nil
}

// AddressText is an address in the JSON of a fact. None is the empty text.
type AddressText struct{ market.Address }

// MarshalText writes kind and digits.
func (a AddressText) MarshalText() ([]byte, error) {
	if a.IsNone() {
		return nil, nil
	}
	return appendAddress(nil, a.Bytes())
}

// UnmarshalText reads what MarshalText wrote.
func (a *AddressText) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		a.Address = market.Address{}
		return nil
	}
	b, err := parseAddress(text)
	if err != nil {
		return err
	}
	a.Address, err = market.AddressFromBytes(b)
	return err
}
