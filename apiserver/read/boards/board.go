package boards

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Board is the launch board at one moment, as a catalogue shows it. It is never changed.
type Board struct {
	// Version changes with the board.
	Version int64

	in   *declared.Catalog
	away bool // the database can't be read
	publishedBoard
}

// publishedBoard is the board without the catalogue that says what of it is shown.
type publishedBoard struct {
	chains map[string]*BoardChain
	venues map[declared.Place]*publishedVenue
	bodies *cardBodies
}

// chain is one of the board's chains; nil when it isn't ranked, and on a nil board.
func (b *Board) chain(id string) *BoardChain {
	if b == nil {
		return nil
	}
	return b.chains[id]
}

// BoardChain is a chain as its cards need it.
type BoardChain struct {
	ID string
	// Ranked is its newest indexed block as of the last ranking.
	Ranked figures.Stamp
	Stale  bool
	// KnowsMembers is false while no member is known: then nobody knows who is in a token.
	KnowsMembers bool

	tag        uint32 // chainTag of ID
	index      *boardIndex
	usd        figures.Prices
	usdChanged map[market.Address]figures.Stamp
	hourUSD    map[market.Address]float64 // what the quote assets were worth an hour before
	usdNo      int64
	// seen is the number of the last commit that was read, and rewinds how many had taken blocks back by then.
	seen, rewinds int64
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
	// Chains lists the indexed chains whose cards the board may have, in the order of the catalogue.
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
	venue    declared.Venue
	head     Cursor // of the first row
}

// at is the place of a row.
func (s *venueOrder) at(r row) Cursor {
	return Cursor{key: r.key, created: r.created, mint: s.launches.cards.at(r.place).Launch.Mint, chain: s.on.tag}
}

// Page merges the orders of the wanted venues and chains into one.
func (b *Board) Page(q PageQuery) Page {
	var out Page
	var last Cursor
	orders := b.venueOrders(q, b.chainsShown(q, &out))
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
		o := &orders[best]
		last = o.head
		card := b.shown(o.launches.cards.at(o.rows[0].place), o.on, o.venue)
		out.Cards, out.AsOf = append(out.Cards, card), max(out.AsOf, card.Changed(o.on).At)
		if o.rows = o.rows[1:]; len(o.rows) == 0 {
			orders = slices.Delete(orders, best, best+1)
		} else {
			o.head = o.at(o.rows[0])
		}
	}
	return out
}

// chainsShown are the chains whose launches a page shows; it notes in the page all that are asked for.
func (b *Board) chainsShown(q PageQuery, out *Page) []*BoardChain {
	var moving []*BoardChain
	for i := range b.in.Chains {
		id := b.in.Chains[i].ID
		on := b.chains[id]
		if on == nil || (q.Chain != declared.AllBoardChains && q.Chain != id) {
			continue
		}
		now := b.asOfNow(on)
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
	out.Stale = b.away || len(shown) > len(moving)
	return shown
}

// asOfNow is a chain, which is stale as everything is while the database is away.
func (b *Board) asOfNow(on *BoardChain) *BoardChain {
	if on.Stale || !b.away {
		return on
	}
	stale := *on
	stale.Stale = true
	return &stale
}

// venueOrders are the orders of the wanted venues and chains, from the cursor on.
func (b *Board) venueOrders(q PageQuery, chains []*BoardChain) []venueOrder {
	var out []venueOrder
	for i := range b.in.Venues {
		v := &b.in.Venues[i]
		if q.Launchpad != declared.AllLaunchpads && q.Launchpad != v.Filter && q.Launchpad != declared.Launchpad(v) {
			continue
		}
		for _, on := range chains {
			venue, isDeclared := b.in.VenueOn(v.ID, on.ID)
			launches := b.venues[declared.Place{Venue: v.ID, Chain: on.ID}]
			if !isDeclared || launches == nil {
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

// Launched finds the card of a launch; ok is false when the board doesn't keep it, or its venue or chain isn't declared, and on
// a nil board.
func (b *Board) Launched(chain string, mint market.Address) (c Shown, ok bool) {
	on := b.chain(chain)
	if on == nil {
		return c, false
	}
	at, known := on.index.find(mint)
	launches := b.venues[declared.Place{Venue: at.venue, Chain: chain}]
	venue, isDeclared := b.in.VenueOn(at.venue, chain)
	if !known || !isDeclared || launches == nil {
		return c, false
	}
	card := launches.cards.at(at.place)
	if card == nil || card.Launch.Mint != mint {
		return c, false // it has come or gone since
	}
	return b.shown(card, b.asOfNow(on), venue), true
}

// Summary is that of a token which was launched or traded lately; ok is false of others, where the chain has changed since the board was made, by the chain's
// status, and on a nil board.
func (b *Board) Summary(status *store.ChainStatus, mint market.Address) (s figures.Summary, ok bool) {
	on := b.chain(status.ID)
	if on == nil || on.seen != status.CommitNo || on.rewinds != status.Rewinds {
		return s, false
	}
	facts := on.index.factsOf(mint)
	if facts == nil {
		return s, false
	}
	return facts.Summary(mint, on.usd, on.usdChanged), true
}
