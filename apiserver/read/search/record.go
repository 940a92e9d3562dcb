package search

import (
	"encoding/binary"
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// paged is an array that grows without moving what is in it, so that growing takes no longer the larger it is.
type paged[T any] struct{ pages []*[pageLen]T }

const (
	pageBits = 12
	pageLen  = 1 << pageBits
)

func (p *paged[T]) at(i uint32) *T { return &p.pages[i>>pageBits][i&(pageLen-1)] }

// hold makes room for i.
func (p *paged[T]) hold(i uint32) {
	for int(i>>pageBits) >= len(p.pages) {
		p.pages = append(p.pages, new([pageLen]T))
	}
}

// records keeps each token under a small number, its id, which is given out again after the token is removed.
type records struct {
	recs paged[record]
	// usd is apart because ranking reads nothing else of most tokens. It is never NaN nor negative.
	usd    paged[float32]
	arena  arena
	chains []chain
	// next is the first id never given out; freed is the head of the list of those given back, noID when it is empty.
	next, freed uint32
	live        int
}

// record is what is kept of a token beside its bytes in the arena: the mint, the ticker and the name.
type record struct {
	// ref is where the arena has the bytes; of a freed record it is the next freed id.
	ref   uint32
	chain uint16
	// shape is the ticker's length in bytes, and longMint where the mint is a Solana key.
	shape uint8
	name  uint8
}

type chain struct {
	id     string
	tokens int
}

const (
	longMint = 0x80
	noID     = math.MaxUint32
	// noChain marks freed records.
	noChain = math.MaxUint16
)

func (r record) mintLen() int {
	if r.shape&longMint != 0 {
		return market.SolanaLen
	}
	return market.EVMAddressLen
}

func (r record) tickerLen() int { return int(r.shape &^ longMint) }

func (r record) size() int { return r.mintLen() + r.tickerLen() + int(r.name) }

func (r *records) bytes(id uint32) (record, []byte) {
	rec := *r.recs.at(id)
	return rec, r.arena.at(rec.ref)
}

func (r *records) mint(id uint32) []byte {
	rec, b := r.bytes(id)
	return b[:rec.mintLen()]
}

// text is the ticker and the name, and how much of it is the ticker.
func (r *records) text(id uint32) (text []byte, ticker int) {
	rec, b := r.bytes(id)
	return b[rec.mintLen():rec.size()], rec.tickerLen()
}

// suffix gives the text from the offset off on, in the ticker or in the name behind it.
func (r *records) suffix(id uint32, off uint8) []byte {
	rec, b := r.bytes(id)
	from, ticker := rec.mintLen(), rec.tickerLen()
	if int(off) < ticker {
		return b[from+int(off) : from+ticker]
	}
	return b[from+int(off) : rec.size()]
}

func (r *records) chainOf(id uint32) string { return r.chains[r.recs.at(id).chain].id }

// before is the order among equally good matches: more liquidity first, then by chain and mint.
func (r *records) before(a, b uint32) bool {
	if x, y := *r.usd.at(a), *r.usd.at(b); x != y {
		return x > y
	}
	return r.beforeInName(a, b)
}

func (r *records) beforeInName(a, b uint32) bool {
	if r.recs.at(a).chain != r.recs.at(b).chain {
		return r.chainOf(a) < r.chainOf(b)
	}
	x, y := r.mint(a), r.mint(b)
	if len(x) != len(y) {
		return len(x) < len(y)
	}
	return string(x) < string(y)
}

func (r *records) hit(id uint32, m Match) Hit {
	// The length was checked when the token was put.
	mint, _ := market.AddressFromBytes(r.mint(id))
	return Hit{Chain: r.chainOf(id), Mint: mint, Match: m}
}

// chainNumber finds a chain's number.
func (r *records) chainNumber(id string) (uint16, bool) {
	for i, c := range r.chains {
		if c.tokens > 0 && c.id == id {
			return uint16(i), true
		}
	}
	return noChain, false
}

// holdChain finds a chain's number or gives it one; false when there are as many chains as numbers.
func (r *records) holdChain(id string) (uint16, bool) {
	if n, ok := r.chainNumber(id); ok {
		return n, true
	}
	for i := range r.chains {
		if r.chains[i].tokens == 0 {
			r.chains[i].id = id
			return uint16(i), true
		}
	}
	if len(r.chains) == noChain {
		return noChain, false
	}
	r.chains = append(r.chains, chain{id: id})
	return uint16(len(r.chains) - 1), true
}

// add keeps a token and gives it an id. The ticker and the name are at most tickerBytes and nameBytes long.
func (r *records) add(chain uint16, mint []byte, ticker, name string, usd float32) uint32 {
	rec := record{chain: chain, shape: uint8(len(ticker)), name: uint8(len(name))}
	if len(mint) == market.SolanaLen {
		rec.shape |= longMint
	}
	rec.ref = r.arena.alloc(rec.size())
	b := r.arena.at(rec.ref)
	n := copy(b, mint)
	n += copy(b[n:], ticker)
	copy(b[n:], name)

	id := r.freed
	if id != noID {
		r.freed = r.recs.at(id).ref
	} else {
		id = r.next
		r.next++
		r.recs.hold(id)
		r.usd.hold(id)
	}
	*r.recs.at(id) = rec
	*r.usd.at(id) = usd
	r.chains[chain].tokens++
	r.live++
	return id
}

// drop gives a token's id and bytes back.
func (r *records) drop(id uint32) {
	rec := r.recs.at(id)
	r.arena.free(rec.ref, rec.size())
	r.chains[rec.chain].tokens--
	r.live--
	*rec = record{ref: r.freed, chain: noChain}
	r.freed = id
}

// liquidity is usd as it is kept: rounded to 24 bits of precision, and what is no amount counts as none.
func liquidity(usd float64) float32 {
	if !(usd > 0) {
		return 0
	}
	return float32(usd)
}

// arena hands out short runs of bytes by number. Freed runs are reused for runs of the same length, rounded up to units.
type arena struct {
	slabs [][]byte
	// used is how many units of the last slab are handed out.
	used uint32
	// freed has, per length in units, the first freed run; its first bytes name the next one. 0 ends a list.
	freed [maxUnits + 1]uint32
}

const (
	unit      = 4
	slabBits  = 16
	slabUnits = 1 << slabBits
	// maxUnits is the longest run: a mint, a ticker and a name.
	maxUnits = (market.SolanaLen + tickerBytes + nameBytes + unit - 1) / unit
)

func (a *arena) at(ref uint32) []byte {
	return a.slabs[ref>>slabBits][ref%slabUnits*unit:]
}

func (a *arena) alloc(size int) uint32 {
	units := uint32(size+unit-1) / unit
	if ref := a.freed[units]; ref != 0 {
		a.freed[units] = binary.LittleEndian.Uint32(a.at(ref))
		return ref
	}
	if len(a.slabs) == 0 || a.used+units > slabUnits {
		a.slabs = append(a.slabs, make([]byte, slabUnits*unit))
		a.used = 0
		if len(a.slabs) == 1 {
			a.used = 1 // so that no run is number 0
		}
	}
	ref := uint32(len(a.slabs)-1)<<slabBits | a.used
	a.used += units
	return ref
}

func (a *arena) free(ref uint32, size int) {
	units := uint32(size+unit-1) / unit
	binary.LittleEndian.PutUint32(a.at(ref), a.freed[units])
	a.freed[units] = ref
}
