package market

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/base58"
)

// Address names a contract, an account, a coin, a token or a pool of a chain of any family. The zero Address is "none": nobody on the other side
// of a mint or a burn, or nothing known.
//
// It is comparable, so it can be a map key. It orders by the length of its stored form, and then by that form's bytes.
type Address struct {
	kind AddressKind
	// b is what the kind needs: the 20 or 32 bytes of an address, id or key; of a curve of an EVM token its whole stored form, of another curve the
	// token's key.
	b [32]byte
}

// AddressKind is what an Address names.
type AddressKind uint8

// The kinds. A stored form is what Bytes gives, what a database keeps, and what two addresses are ordered by.
const (
	// NoAddress is the kind of the zero Address. Its stored form is empty.
	NoAddress AddressKind = iota
	// NativeCoin is the chain's own coin, stored as the 20 zero bytes by which Uniswap V4 and most launch venues name it.
	NativeCoin
	// EVMAccount is an account or a contract of an EVM chain, a token among them: its 20 bytes.
	EVMAccount
	// V4Pool is a Uniswap V4 pool: its 32-byte id.
	V4Pool
	// EVMCurve is the bonding curve of an EVM token: "bondingcurve" in ASCII, and the token's 20 bytes.
	EVMCurve
	// SolanaKey is an account of Solana, a token among them: a byte 1, and its 32 bytes.
	SolanaKey
	// SolanaCurve is the bonding curve of a Solana token: a byte 2, and the token's 32 bytes.
	SolanaCurve
)

// The lengths of stored forms, in bytes. Those of EVM chains have no byte for their kind.
const (
	EVMAddressLen = 20
	PoolIDLen     = 32
	SolanaLen     = 33
)

// The first bytes of the stored forms that begin with their kind.
const (
	storedSolanaKey   = 1
	storedSolanaCurve = 2
)

// Native is the chain's own coin where a log or a contract names it: pools and curves are kept under its wrapped form.
var Native = Address{kind: NativeCoin}

// curveTag tells the stored form of an EVM token's curve from a pool's id.
const curveTag = "bondingcurve"

// AddressFromBytes reads a stored form. It copies b.
func AddressFromBytes(b []byte) (a Address, err error) {
	switch len(b) {
	case EVMAddressLen:
		copy(a.b[:], b)
		a.kind = EVMAccount
		if a.b == [32]byte{} {
			a.kind = NativeCoin
		}
	case PoolIDLen:
		a = PoolID([PoolIDLen]byte(b))
	case SolanaLen:
		switch b[0] {
		case storedSolanaKey:
			a.kind = SolanaKey
		case storedSolanaCurve:
			a.kind = SolanaCurve
		default:
			return a, fmt.Errorf("address of %d bytes that begin with %d: the first must be %d or %d", SolanaLen, b[0], storedSolanaKey, storedSolanaCurve)
		}
		copy(a.b[:], b[1:])
	default:
		return a, fmt.Errorf("address of %d bytes: it must have %d, %d or %d", len(b), EVMAddressLen, PoolIDLen, SolanaLen)
	}
	return a, nil
}

// EVMAddress copies the last 20 bytes of a 32-byte EVM word. The zero address is Native.
func EVMAddress(word [32]byte) Address {
	a := Address{kind: EVMAccount}
	if copy(a.b[:], word[12:]); a.b == [32]byte{} {
		return Native
	}
	return a
}

// Drawn makes a pseudo-random address from a block's hash, of the same kind as like. A list is processed from that
// address on, so that nobody knows in advance which entry comes first.
func Drawn(by Hash, like Address) Address {
	if like.kind == SolanaKey {
		return SolanaAddress(by)
	}
	var word [32]byte
	copy(word[12:], by[:EVMAddressLen])
	return EVMAddress(word)
}

// EVMParty is EVMAddress where the zero address stands for nobody: the other side of a mint or a burn, or what a contract names that it doesn't have.
func EVMParty(word [32]byte) Address {
	if a := EVMAddress(word); a != Native {
		return a
	}
	return Address{}
}

// PoolID is what a 32-byte id names on an EVM chain: a Uniswap V4 pool, or a curve by its stored form.
func PoolID(id [32]byte) Address {
	if string(id[:len(curveTag)]) == curveTag {
		return Address{kind: EVMCurve, b: id}
	}
	return Address{kind: V4Pool, b: id}
}

// SolanaAddress is an account of Solana by its key.
func SolanaAddress(key [32]byte) Address { return Address{kind: SolanaKey, b: key} }

// CurveID is the id under which a token's bonding curve stands among the pools. Many tokens share one contract, so that the contract's address names no
// curve. It is none for what can't be a token.
func CurveID(mint Address) Address {
	switch mint.kind {
	case EVMAccount, NativeCoin: // a hostile log may name any address
		id := Address{kind: EVMCurve}
		copy(id.b[copy(id.b[:], curveTag):], mint.b[:EVMAddressLen])
		return id
	case SolanaKey:
		return Address{kind: SolanaCurve, b: mint.b}
	case NoAddress, V4Pool, EVMCurve, SolanaCurve:
	}
	return Address{}
}

// CurveMint is the token of a CurveID; ok is false for any other address.
func CurveMint(id Address) (mint Address, ok bool) {
	switch id.kind {
	case EVMCurve:
		var word [32]byte
		copy(word[len(curveTag):], id.b[len(curveTag):])
		return EVMAddress(word), true
	case SolanaCurve:
		return SolanaAddress(id.b), true
	case NoAddress, NativeCoin, EVMAccount, V4Pool, SolanaKey:
	}
	return Address{}, false
}

