package view

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Board is the launch board at one moment. It is never changed.
type Board struct {
	// Version changes with the board.
	Version int64

	*shelves
}

// shelves are the board without the catalogue that says what of it is shown.
type shelves struct {
	chains map[string]*BoardChain
	cells  map[venueOn]*shelf
	// room is how many bytes of encoded cards may still be kept until the next ranking, which makes all cards anew.
	room *atomic.Int64
}

// EmptyBoard is a board of nothing.
func EmptyBoard(version int64) *Board { return &Board{version, &shelves{room: new(atomic.Int64)}} }

// cardRoom bounds the encoded cards of one ranking that are kept, in bytes.
const cardRoom = 32 << 20

// BoardChain is a chain as its cards need it.
type BoardChain struct {
	ID    string
	Block uint64
	AsOf  int64 // time of the newest indexed block; unix seconds
	Stale bool

	tag   uint32 // chainTag of ID
	index *boardIndex
	usd   map[market.Address]market.QuotePrice
	usdNo int64
}

// Card is a launch as the board has it. It is never changed: a change makes another.
type Card struct {
	Standing

	Chain  string
	Launch *Launched
	// Metadata is nil while none was fetched.
	Metadata *Metadata
	// Listed is false while the launch isn't valued in USD; then it is on no board.
	Listed bool

	facts   *facts
	encoded [2]atomic.Pointer[encodedCard] // with clones and without
}

type encodedCard struct {
	usdNo int64
	stale bool
	in    *Catalog
	body  []byte
}

func (b *book) card(e *entry) *Card {
	return &Card{Standing: e.shown, Chain: b.chain, Launch: e.launch, Metadata: e.meta, Listed: e.listed, facts: e.facts}
}

// Names are the launch's own, or else the token's.
func (c *Card) Names() (name, symbol string) { return namesOf(c.Launch, c.facts) }

// Figures are the token's at the prices of the chain.
func (c *Card) Figures(on *BoardChain) Figures {
	if c.facts == nil {
		return Figures{}
	}
	return c.facts.figures(on.usd)
}

// Holders is the count of holders; known is false while it isn't current, and status says how far it is.
func (c *Card) Holders(on *BoardChain) (count int64, known bool, status market.HolderStatus) {
	if c.facts == nil {
		return 0, false, market.HoldersNone
	}
	return c.facts.holders, c.facts.status == market.HoldersCurrent && !on.Stale, c.facts.status
}

// Shown is a card with what its answer follows from beside it.
type Shown struct {
	*Card

	On    *BoardChain
	Venue Venue
	in    *Catalog
	room  *atomic.Int64
}

// Encoded is the card's body, made by encode once for each change of what it follows from. It must not be changed.
func (c *Shown) Encoded(withClones bool, encode func() ([]byte, error)) ([]byte, error) {
	kept := &c.encoded[0]
	if withClones {
		kept = &c.encoded[1]
	}
	last := kept.Load()
	if last != nil && last.usdNo == c.On.usdNo && last.stale == c.On.Stale && last.in == c.in {
		return last.body, nil
	}
	body, err := encode()
	if err != nil {
		return nil, err
	}
	if last != nil || c.room.Add(-int64(len(body))) >= 0 {
		kept.Store(&encodedCard{c.On.usdNo, c.On.Stale, c.in, body})
	}
	return body, nil
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
	// AsOf is the time of the newest block in it; unix seconds, 0 when nothing is indexed.
	AsOf  int64
	Stale bool
	// Next is where the next page begins; nil at the end.
	Next *Cursor
}

// stack is an order of one cell on its way into a page.
type stack struct {
	shelf *shelf
	rows  []row
	on    *BoardChain
	venue Venue
	head  Cursor // of the first row
}

// at is the place of a row.
func (s *stack) at(r row) Cursor {
	return Cursor{key: r.key, created: r.created, mint: s.shelf.cards[r.place].Launch.Mint, chain: s.on.tag}
}

// Page deals the orders of the cells that are asked for into one.
func (s *Snapshot) Page(q PageQuery) Page {
	var out Page
	stacks := s.stacks(q, s.dealt(q, &out))
	for len(stacks) > 0 {
		best := 0
		for i := 1; i < len(stacks); i++ {
			if stacks[i].head.compare(&stacks[best].head) < 0 {
				best = i
			}
		}
		if len(out.Cards) == q.Limit {
			last := &out.Cards[q.Limit-1]
			out.Next = new(cursorOf(q.Sort, last.Card))
			break
		}
		b := &stacks[best]
		out.Cards = append(out.Cards, Shown{b.shelf.cards[b.rows[0].place], b.on, b.venue, s.Catalog, s.Board.room})
		if b.rows = b.rows[1:]; len(b.rows) == 0 {
			stacks = slices.Delete(stacks, best, best+1)
		} else {
			b.head = b.at(b.rows[0])
		}
	}
	return out
}

