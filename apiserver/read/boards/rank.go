package boards

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/board"
)

// boardPlace is an entry's place on the board.
type boardPlace struct {
	verdict

	rankedScore float64     // as of the last ranking
	board       *venueBoard // nil without a launch
	keys        [sorts]float64
	place       int32
	in          [sorts]bool
	fold        foldState
	hold        board.Hold
	judged      bool
	head        *entry // of a clone
	// foldedBy are the keys of what the launch is called, whose hash is foldedNames: the keys of long names take a while, and at each
	// ranking all launches are folded anew.
	foldedNames uint64
	foldedBy    board.Keys
}

// boardState is the launch board's part of a chain's tokens.
type boardState struct {
	venues map[string]*venueBoard // by venue
	newest *Launched              // of those that were folded; nil before the first
}

func newBoardState() boardState { return boardState{venues: make(map[string]*venueBoard)} }

// measureTouched measures what was touched, or everything when it is time to rank anew. It judges the launches that came since the last
// ranking, or all of them.
func (b *chainTokens) measureTouched(gate *board.Gate, everything bool) {
	if everything {
		b.ranked = figures.Stamp{Block: b.status.Last.Number, At: b.status.Last.Time}
		b.prune()
		for e := range b.index.all() {
			b.touch(e)
		}
	}
	for _, e := range b.touched { // heads that are touched meanwhile have not moved
		m := b.measure(e)
		if e.launch == nil || !e.valued {
			e.takeOff()
			continue
		}
		e.listed = true
		if everything || !e.judged {
			b.judge(e, gate, &m)
		}
	}
}

// judge holds a card to the quality bar, once per ranking, and when it comes.
func (b *chainTokens) judge(e *entry, gate *board.Gate, m *Measured) {
	s := b.subject(e)
	hour := s.Hour()
	e.traded = nil
	if e.tape != nil {
		if e.launch.CreatedAt > b.status.Last.Time-figures.HourS && m.Worth.BeforeUSD > 0 {
			hour.ReferenceUSD = m.Worth.BeforeUSD // what the launch said: no trade was made at it
		} else if before := b.hourAgo(e); before > 0 {
			hour.ReferenceUSD = before
		}
		e.traded = &traded{m.Parts, e.score, hour}
	}
	e.rankedScore, e.liquidity, e.members = e.score, m.Worth.Liquidity, int32(m.Parts.Members)
	if !e.judged {
		e.judgedAt = uint32(b.status.Last.Time)
	}
	if e.pass, e.fails = e.hold.Tick(gate.Fails(s.Candidate(m, &hour))); !e.pass {
		e.rank = 0
	}
	e.judged = true
}

// takeOff takes a card off the board.
func (e *entry) takeOff() {
	e.unfold()
	e.hold, e.judged, e.verdict, e.rankedScore = board.Hold{}, false, verdict{}, 0
}

// place gives the launches that were touched their places, and reports whether Running changed.
func (r *Ranker) place() (running bool) {
	for _, b := range r.chains {
		running = b.place() || running
	}
	return running
}

// place gives the touched launches their places.
func (b *chainTokens) place() (running bool) {
	var venues []*venueBoard
	for _, e := range b.touched {
		c := e.board
		switch {
		case c == nil && e.launch == nil:
			continue
		case c == nil:
			if c = b.venues[e.launch.Venue()]; c == nil {
				c = &venueBoard{tokens: b, venue: e.launch.Venue()}
				b.venues[c.venue] = c
			}
			b.index.put(e, c)
		}
		if len(c.touched) == 0 {
			venues = append(venues, c)
		}
		c.touched = append(c.touched, e)
	}
	for _, c := range venues {
		running = c.reorder() || running
		for _, e := range c.touched {
			if e.launch == nil {
				b.index.drop(e)
			}
		}
		c.touched = c.touched[:0]
	}
	return running
}

// makeCards makes the cards anew of what was touched and isn't as it was, and is done with it. Most launches rest, and have the same
// card from one ranking to the next.
func (b *chainTokens) makeCards() {
	for _, e := range b.touched {
		if e.board != nil {
			next := Card{Launch: e.launch, facts: e.facts, verdict: e.verdict}
			if e.facts != nil {
				next.Metadata = e.facts.Metadata
			}
			if last := e.board.cards.at(e.place); last == nil || *last != next {
				e.board.set(e.place, &next)
			}
		}
		e.isTouched = false
	}
	clear(b.touched)
	b.touched = b.touched[:0]
}

// inheritHolds takes over, after a reorg, which launches passed the quality bar before it, so that a reorg doesn't reorder Running.
func (b *chainTokens) inheritHolds(old *chainTokens) {
	for e := range b.index.all() {
		if o := old.entry(e.mint); o != nil && o.judged && e.launch != nil {
			e.hold, e.pass, e.fails = o.hold, o.pass, o.fails
		}
	}
}

// rankRunning gives the cards of Running their places over all. Only venues that are declared count, and stale chains
// only when all are.
func rankRunning(chains map[string]*chainTokens, in *declared.Catalog) {
	type place struct {
		row
		e     *entry
		chain string
	}
	allStale := true
	for _, b := range chains {
		allStale = allStale && b.stale
	}
	var all []place
	for id, b := range chains {
		for venue, c := range b.venues {
			_, isDeclared := in.VenueOn(venue, id)
			counts := isDeclared && (allStale || !b.stale)
			for _, r := range c.orders[SortRunning] {
				if e := c.entries[r.place]; counts {
					all = append(all, place{r, e, id})
				} else if e.rank != 0 {
					e.rank = 0
					b.touch(e)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.created, b.created), a.e.mint.Compare(b.e.mint),
			cmp.Compare(chainTag(a.chain), chainTag(b.chain)))
	})
	for i := range all {
		if p := &all[i]; p.e.rank != int32(i+1) {
			p.e.rank = int32(i + 1)
			chains[p.chain].touch(p.e)
		}
	}
}