// ParseEVMAddress reads "0x" and 40 hexadecimal digits in any case.
func ParseEVMAddress(s string) (Address, error) {
	var word [32]byte
	if err := parseHex(word[12:], s); err != nil {
		return Address{}, err
	}
	return EVMAddress(word), nil
}

var errNoSolanaKey = errors.New("no Solana address: it must be base58 of 32 bytes, 32 to 44 characters")

// ParseSolanaAddress reads base58 of 32 bytes.
func ParseSolanaAddress(s string) (Address, error) {
	var key [32]byte
	if !base58.Decode(key[:], s) {
		return Address{}, fmt.Errorf("%.80q is %w", s, errNoSolanaKey)
	}
	return SolanaAddress(key), nil
}

// ParseMint reads the address of a token, of whichever family of chains it has the form. A chain's own coin has no such address.
func ParseMint(s string) (a Address, err error) {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		a, err = ParseEVMAddress(s)
	} else {
		a, err = ParseSolanaAddress(s)
	}
	if err == nil && a.IsNative() {
		return Address{}, errNativeMint
	}
	return a, err
}

var errNativeMint = errors.New("no token's address: it is that of the chain's own coin")

// curvePrefix begins the text of a Solana token's curve.
const curvePrefix = "curve:"

// ParseAddress reads what String wrote, hexadecimal digits in any case.
func ParseAddress(s string) (Address, error) {
	if len(s) == 2+2*PoolIDLen {
		var id [32]byte
		if err := parseHex(id[:], s); err != nil {
			return Address{}, err
		}
		return PoolID(id), nil
	}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return ParseEVMAddress(s)
	}
	if mint, ok := strings.CutPrefix(s, curvePrefix); ok {
		a, err := ParseSolanaAddress(mint)
		if err != nil {
			return Address{}, err
		}
		return CurveID(a), nil
	}
	a, err := ParseSolanaAddress(s)
	if err != nil {
		return a, fmt.Errorf("%.80q is no address: it must be 0x and %d or %d hexadecimal digits, or base58 of 32 bytes", s, 2*EVMAddressLen, 2*PoolIDLen)
	}
	return a, nil
}

// parseHex fills dst from "0x" and as many digits as it has room for.
func parseHex(dst []byte, s string) error {
	ok := len(s) == 2+2*len(dst) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')
	if ok {
		_, err := hex.Decode(dst, []byte(s[2:]))
		ok = err == nil
	}
	if !ok {
		clear(dst)
		return fmt.Errorf("%.80q is no address: it must be 0x and %d hexadecimal digits", s, 2*len(dst))
	}
	return nil
}

// Kind is what a names.
func (a Address) Kind() AddressKind { return a.kind }

// IsNone reports whether a is the zero Address, which names nothing.
func (a Address) IsNone() bool { return a.kind == NoAddress }

// IsNative reports whether a is the chain's own coin.
func (a Address) IsNative() bool { return a.kind == NativeCoin }

// Bytes is a copy of the stored form; nil for none.
func (a Address) Bytes() []byte {
	if a.kind == NoAddress {
		return nil
	}
	return a.AppendTo(nil)
}

// AppendTo appends the stored form to dst.
func (a Address) AppendTo(dst []byte) []byte {
	switch a.kind {
	case NativeCoin, EVMAccount:
		return append(dst, a.b[:EVMAddressLen]...)
	case V4Pool, EVMCurve:
		return append(dst, a.b[:]...)
	case SolanaKey:
		return append(append(slices.Grow(dst, SolanaLen), storedSolanaKey), a.b[:]...)
	case SolanaCurve:
		return append(append(slices.Grow(dst, SolanaLen), storedSolanaCurve), a.b[:]...)
	case NoAddress:
	}
	return dst
}

// rank orders the kinds as their stored forms are.
func (k AddressKind) rank() int {
	switch k {
	case NativeCoin, EVMAccount:
		return 1
	case V4Pool, EVMCurve:
		return 2
	case SolanaKey:
		return 3
	case SolanaCurve:
		return 4
	case NoAddress:
	}
	return 0
}

// Compare orders by the length of the stored form, then by its bytes; it gives the sign of a - o.
func (a Address) Compare(o Address) int {
	if d := a.kind.rank() - o.kind.rank(); d != 0 {
		return d
	}
	return bytes.Compare(a.b[:], o.b[:])
}

// String is lower-case hexadecimal with 0x on EVM chains, base58 on Solana, where a curve is "curve:" and its token; it is empty for none.
func (a Address) String() string {
	n := EVMAddressLen
	switch a.kind {
	case NoAddress:
		return ""
	case SolanaKey:
		return base58.Encode(a.b[:])
	case SolanaCurve:
		return curvePrefix + base58.Encode(a.b[:])
	case V4Pool, EVMCurve:
		n = PoolIDLen
	case NativeCoin, EVMAccount:
	}
	out := make([]byte, 2, 2+2*PoolIDLen)
	out[0], out[1] = '0', 'x'
	return string(hex.AppendEncode(out, a.b[:n]))
}

// MarshalText is String.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Address) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*a = Address{}
		return nil
	}
	*a, err = ParseAddress(string(b))
	return err
}
