package boards

import (
	"iter"
	"sync"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/compact"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// boardIndex has the entries of a chain's tokens, and finds the place of a launch on the board. Requests read it while the ranker changes it.
// When a chain is read anew its tokens get a new index, and the published board keeps the old one until the next board is published. The
// ranker reads the index without the lock, and takes the lock to change an entry's place or facts.
type boardIndex struct {
	mu      sync.RWMutex
	entries *compact.Map[market.Address, *entry]
}

// placeOf is where a launch stands.
type placeOf struct {
	venue string
	place int32
}

func newBoardIndex() *boardIndex {
	return &boardIndex{entries: compact.New(func(e **entry) market.Address { return (*e).mint })}
}

// entry finds the entry of a token, or nil if there is none.
func (x *boardIndex) entry(mint market.Address) *entry {
	if e := x.entries.Find(mint); e != nil {
		return *e
	}
	return nil
}

// all gives all entries. Entries may be removed meanwhile.
func (x *boardIndex) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for e := range x.entries.All() {
			if !yield(*e) {
				return
			}
		}
	}
}

// find says where a launch stands. Any goroutine may ask.
func (x *boardIndex) find(mint market.Address) (at placeOf, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e := x.entry(mint)
	if e == nil || e.board == nil {
		return at, false
	}
	return placeOf{e.board.venue, e.place}, true
}

// factsOf are the facts of a token; nil while they aren't known. Any goroutine may ask.
func (x *boardIndex) factsOf(mint market.Address) *figures.Facts {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if e := x.entry(mint); e != nil {
		return e.facts
	}
	return nil
}

// setFacts gives an entry its facts.
func (x *boardIndex) setFacts(e *entry, f *figures.Facts) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e.facts = f
}

func (x *boardIndex) add(e *entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries.Put(e)
}

func (x *boardIndex) remove(mint market.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.entries.Remove(mint)
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
