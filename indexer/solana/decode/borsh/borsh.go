// Package borsh reads Borsh (borsh.io), the encoding of most programs' instructions and events on Solana.
package borsh

import (
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Reader reads what Borsh wrote: numbers with their lowest byte first, texts after their length. Events grow at their ends: what is read beyond an end is
// zero, and makes the reader bad.
type Reader struct {
	b []byte
	// Bad is true after a read beyond the end.
	Bad bool
}

// NewReader begins at the first byte.
func NewReader(b []byte) Reader { return Reader{b: b} }

// More reports whether anything is left: what an older program doesn't tell.
func (r *Reader) More() bool { return len(r.b) > 0 }

// Take gives the next bytes, and nil where there are fewer, or where a read before went beyond the end.
func (r *Reader) Take(n int) []byte {
	if r.Bad || n < 0 || n > len(r.b) {
		r.Bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// Skip passes over bytes.
func (r *Reader) Skip(n int) { r.Take(n) }

// SkipList passes over a list of items of a length.
func (r *Reader) SkipList(length int) {
	if p := r.Take(4); p != nil {
		r.Skip(length * int(min(binary.LittleEndian.Uint32(p), uint32(len(r.b)+1))))
	}
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if p := r.Take(1); p != nil {
		return p[0]
	}
	return 0
}

// Bool reads a byte, of which any but 0 is true.
func (r *Reader) Bool() bool { return r.Byte() != 0 }

// Uint64 reads a number of 64 bits.
func (r *Reader) Uint64() uint64 {
	if p := r.Take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// Amount reads an amount of 64 bits.
func (r *Reader) Amount() (a market.Amount) {
	a.SetUint64(r.Uint64())
	return a
}

// Uint128 reads an amount of 128 bits.
func (r *Reader) Uint128() market.Amount { return market.Amount{r.Uint64(), r.Uint64()} }

// Int128 reads a signed number of 128 bits.
func (r *Reader) Int128() market.SignedAmount {
	v := r.Uint128()
	if int64(v[1]) < 0 {
		v[2], v[3] = ^uint64(0), ^uint64(0)
	}
	return market.SignedFromTwos(v)
}

// Key reads an account's key.
func (r *Reader) Key() market.Address {
	if p := r.Take(32); p != nil {
		return market.SolanaAddress([32]byte(p))
	}
	return market.Address{}
}

// Bytes reads a text as it is.
func (r *Reader) Bytes() []byte {
	p := r.Take(4)
	if p == nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(p)
	if n > uint32(len(r.b)) {
		r.Bad = true
		return nil
	}
	return r.Take(int(n))
}