// dealt are the chains whose launches a page shows; it notes in the page all that are asked for.
func (s *Snapshot) dealt(q PageQuery, out *Page) []*BoardChain {
	var moving []*BoardChain
	for i := range s.Catalog.Chains {
		id := s.Catalog.Chains[i].ID
		on := s.Board.chains[id]
		if on == nil || (q.Chain != AllBoardChains && q.Chain != id) {
			continue
		}
		now := s.asOfNow(on)
		out.Chains = append(out.Chains, now)
		out.AsOf = max(out.AsOf, on.AsOf)
		if !on.Stale {
			moving = append(moving, now)
		}
	}
	out.Stale = s.failing() || (len(out.Chains) > 0 && len(moving) == 0)
	if (q.Sort == SortRunning || q.Sort == SortTrending) && len(moving) > 0 {
		return moving // scores go by chain time, so that what stands still would lead for good
	}
	return out.Chains
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

// stacks are the orders of the cells that are asked for, from the cursor on.
func (s *Snapshot) stacks(q PageQuery, chains []*BoardChain) []stack {
	var out []stack
	for i := range s.Catalog.Venues {
		v := &s.Catalog.Venues[i]
		if q.Launchpad != AllLaunchpads && q.Launchpad != v.Filter {
			continue
		}
		for _, on := range chains {
			venue, declared := s.Catalog.VenueOn(v.ID, on.ID)
			shelf := s.Board.cells[venueOn{v.ID, on.ID}]
			if !declared || shelf == nil {
				continue
			}
			k := stack{shelf: shelf, rows: shelf.orders[q.Sort], on: on, venue: venue}
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
	shelf := s.Board.cells[venueOn{at.venue, chain}]
	venue, declared := s.Catalog.VenueOn(at.venue, chain)
	if !known || !declared || shelf == nil || int(at.place) >= len(shelf.cards) {
		return c, false
	}
	card := shelf.cards[at.place]
	if card == nil || card.Launch.Mint != mint {
		return c, false // it has come or gone since
	}
	return Shown{card, s.asOfNow(on), venue, s.Catalog, s.Board.room}, true
}

// boardIndex says where the launches of a book stand. It is read while the book goes on; another book of the chain has
// another one, so that the shelves that are shown keep theirs until the next are.
type boardIndex struct {
	mu     sync.RWMutex
	places map[market.Address]placeOf
}

type placeOf struct {
	venue string
	place int32
}

func newBoardIndex() *boardIndex { return &boardIndex{places: make(map[market.Address]placeOf)} }

func (x *boardIndex) find(mint market.Address) (placeOf, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.places[mint]
	return at, ok
}

func (x *boardIndex) put(e *entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.places[e.mint] = placeOf{e.cell.venue, e.place}
}

func (x *boardIndex) drop(mint market.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.places, mint)
}

// Cursor is a place in an order of the board: just after the card that it names.
type Cursor struct {
	sort    Sort
	key     float64
	created uint32
	mint    market.Address
	chain   uint32
}

func cursorOf(by Sort, c *Card) Cursor {
	out := Cursor{sort: by, created: uint32(c.Launch.CreatedAt), mint: c.Launch.Mint, chain: chainTag(c.Chain)}
	switch by {
	case SortRunning, SortTrending:
		out.key = c.Score
	case SortNew:
		out.key = float64(c.Launch.CreatedAt)
	case SortProgress:
		out.key = c.Launch.Progress
	case SortGraduated:
		out.key = float64(c.Launch.GraduatedAt)
	case sorts: // how many there are
	}
	return out
}

// compare orders as the board does, over all cells.
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

// Of the 48 bytes that a cursor may have, 64 characters of text, a mint has 20 or 32.
const cursorHead = 1 + 8 + 4 + 3

// String is the cursor as callers pass it back: base64url without padding.
func (c *Cursor) String() string {
	b := make([]byte, 0, cursorHead+market.PoolIDLen)
	b = append(b, cursorKind|byte(c.sort))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.key))
	b = binary.BigEndian.AppendUint32(b, c.created)
	b = append(b, byte(c.chain>>16), byte(c.chain>>8), byte(c.chain))
	return base64.RawURLEncoding.EncodeToString(c.mint.AppendTo(b))
}

// cursorKind stands in the first byte, whose low bits are the sort.
const cursorKind = 0x10

// ParseCursor reads a cursor of an order; ok is false for what is none.
func ParseCursor(text string, by Sort) (c *Cursor, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < cursorHead || b[0] != cursorKind|byte(by) {
		return nil, false
	}
	mint, err := market.AddressFromBytes(b[cursorHead:])
	key := math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	if err != nil || math.IsNaN(key) || math.IsInf(key, 0) {
		return nil, false
	}
	return &Cursor{by, key, binary.BigEndian.Uint32(b[9:]), mint, uint32(b[13])<<16 | uint32(b[14])<<8 | uint32(b[15])}, true
}
