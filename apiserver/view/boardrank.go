package view

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// standing is an entry's place on the board.
type standing struct {
	cell  *cell // nil without a launch
	place int32
	in    [sorts]bool
	keys  [sorts]float64
	// listed says that it is valued in USD, so that it is on the board.
	listed bool
	hold   board.Hold
	judged bool
	shown  Standing
	fold   foldState
	head   *entry // of a clone
	// foldedAt is when the launch that was folded was made (unix seconds), and these are its names then.
	foldedAt             int64
	foldedName, foldedAs string
	foldedBy             board.Keys // of these names: long ones take a while, and at times all launches are folded anew
}

// Standing is what the last ranking said of a card.
type Standing struct {
	Parts traction.Parts
	Score float64
	Hour  traction.Hour
	// Pass and Fails are what the quality bar says; a card that is held passes and fails nothing.
	Pass  bool
	Fails []string
	// Rank is its place in Running over all launchpads and chains, from 1; 0 when it isn't in.
	Rank int32
	// Clones is how many launches are folded into it.
	Clones int32
}

// foldWindow is the time in seconds within which board.Folder makes clones.
const foldWindow = 24 * 3600

// foldState says what the sort by age makes of a launch.
type foldState uint8

const (
	unfolded foldState = iota // not yet looked at
	aHead
	aClone
)

// shelving is the board's part of a book.
type shelving struct {
	cells  map[string]*cell // by venue
	index  *boardIndex
	folder *board.Folder
	// last is the newest launch in folder; refold says that folder has seen what isn't on the board any more, or has missed
	// an older launch.
	last   *Launched
	refold bool
}

func newShelving() shelving {
	return shelving{cells: make(map[string]*cell), index: newBoardIndex(), folder: board.NewFolder()}
}

// settle measures what was touched, or everything when it is time to rank anew, and brings it to its places. It reports
// whether Running changed.
func (b *book) settle(gate *board.Gate, everything bool) (running bool) {
	if everything {
		b.tidy()
		for _, e := range b.entries {
			b.touch(e)
		}
	}
	for _, e := range b.touched { // heads that are touched meanwhile have not moved
		parts := b.measure(e)
		if e.listed = e.launch != nil && e.worth.valued(); !e.listed {
			b.leave(e)
			continue
		}
		if name, symbol := e.names(); e.fold != unfolded && (name != e.foldedName || symbol != e.foldedAs) {
			b.unfold(e) // the token told its name later
		}
		if everything || !e.judged {
			b.judge(e, gate, parts)
		}
	}
	b.foldNew(everything)
	return b.place()
}

// judge holds a card to the quality bar, once per ranking, and when it comes.
func (b *book) judge(e *entry, gate *board.Gate, parts traction.Parts) {
	e.shown.Parts, e.shown.Score, e.shown.Hour = parts, e.score, traction.Hour{}
	if e.tape != nil {
		e.shown.Hour = e.tape.Hour(b.status.Last.Time)
	}
	l := e.launch
	c := board.Candidate{
		Chain: b.chain, OnCurve: l.onCurve(), LiquidityUSD: e.worth.liquidity, Volume24hUSD: e.worth.volume, AgeS: int64(parts.AgeS),
		Buyers1h: &e.shown.Hour.Buyers, TrustCritical: e.checked,
	}
	if e.facts.status == market.HoldersCurrent && !b.stale {
		c.Holders = &e.facts.holders
	}
	if l.HasProgress {
		c.ProgressPct = &l.Progress
	}
	pass, fails := e.hold.Tick(gate.Fails(c))
	if e.shown.Pass = pass; !e.judged || !slices.Equal(fails, e.shown.Fails) {
		e.shown.Fails = fails
	}
	if !pass {
		e.shown.Rank = 0
	}
	e.judged = true
}

// leave takes a card off the board.
func (b *book) leave(e *entry) {
	b.unfold(e)
	e.hold, e.judged, e.shown = board.Hold{}, false, Standing{}
}

// unfold takes a card out of what it is folded with.
func (b *book) unfold(e *entry) {
	switch {
	case e.fold == aClone && e.head.fold == aHead:
		e.head.shown.Clones--
		b.touch(e.head)
	case e.fold == aHead && (e.shown.Clones > 0 || b.last.CreatedAt-e.foldedAt < foldWindow):
		b.refold = true // its clones have no head, or others may still become its clones
	}
	e.fold, e.head, e.shown.Clones = unfolded, nil, 0
}

