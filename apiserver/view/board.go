package view

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Board is the launch board at one moment. It is never changed.
type Board struct {
	// Version changes with the board.
	Version int64

	*publishedBoard
}

// publishedBoard is the board without the catalogue that says what of it is shown.
type publishedBoard struct {
	chains map[string]*BoardChain
	venues map[venueOn]*publishedVenue
	bodies *cardBodies
}

// EmptyBoard is a board of nothing.
func EmptyBoard(version int64) *Board {
	return &Board{version, &publishedBoard{bodies: newCardBodies()}}
}

// BoardChain is a chain as its cards need it.
type BoardChain struct {
	ID string
	// Ranked is its newest indexed block as of the last ranking.
	Ranked Stamp
	Stale  bool

	tag        uint32 // chainTag of ID
	index      *boardIndex
	usd        map[market.Address]market.QuotePrice
	usdChanged map[market.Address]Stamp
	hourUSD    map[market.Address]float64 // what the quote assets were worth an hour before
	usdNo      int64
}

// PageQuery selects a page of the board.
type PageQuery struct {
	Sort Sort
	// Launchpad and Chain are AllLaunchpads, OurLaunchpads or a filter, and AllBoardChains or a chain.
	Launchpad, Chain string
	Limit            int
	// After is the last card of the page before; nil begins at the top.
	After *Cursor
}

// Page is a page of the board.
type Page struct {
	Cards []Shown
	// Chains are those that it could have cards of and that are indexed, in the order of the catalogue.
	Chains []*BoardChain
	// AsOf is the newest of when its chains were ranked and its cards last changed; unix seconds, 0 when nothing is indexed.
	AsOf int64
	// Stale is true where the order shows launches of a stale chain.
	Stale bool
	// Next is where the next page begins; nil at the end.
	Next *Cursor
}

// venueOrder is what is left of one venue's order while a page is made of all venues' orders.
type venueOrder struct {
	launches *publishedVenue
	rows     []row
	on       *BoardChain
	venue    Venue
	head     Cursor // of the first row
}

// at is the place of a row.
func (s *venueOrder) at(r row) Cursor {
	return Cursor{key: r.key, created: r.created, mint: s.launches.cards.at(r.place).Launch.Mint, chain: s.on.tag}
}

// Page merges the orders of the wanted venues and chains into one.
func (s *Snapshot) Page(q PageQuery) Page {
	var out Page
	var last Cursor
	orders := s.venueOrders(q, s.chainsShown(q, &out))
	for len(orders) > 0 {
		best := 0
		for i := 1; i < len(orders); i++ {
			if orders[i].head.compare(&orders[best].head) < 0 {
				best = i
			}
		}
		if len(out.Cards) == q.Limit {
			last.sort = q.Sort
			out.Next = &last
			break
		}
		b := &orders[best]
		last = b.head
		card := s.shown(b.launches.cards.at(b.rows[0].place), b.on, b.venue)
		out.Cards, out.AsOf = append(out.Cards, card), max(out.AsOf, card.Changed(b.on).At)
		if b.rows = b.rows[1:]; len(b.rows) == 0 {
			orders = slices.Delete(orders, best, best+1)
		} else {
			b.head = b.at(b.rows[0])
		}
	}
	return out
}

// chainsShown are the chains whose launches a page shows; it notes in the page all that are asked for.
func (s *Snapshot) chainsShown(q PageQuery, out *Page) []*BoardChain {
	var moving []*BoardChain
	for i := range s.Catalog.Chains {
		id := s.Catalog.Chains[i].ID
		on := s.Board.chains[id]
		if on == nil || (q.Chain != AllBoardChains && q.Chain != id) {
			continue
		}
		now := s.asOfNow(on)
		out.Chains = append(out.Chains, now)
		out.AsOf = max(out.AsOf, on.Ranked.At)
		if !on.Stale {
			moving = append(moving, now)
		}
	}
	shown := out.Chains
	if (q.Sort == SortRunning || q.Sort == SortTrending) && len(moving) > 0 {
		shown = moving // scores go by chain time, so that a stale chain's launches would lead for good
	}
	out.Stale = s.failing() || len(shown) > len(moving)
	return shown
}

