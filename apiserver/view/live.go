package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

const (
	// rankEvery is the pace at which scores, which decay by themselves, are computed anew.
	rankEvery = 15 * time.Second
	// liveDepth is the most tokens of one chain that the live list can show.
	liveDepth = 50
	// tokensAtOnce bounds the tokens that are read by one query.
	tokensAtOnce = 512
)

// Ranked is a token with what its place in a list follows from.
type Ranked struct {
	Token
	Figures Figures
	Parts   traction.Parts
	Score   float64
	// Metadata is nil while none was fetched.
	Metadata *Metadata
}

// Live is the live list at one moment: the tokens of each chain, best first.
type Live struct {
	// AsOf is the time of the newest block in it; unix seconds, 0 when nothing is indexed.
	AsOf int64
	// Version changes with the list.
	Version int64
	Stale   bool
	Chains  []LiveChain
}

// LiveChain is one chain's part, in the order of the catalogue.
type LiveChain struct {
	ID string
	// Block is its newest indexed one, where it is Indexed and shown.
	Block   uint64
	Indexed bool
	Tokens  []Ranked
}

// ranker keeps, per chain, what ranking needs. Its cost follows what trades, not what there is.
type ranker struct {
	gate  board.Gate
	books map[string]*book
	// reading are the books that take the place of others after a reorg, when they are read.
	reading map[string]*reading
	last    *ranking
	shelves *shelves
	in      *Catalog // of the last look
	at      time.Time
}

// ranking has the indexed chains' tokens, best first, as of one look. It is never changed.
type ranking struct{ chains map[string]rankedChain }

type rankedChain struct {
	status store.ChainStatus
	stale  bool
	tokens []Ranked
}

// reading is a book that is read beside the looks. done is closed when it is.
type reading struct {
	book *book
	err  error
	done chan struct{}
}

func newRanker(gate board.Gate) ranker {
	return ranker{gate: gate, books: make(map[string]*book), reading: make(map[string]*reading)}
}

// refreshRanks takes in what was committed since and ranks the chains that it changed, and all of them when it is time: scores
// decay by themselves. A chain that can't be read is stale, and the others go on; it fails when none can.
func (v *View) refreshRanks(ctx context.Context, s *Snapshot) error {
	now, r := v.now(), &v.ranks
	statuses := s.statuses()
	everything := r.last == nil || now.Sub(r.at) >= rankEvery
	lists := make(map[string]rankedChain, len(statuses))
	changed, running := everything, everything || r.in != s.Catalog
	var failed []error
	for id, status := range statuses {
		b, anew := v.bookOf(ctx, id, status)
		stale := v.stale(status.State, status.Last.Time)
		fresh := b.seen != status.CommitNo && !b.lapsed
		if fresh {
			if err := b.read(ctx, v, status); err != nil { // what was read all the same is taken in
				failed = append(failed, fmt.Errorf("chain %s: %w", id, err))
				stale = true
			}
		}
		if fresh || everything || anew || stale != b.stale {
			running = running || stale != b.stale
			b.stale = stale
			running = b.settle(&r.gate, everything || anew) || running
			lists[id] = rankedChain{b.status, stale, b.live()}
			changed = true
		} else {
			lists[id] = r.last.chains[id]
		}
	}
	if r.forget(statuses) {
		changed, running = true, true
	}
	if len(failed) > 0 && len(failed) == len(statuses) {
		return errors.Join(failed...)
	}
	if len(failed) > 0 {
		v.log.WarnContext(ctx, "chains not refreshed", "err", errors.Join(failed...).Error())
	}
	if everything {
		r.at = now
	}
	if running {
		rankRunning(r.books, s.Catalog)
	}
	if r.in = s.Catalog; changed || running {
		r.last, r.shelves = &ranking{lists}, r.stack(everything)
	}
	return nil
}

// forget drops the books of chains that have no status any more, and reports whether there were any.
func (r *ranker) forget(statuses map[string]store.ChainStatus) (gone bool) {
	for id := range r.books {
		if _, ok := statuses[id]; !ok {
			delete(r.books, id)
			gone = true
		}
	}
	return gone
}