// foldNew folds the launches that came. One that is older than another before it waits until all are folded anew, which is
// when everything is.
func (b *book) foldNew(everything bool) {
	anew := everything && b.refold
	var list []*entry
	for _, e := range b.touched {
		if e.listed && (anew || e.fold == unfolded) {
			list = append(list, e)
		}
	}
	if anew {
		b.refold, b.last = false, nil
		b.folder.Reset()
		for _, e := range list {
			e.fold, e.head, e.shown.Clones = unfolded, nil, 0
		}
	}
	slices.SortFunc(list, func(a, b *entry) int { return a.launch.compare(b.launch) })
	for _, e := range list {
		if b.last != nil && e.launch.compare(b.last) < 0 {
			b.refold = true
			continue
		}
		b.last, e.foldedAt = e.launch, e.launch.CreatedAt
		if name, symbol := e.names(); name != e.foldedName || symbol != e.foldedAs {
			e.foldedName, e.foldedAs, e.foldedBy = name, symbol, b.folder.Keys(name, symbol)
		}
		e.fold = aHead
		if head, isClone := b.folder.AddKeys(e.launch.CreatedAt, e.mint, e.foldedBy); isClone {
			if h := b.entries[head]; h != nil && h.fold == aHead {
				e.fold, e.head = aClone, h
				h.shown.Clones++
				b.touch(h)
			} else {
				b.refold = true
			}
		}
	}
}

// compare orders launches as the chain has them.
func (l *Launched) compare(o *Launched) int {
	return cmp.Or(cmp.Compare(l.block, o.block), cmp.Compare(l.logIndex, o.logIndex))
}

// names are a launch's own, or else its token's.
func (e *entry) names() (name, symbol string) { return namesOf(e.launch, e.facts) }

func namesOf(l *Launched, f *facts) (name, symbol string) {
	name, symbol = l.Name, l.Symbol
	if f != nil {
		name, symbol = cmp.Or(name, f.name), cmp.Or(symbol, f.symbol)
	}
	return name, symbol
}

// place gives the touched launches their places.
func (b *book) place() (running bool) {
	var cells []*cell
	for _, e := range b.touched {
		c := e.cell
		switch {
		case c == nil && e.launch == nil:
			continue
		case c == nil:
			if c = b.cells[e.launch.Venue]; c == nil {
				c = &cell{venue: e.launch.Venue}
				b.cells[c.venue] = c
			}
			c.put(e)
			b.index.put(e)
		}
		if len(c.touched) == 0 {
			cells = append(cells, c)
		}
		c.touched = append(c.touched, e)
	}
	for _, c := range cells {
		running = c.reorder() || running
		for _, e := range c.touched {
			if e.launch == nil {
				c.drop(e)
				b.index.drop(e.mint)
			}
		}
		c.touched = c.touched[:0]
	}
	return running
}

// deck makes the cards of what was touched anew, and is done with it.
func (b *book) deck() {
	for _, e := range b.touched {
		if e.cell != nil {
			e.cell.set(e.place, b.card(e))
		}
		e.isTouched = false
	}
	clear(b.touched)
	b.touched = b.touched[:0]
}

// inherit takes over from the book before a reorg how its launches stood, so that one does not shake Running.
func (b *book) inherit(old *book) {
	for mint, e := range b.entries {
		if o := old.entries[mint]; o != nil && o.judged && e.launch != nil {
			e.hold, e.shown.Pass, e.shown.Fails = o.hold, o.shown.Pass, o.shown.Fails
		}
	}
}

// rankRunning gives the cards of Running their places over all. Only venues that are declared count, and stale chains
// only when all are.
func rankRunning(books map[string]*book, in *Catalog) {
	type place struct {
		row
		e     *entry
		chain string
	}
	standing := true
	for _, b := range books {
		standing = standing && b.stale
	}
	var all []place
	for id, b := range books {
		for venue, c := range b.cells {
			_, declared := in.VenueOn(venue, id)
			counts := declared && (standing || !b.stale)
			for _, r := range c.orders[SortRunning] {
				if e := c.entries[r.place]; counts {
					all = append(all, place{r, e, id})
				} else if e.shown.Rank != 0 {
					e.shown.Rank = 0
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
		if p := &all[i]; p.e.shown.Rank != int32(i+1) {
			p.e.shown.Rank = int32(i + 1)
			books[p.chain].touch(p.e)
		}
	}
}