// asOfNow is a chain, which is stale as everything is while the database is away.
func (s *Snapshot) asOfNow(on *BoardChain) *BoardChain {
	if on.Stale || !s.failing() {
		return on
	}
	stale := *on
	stale.Stale = true
	return &stale
}

// venueOrders are the orders of the wanted venues and chains, from the cursor on.
func (s *Snapshot) venueOrders(q PageQuery, chains []*BoardChain) []venueOrder {
	var out []venueOrder
	for i := range s.Catalog.Venues {
		v := &s.Catalog.Venues[i]
		if q.Launchpad != AllLaunchpads && q.Launchpad != v.Filter && q.Launchpad != Launchpad(v) {
			continue
		}
		for _, on := range chains {
			venue, declared := s.Catalog.VenueOn(v.ID, on.ID)
			launches := s.Board.venues[venueOn{v.ID, on.ID}]
			if !declared || launches == nil {
				continue
			}
			k := venueOrder{launches: launches, rows: launches.orders[q.Sort], on: on, venue: venue}
			if q.After != nil {
				from, _ := slices.BinarySearchFunc(k.rows, q.After, func(r row, after *Cursor) int {
					at := k.at(r)
					return cmp.Or(at.compare(after), -1) // the row of the cursor itself comes before the page
				})
				k.rows = k.rows[from:]
			}
			if len(k.rows) > 0 {
				k.head = k.at(k.rows[0])
				out = append(out, k)
			}
		}
	}
	return out
}

// Launched finds the card of a launch; ok is false when the board doesn't keep it, or its venue or chain isn't declared.
func (s *Snapshot) Launched(chain string, mint market.Address) (c Shown, ok bool) {
	if s.Board == nil {
		return c, false
	}
	on := s.Board.chains[chain]
	if on == nil {
		return c, false
	}
	at, known := on.index.find(mint)
	launches := s.Board.venues[venueOn{at.venue, chain}]
	venue, declared := s.Catalog.VenueOn(at.venue, chain)
	if !known || !declared || launches == nil {
		return c, false
	}
	card := launches.cards.at(at.place)
	if card == nil || card.Launch.Mint != mint {
		return c, false // it has come or gone since
	}
	return s.shown(card, s.asOfNow(on), venue), true
}

// boardIndex has the entries of a chain's tokens, and finds the place of a launch on the board. Requests read it while the ranker changes it.
// When a chain is read anew its tokens get a new index, and the published board keeps the old one until the next board is published. The
// ranker reads the index without the lock, and takes the lock to change an entry's place.
type boardIndex struct {
	mu      sync.RWMutex
	entries map[market.Address]*entry
}

// placeOf is where a launch stands.
type placeOf struct {
	venue string
	place int32
}

func newBoardIndex() *boardIndex { return &boardIndex{entries: make(map[market.Address]*entry)} }

// find says where a launch stands. Any goroutine may ask.
func (x *boardIndex) find(mint market.Address) (at placeOf, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e := x.entries[mint]
	if e == nil || e.board == nil {
		return at, false
	}
	return placeOf{e.board.venue, e.place}, true
}

func (x *boardIndex) add(e *entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries[e.mint] = e
}

func (x *boardIndex) remove(mint market.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.entries, mint)
}

// put gives an entry a place on a venue's board.
func (x *boardIndex) put(e *entry, c *venueBoard) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c.put(e)
}

// drop takes an entry's place away. It must be in no order any more.
func (x *boardIndex) drop(e *entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e.board.drop(e)
}

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

// Of the 48 bytes that a cursor may have, 64 characters of text, a mint has 20 or 32: a Solana key stands there without its kind.
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
