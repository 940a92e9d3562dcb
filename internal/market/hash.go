package market

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// Hash is a block's hash.
type Hash [32]byte

// String is lower-case hexadecimal with 0x.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// IsZero reports whether every byte is zero: no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// ParseHash reads "0x" and 64 hexadecimal digits.
func ParseHash(s string) (h Hash, err error) {
	if err := parseHex(h[:], s); err != nil {
		return h, fmt.Errorf("%.80q is no hash: it must be 0x and 64 hexadecimal digits", s)
	}
	return h, nil
}

// TxID names a transaction: by the 32 bytes of its hash on an EVM chain, by the 64 bytes of its first signature on Solana. The zero TxID names none; a hash of
// zeros doesn't. It is comparable.
type TxID struct {
	n uint8
	b [64]byte
}

// EVMTx is the transaction with a hash.
func EVMTx(hash [32]byte) TxID {
	id := TxID{n: uint8(len(hash))}
	copy(id.b[:], hash[:])
	return id
}

// SolanaTx is the transaction with a first signature.
func SolanaTx(signature [64]byte) TxID { return TxID{n: uint8(len(signature)), b: signature} }

// TxIDFromBytes reads what AppendTo appended.
func TxIDFromBytes(b []byte) (id TxID, err error) {
	switch len(b) {
	case 0, len(Hash{}), len(id.b):
		id.n = uint8(len(b))
		copy(id.b[:], b)
		return id, nil
	default:
		return id, fmt.Errorf("a transaction of %d bytes: it must have 32 or 64", len(b))
	}
}

// ParseTx reads what String gives: 0x and 64 hexadecimal digits in any case, or the base58 of 64 bytes.
func ParseTx(s string) (id TxID, err error) {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		h, err := ParseHash("0x" + s[2:])
		return EVMTx(h), err
	}
	var signature [64]byte
	if !base58.Decode(signature[:], s) {
		return id, fmt.Errorf("%.100q is no transaction: it must be 0x and 64 hexadecimal digits, or the base58 of 64 bytes", s)
	}
	return SolanaTx(signature), nil
}

// IsNone reports whether id names no transaction.
func (id TxID) IsNone() bool { return id.n == 0 }

// AppendTo appends the 32 or 64 bytes to dst; nothing for none.
func (id TxID) AppendTo(dst []byte) []byte { return append(dst, id.b[:id.n]...) }

// String is lower-case hexadecimal with 0x on EVM chains, base58 on Solana; it is empty for none.
func (id TxID) String() string {
	switch int(id.n) {
	case 0:
		return ""
	case len(id.b):
		return base58.Encode(id.b[:])
	default:
		return "0x" + hex.EncodeToString(id.b[:id.n])
	}
}
