package boards

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Sort is an order of the launch board.
type Sort uint8

// The orders.
const (
	SortRunning Sort = iota
	SortNew
	SortTrending
	SortProgress
	SortGraduated
	sorts
)

// trendingUSD is the least liquidity of a card in Trending.
const trendingUSD = 500

// row is a card's place in an order. The order is by key, the larger first, then the older first, then by mint and chain.
type row struct {
	key     float64
	created uint32 // unix seconds
	place   int32
}

// venueBoard is the part of the board that is one venue's on one chain. Its slices are shared with readers once they are in a
// publishedVenue: they are never changed then, but replaced.
type venueBoard struct {
	tokens    *chainTokens
	venue     string
	entries   []*entry // by place; nil is free
	free      []int32
	cards     cardTable
	orders    [sorts][]row
	published *publishedVenue // what readers have; nil when it isn't that any more

	touched []*entry
	isTouch []bool // by place: it is among touched
	kept    []row  // scratch
}

// publishedVenue is a venueBoard as readers have it. It is never changed.
type publishedVenue struct {
	cards  cards
	orders [sorts][]row
}

// cards are cards by place, in parts, so that changing a few doesn't copy all.
type cards []*[cardsInPart]*Card

const cardsInPart = 256

// at is the card at a place; nil where there is none.
func (c cards) at(place int32) *Card {
	if part := int(place) / cardsInPart; part < len(c) {
		return c[part][place%cardsInPart]
	}
	return nil
}

// cardTable are cards that change. Parts that readers have are replaced.
type cardTable struct {
	cards

	shared bool   // readers have the parts
	own    []bool // by part: it was made since, so that no reader has it
}

func (t *cardTable) set(place int32, c *Card) {
	if t.shared {
		t.cards, t.shared = slices.Clone(t.cards), false
		clear(t.own)
	}
	part := int(place) / cardsInPart
	for part >= len(t.cards) {
		t.cards, t.own = append(t.cards, new([cardsInPart]*Card)), append(t.own, true)
	}
	if !t.own[part] {
		t.cards[part], t.own[part] = new(*t.cards[part]), true
	}
	t.cards[part][place%cardsInPart] = c
}

// share gives the cards as they are now.
func (t *cardTable) share() cards {
	t.shared = true
	return t.cards
}

// put gives an entry a place.
func (c *venueBoard) put(e *entry) {
	if n := len(c.free); n > 0 {
		e.place, c.free = c.free[n-1], c.free[:n-1]
		c.entries[e.place] = e
	} else {
		e.place = int32(len(c.entries))
		c.entries = append(c.entries, e)
		c.isTouch = append(c.isTouch, false)
	}
	e.board = c
	c.set(e.place, nil)
}

// drop takes an entry's place away. It must be in no order any more.
func (c *venueBoard) drop(e *entry) {
	c.set(e.place, nil)
	c.entries[e.place] = nil
	c.free = append(c.free, e.place)
	e.board = nil
}

// set puts a card in its place.
func (c *venueBoard) set(place int32, card *Card) {
	c.cards.set(place, card)
	c.published = nil
}

// reorder brings the touched entries to where they belong, in each order that it matters to, and reports whether Running is
// one of them. Its cost is that of a walk over those orders, and of sorting what has moved.
func (c *venueBoard) reorder() (running bool) {
	for s := range sorts {
		moved := false
		for _, e := range c.touched {
			key, in := e.member(s)
			moved = moved || in != e.in[s] || (in && key != e.keys[s])
		}
		if moved {
			c.orders[s] = c.merged(s)
			c.published = nil
			running = running || s == SortRunning
		}
	}
	return running
}

// merged is an order with the touched entries where they belong. What is out of order is taken out in pairs, of which one at
// least has moved; what is left is in order, and the rest is sorted and merged into it.
func (c *venueBoard) merged(s Sort) []row {
	for _, e := range c.touched {
		c.isTouch[e.place] = true
	}
	kept, loose := c.kept[:0], []row(nil)
	for _, r := range c.orders[s] {
		if c.isTouch[r.place] {
			e := c.entries[r.place]
			c.isTouch[r.place] = false
			if e.keys[s], e.in[s] = e.member(s); !e.in[s] {
				continue
			}
			r.key = e.keys[s]
		}
		if n := len(kept); n > 0 && c.before(r, kept[n-1]) {
			loose = append(loose, kept[n-1], r)
			kept = kept[:n-1]
		} else {
			kept = append(kept, r)
		}
	}
	for _, e := range c.touched {
		if !c.isTouch[e.place] {
			continue // it was there already
		}
		c.isTouch[e.place] = false
		if e.keys[s], e.in[s] = e.member(s); e.in[s] {
			loose = append(loose, row{e.keys[s], uint32(e.launch.CreatedAt), e.place})
		}
	}
	slices.SortFunc(loose, c.compare)
	out := make([]row, 0, len(kept)+len(loose))
	for _, r := range kept {
		for len(loose) > 0 && c.before(loose[0], r) {
			out, loose = append(out, loose[0]), loose[1:]
		}
		out = append(out, r)
	}
	c.kept = kept
	return append(out, loose...)
}

func (c *venueBoard) before(a, b row) bool { return c.compare(a, b) < 0 }

func (c *venueBoard) compare(a, b row) int {
	if a.key != b.key {
		return cmp.Compare(b.key, a.key)
	}
	if a.created != b.created {
		return cmp.Compare(a.created, b.created)
	}
	return c.entries[a.place].mint.Compare(c.entries[b.place].mint)
}

// member says whether an entry stands in an order, and with which key.
func (e *entry) member(s Sort) (key float64, in bool) {
	l := e.launch
	if l == nil || !e.listed {
		return 0, false
	}
	switch s {
	case SortRunning:
		return e.rankedScore, e.pass
	case SortNew:
		return float64(l.CreatedAt), e.fold == aHead
	case SortTrending:
		return e.rankedScore, e.worthUSD >= trendingUSD
	case SortProgress:
		return l.Progress, l.State() == market.LaunchOnCurve && l.HasProgress && l.Progress < 100
	case SortGraduated:
		return float64(l.GraduatedAt), l.State() == market.LaunchGraduated && l.GraduatedAt > 0
	case sorts: // how many there are
	}
	return 0, false
}

// publish gives the board to readers as it is now.
func (c *venueBoard) publish() *publishedVenue {
	if c.published == nil {
		c.published = &publishedVenue{c.cards.share(), c.orders}
	}
	return c.published
}