// bookOf is the book of a chain. After a reorg, or when the database was restored to what it was before, another is read from
// the beginning while the last one stays; anew says that it has taken the place.
func (v *View) bookOf(ctx context.Context, id string, status store.ChainStatus) (b *book, anew bool) {
	r := &v.ranks
	if b = r.books[id]; b == nil {
		b = newBook(id, status.Rewinds)
		r.books[id] = b
		return b, true
	}
	b.lapsed = b.lapsed || b.rewinds != status.Rewinds || status.CommitNo < b.seen
	if !b.lapsed {
		return b, false
	}
	next := r.reading[id]
	if next == nil {
		next = &reading{book: newBook(id, status.Rewinds), done: make(chan struct{})}
		r.reading[id] = next
		v.readings.Go(func() {
			defer close(next.done)
			next.err = next.book.read(ctx, v, status)
		})
	}
	select {
	case <-next.done:
	default:
		return b, false
	}
	delete(r.reading, id)
	if next.err != nil || next.book.rewinds != status.Rewinds || status.CommitNo < next.book.seen {
		if next.err != nil {
			v.log.WarnContext(ctx, "a chain was not read anew", "chain", id, "err", next.err.Error())
		}
		return b, false
	}
	next.book.inherit(b)
	r.books[id] = next.book
	return next.book, true
}

// stack makes the board of the books; all cards are made anew at a ranking.
func (r *ranker) stack(everything bool) *shelves {
	next := &shelves{chains: make(map[string]*BoardChain, len(r.books)), cells: make(map[venueOn]*shelf)}
	if next.room = new(atomic.Int64); everything || r.shelves == nil {
		next.room.Store(cardRoom)
	} else {
		next.room = r.shelves.room
	}
	for id, b := range r.books {
		b.deck()
		next.chains[id] = &BoardChain{
			ID: id, Block: b.status.Last.Number, AsOf: b.status.Last.Time, Stale: b.stale, tag: chainTag(id), index: b.index,
			usd: b.usd, usdNo: b.usdNo,
		}
		for venue, c := range b.cells {
			next.cells[venueOn{venue, id}] = c.publish()
		}
	}
	return next
}

// live lists a chain's tokens, best first. A token is listed when a trusted pool of some liquidity prices it and it traded
// within the window of the score.
func (b *book) live() []Ranked {
	var best []*entry // sorted
	for _, e := range b.entries {
		if e.tape == nil || !e.worth.valued() || e.worth.pegged {
			continue // money is no trend
		}
		if len(best) == liveDepth && compareLive(e, best[liveDepth-1]) > 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(best, e, compareLive)
		best = slices.Insert(best[:min(len(best), liveDepth-1)], min(i, liveDepth-1), e)
	}
	parts := make(map[*entry]traction.Parts, len(best))
	for _, e := range best {
		parts[e] = b.measure(e) // what wasn't touched has decayed since
	}
	slices.SortFunc(best, compareLive)
	out := make([]Ranked, len(best))
	for i, e := range best {
		out[i] = Ranked{Token: b.token(e), Figures: e.facts.figures(b.usd), Parts: parts[e], Score: e.score, Metadata: e.meta}
	}
	return out
}

func compareLive(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.facts.firstSeenAt, b.facts.firstSeenAt), a.mint.Compare(b.mint))
}

// token is an entry as lists show it; of its pools there is what figures follow from.
func (b *book) token(e *entry) Token {
	f := e.facts
	t := Token{
		Chain: b.chain, Token: market.Token{Mint: e.mint, Name: f.name, Symbol: f.symbol, FirstSeenAt: f.firstSeenAt}, USD: b.usd,
		Block: b.status.Last.Number, AsOf: b.status.Last.Time, FinalAt: b.status.Head.FinalTime, Stale: b.stale,
	}
	for i := range f.pools {
		p := &f.pools[i]
		t.Pools = append(t.Pools, market.Pool{ID: p.id, Base: e.mint, Quote: p.quote, Price: p.price, Locked: p.locked})
		if i == f.reference {
			t.Token.Pool = p.id
		}
	}
	return t
}

// deal makes the list of the chains' ranked tokens. What stands still is no trend: a stale chain shows nothing beside others
// that aren't, and when all are stale the list says so.
func (s *Snapshot) deal(version int64) *Live {
	next := &Live{Version: version}
	var shown []rankedChain
	for _, id := range s.Catalog.ChainIDs(nil) {
		if l, ok := s.ranking.chains[id]; ok {
			shown = append(shown, l)
		}
	}
	standing := len(shown) > 0 && !slices.ContainsFunc(shown, func(l rankedChain) bool { return !l.stale })
	for _, id := range s.Catalog.ChainIDs(nil) {
		l, ok := s.ranking.chains[id]
		if !ok || (l.stale && !standing) {
			next.Chains = append(next.Chains, LiveChain{ID: id})
			continue
		}
		next.AsOf = max(next.AsOf, l.status.Last.Time)
		next.Chains = append(next.Chains, LiveChain{ID: id, Block: l.status.Last.Number, Indexed: true, Tokens: l.tokens})
	}
	next.Stale = standing || s.failing()
	return next
}
