package decode

import (
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// body reads what Borsh wrote: numbers with their lowest byte first, texts after their length. Events grow at their ends: what is read beyond an end is
// zero, and makes the body bad.
type body struct {
	b   []byte
	bad bool
}

// more reports whether anything is left: what an older program doesn't tell.
func (b *body) more() bool { return len(b.b) > 0 }

func (b *body) take(n int) []byte {
	if b.bad || n < 0 || n > len(b.b) {
		b.bad = true
		return nil
	}
	out := b.b[:n]
	b.b = b.b[n:]
	return out
}

func (b *body) skip(n int) { b.take(n) }

// skipList passes over a list of items of a length.
func (b *body) skipList(length int) {
	if p := b.take(4); p != nil {
		b.skip(length * int(min(binary.LittleEndian.Uint32(p), uint32(len(b.b)+1))))
	}
}

func (b *body) byte() byte {
	if p := b.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (b *body) bool() bool { return b.byte() != 0 }

func (b *body) uint64() uint64 {
	if p := b.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (b *body) amount() (a market.Amount) {
	a.SetUint64(b.uint64())
	return a
}

func (b *body) uint128() market.Amount { return market.Amount{b.uint64(), b.uint64()} }

// int128 reads a signed number of 128 bits.
func (b *body) int128() market.SignedAmount {
	v := b.uint128()
	if int64(v[1]) < 0 {
		v[2], v[3] = ^uint64(0), ^uint64(0)
	}
	return market.SignedFromTwos(v)
}

// key reads an account's key.
func (b *body) key() market.Address {
	if p := b.take(32); p != nil {
		return market.SolanaAddress([32]byte(p))
	}
	return market.Address{}
}

// bytes reads a text as it is.
func (b *body) bytes() []byte {
	p := b.take(4)
	if p == nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(p)
	if n > uint32(len(b.b)) {
		b.bad = true
		return nil
	}
	return b.take(int(n))
}

// name reads a name or a symbol, reference where a token's description is.
func (b *body) name() string      { return chain.CleanText(string(b.bytes())) }
func (b *body) reference() string { return chain.CleanReference(b.bytes()) }

// amountOf is a number as an amount.
func amountOf(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

// sum is a sum of amounts, which are of 64 bits.
func sum(list ...market.Amount) (out market.Amount) {
	for i := range list {
		out.Add(&out, &list[i])
	}
	return out
}

// less is a - b, and nought where b is more.
func less(a, b market.Amount) (out market.Amount) {
	if _, under := out.SubOverflow(&a, &b); under {
		out.Clear()
	}
	return out
}

func in(a market.Amount) market.SignedAmount { return market.SignedAmount{Abs: a} }

func out(a market.Amount) market.SignedAmount { return in(a).Negate() }
