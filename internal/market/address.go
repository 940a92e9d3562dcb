package market

import (
	"encoding/hex"
	"fmt"
)

// Address names a contract, an account, a Solana key or a pool. A 20-byte value is an EVM address; a 32-byte one is
// a Uniswap V4 pool id on an EVM chain. The zero Address is "none", which is not the EVM zero address.
//
// It is comparable, so it can be a map key, and it orders by length and then by bytes.
type Address struct {
	n uint8
	b [32]byte
}

// EVMAddressLen and PoolIDLen are the lengths, in bytes, that an Address on an EVM chain can have.
const (
	EVMAddressLen = 20
	PoolIDLen     = 32
)

// ZeroEVM is 0x000…000: the native coin in Uniswap V4, and the other side of an ERC-20 mint or burn.
var ZeroEVM = Address{n: EVMAddressLen}

// AddressFromBytes copies b, which must be 20 or 32 bytes long.
func AddressFromBytes(b []byte) (Address, error) {
	if len(b) != EVMAddressLen && len(b) != PoolIDLen {
		return Address{}, fmt.Errorf("address of %d bytes: it must have 20 or 32", len(b))
	}
	a := Address{n: uint8(len(b))}
	copy(a.b[:], b)
	return a, nil
}

// EVMAddress copies the last 20 bytes of a 32-byte EVM word.
func EVMAddress(word [32]byte) Address {
	a := Address{n: EVMAddressLen}
	copy(a.b[:], word[12:])
	return a
}

// PoolID is the 32-byte id of a Uniswap V4 pool.
func PoolID(word [32]byte) Address { return Address{n: PoolIDLen, b: word} }

// ParseEVMAddress reads "0x" and 40 hexadecimal digits in any case.
func ParseEVMAddress(s string) (Address, error) { return parseHex(s, EVMAddressLen) }

// ParsePool reads a pool's address ("0x" and 40 digits) or a Uniswap V4 pool id ("0x" and 64 digits).
func ParsePool(s string) (Address, error) {
	if len(s) == 2+2*PoolIDLen {
		return parseHex(s, PoolIDLen)
	}
	return parseHex(s, EVMAddressLen)
}

func parseHex(s string, n int) (Address, error) {
	if len(s) != 2+2*n || s[0] != '0' || (s[1] != 'x' && s[1] != 'X') {
		return Address{}, fmt.Errorf("%.80q is no address: it must be 0x and %d hexadecimal digits", s, 2*n)
	}
	a := Address{n: uint8(n)}
	if _, err := hex.Decode(a.b[:n], []byte(s[2:])); err != nil {
		return Address{}, fmt.Errorf("%.80q is no address: it must be 0x and %d hexadecimal digits", s, 2*n)
	}
	return a, nil
}

// IsNone reports whether a is the zero Address, which names nothing.
func (a Address) IsNone() bool { return a.n == 0 }

// IsZeroEVM reports whether a is the EVM zero address.
func (a Address) IsZeroEVM() bool { return a == ZeroEVM }

// Bytes is a copy of the 20 or 32 bytes; nil for none.
func (a Address) Bytes() []byte {
	if a.n == 0 {
		return nil
	}
	return append([]byte(nil), a.b[:a.n]...)
}

// AppendTo appends the bytes to dst.
func (a Address) AppendTo(dst []byte) []byte { return append(dst, a.b[:a.n]...) }

// Compare orders by length, then by bytes; it gives the sign of a - o.
func (a Address) Compare(o Address) int {
	if a.n != o.n {
		return int(a.n) - int(o.n)
	}
	for i := range a.b {
		if a.b[i] != o.b[i] {
			return int(a.b[i]) - int(o.b[i])
		}
	}
	return 0
}

// String is lower-case hexadecimal with 0x; empty for none.
func (a Address) String() string {
	if a.n == 0 {
		return ""
	}
	out := make([]byte, 2, 2+2*PoolIDLen)
	out[0], out[1] = '0', 'x'
	return string(hex.AppendEncode(out, a.b[:a.n]))
}

// MarshalText is String.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Address) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*a = Address{}
		return nil
	}
	*a, err = ParsePool(string(b))
	return err
}

// Hash is a block or transaction hash.
type Hash [32]byte

// String is lower-case hexadecimal with 0x.
func (h Hash) String() string { return "0x" + hex.EncodeToString(h[:]) }

// IsZero reports whether every byte is zero: no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// ParseHash reads "0x" and 64 hexadecimal digits.
func ParseHash(s string) (Hash, error) {
	a, err := parseHex(s, PoolIDLen)
	if err != nil {
		return Hash{}, fmt.Errorf("%.80q is no hash: it must be 0x and 64 hexadecimal digits", s)
	}
	return a.b, nil
}
