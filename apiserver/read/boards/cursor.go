package boards

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Cursor is a place in an order of the board: just after the card that it names.
type Cursor struct {
	sort    Sort
	key     float64
	created uint32
	mint    market.Address
	chain   uint32
}

// compare orders as the board does, over all venues and chains.
func (c *Cursor) compare(o *Cursor) int {
	if c.key != o.key {
		return cmp.Compare(o.key, c.key)
	}
	return cmp.Or(cmp.Compare(c.created, o.created), c.mint.Compare(o.mint), cmp.Compare(c.chain, o.chain))
}

// chainTag is a chain's id in 24 bits. Two chains with one would have to have a launch at the same address, of the same second
// and with the same key, for anybody to notice.
func chainTag(id string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return h.Sum32() & 0xffffff
}

// A cursor has a head of 16 bytes, and then the mint: 20 bytes of an EVM address, or the 32 bytes of a Solana key without the byte that tells its
// kind. So it has at most 48 bytes, which are 64 characters of text.
const cursorHead, solanaKeyLen = 1 + 8 + 4 + 3, 32

// String is the cursor as callers pass it back: base64url without padding.
func (c *Cursor) String() string {
	b := make([]byte, 0, cursorHead+solanaKeyLen)
	b = append(b, cursorKind|byte(c.sort))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.key))
	b = binary.BigEndian.AppendUint32(b, c.created)
	b = append(b, byte(c.chain>>16), byte(c.chain>>8), byte(c.chain))
	mint := c.mint.Bytes()
	return base64.RawURLEncoding.EncodeToString(append(b, mint[max(0, len(mint)-solanaKeyLen):]...))
}

// cursorKind stands in the first byte, whose low bits are the sort.
const cursorKind = 0x10

// ParseCursor reads a cursor of an order; ok is false for what is none.
func ParseCursor(text string, by Sort) (c *Cursor, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < cursorHead || b[0] != cursorKind|byte(by) {
		return nil, false
	}
	var mint market.Address
	if raw := b[cursorHead:]; len(raw) == solanaKeyLen {
		mint = market.SolanaAddress([solanaKeyLen]byte(raw))
	} else {
		mint, err = market.AddressFromBytes(raw)
	}
	key := math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	if err != nil || math.IsNaN(key) || math.IsInf(key, 0) {
		return nil, false
	}
	return &Cursor{by, key, binary.BigEndian.Uint32(b[9:]), mint, uint32(b[13])<<16 | uint32(b[14])<<8 | uint32(b[15])}, true
}
