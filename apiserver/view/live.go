package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	// Version changes with the list.
	Version int64
	Stale   bool
	Chains  []LiveChain
}

// LiveChain is one chain's part, in the order of the catalogue.
type LiveChain struct {
	ID string
	// Ranked is its newest indexed block as of the last ranking, where it is Indexed and shown.
	Ranked  Stamp
	Indexed bool
	Tokens  []Ranked
}

// ranker keeps, per chain, what ranking needs. Its cost follows what trades, not what there is.
type ranker struct {
	gate   board.Gate
	most   int // launches of one chain that are kept
	chains map[string]*chainTokens
	// clones folds the launches of all chains.
	clones cloneFolder
	// reading are the chains that are read anew after a reorg; each takes its place in chains once it is read.
	reading   map[string]*reading
	last      *ranking
	published *publishedBoard
	in        *Catalog // of the last look
	at        time.Time
}

// ranking has the indexed chains' tokens, best first, as of one look. It is never changed.
type ranking struct{ chains map[string]rankedChain }

type rankedChain struct {
	status store.ChainStatus
	ranked Stamp
	stale  bool
	tokens []Ranked
}

// ListedBlock is the number of the block as of which a chain's tokens and launches are listed; false while they aren't.
func (s *Snapshot) ListedBlock(chain string) (uint64, bool) {
	if s.ranking == nil {
		return 0, false
	}
	l, ok := s.ranking.chains[chain]
	return l.status.Last.Number, ok
}

// reading is a chain that is read anew while the ranker goes on with what it has. done is closed at the end.
type reading struct {
	tokens *chainTokens
	err    error
	done   chan struct{}
}

func newRanker(gate board.Gate) ranker {
	return ranker{
		gate: gate, most: launchesPerChain, chains: make(map[string]*chainTokens), clones: newCloneFolder(), reading: make(map[string]*reading),
	}
}

// chainLook is what a look at the database finds of one chain.
type chainLook struct {
	id     string
	status store.ChainStatus
	tokens *chainTokens
	// anew says that the chain was read anew since the last look, fresh that there is something to read.
	anew, fresh bool
}

// refreshRanks takes in what was committed since and ranks the chains that it changed, and all of them when it is time: scores
// decay by themselves. A chain that can't be read is stale, and the others go on; it fails when none can.
func (v *View) refreshRanks(ctx context.Context, s *Snapshot) error {
	now, r := v.now(), &v.ranks
	statuses := s.statuses()
	everything := r.last == nil || now.Sub(r.at) >= rankEvery
	lists := make(map[string]rankedChain, len(statuses))
	changed, running, replaced := everything, everything || r.in != s.Catalog, false
	looks := v.looksAt(ctx, statuses)
	changes, unread := v.changes(ctx, looks)
	var failed []error
	for i := range looks {
		l := &looks[i]
		b, status := l.tokens, l.status
		stale := v.stale(status.State, status.Last.Time, status.Head)
		if err := v.take(ctx, l, changes[l.id], unread); err != nil { // what was read all the same is taken in
			failed = append(failed, fmt.Errorf("chain %s: %w", l.id, err))
			stale = true
		}
		if l.fresh || everything || l.anew || stale != b.stale {
			running, replaced = running || stale != b.stale, replaced || l.anew
			b.stale = stale
			b.measureTouched(&r.gate, everything || l.anew)
			lists[l.id] = rankedChain{b.status, b.ranked, stale, b.live(everything || l.anew)}
			changed = true
		} else {
			lists[l.id] = r.last.chains[l.id]
		}
	}
	if r.forget(statuses) {
		changed, running, replaced = true, true, true
	}
	r.fold(everything || replaced)
	running = r.place() || running
	if len(failed) > 0 && len(failed) == len(looks) {
		return errors.Join(failed...)
	}
	if len(failed) > 0 {
		v.log.WarnContext(ctx, "chains not refreshed", "err", errors.Join(failed...).Error())
	}
	if everything {
		r.at = now
	}
	if running {
		rankRunning(r.chains, s.Catalog)
	}
	if r.in = s.Catalog; changed || running {
		r.last, r.published = &ranking{lists}, r.publish(everything)
	}
	return nil
}

// take reads what a chain's commits changed; unread is why nobody knows what that is.
func (v *View) take(ctx context.Context, l *chainLook, c *store.Changed, unread error) error {
	switch {
	case !l.fresh:
		return nil
	case c == nil && l.tokens.seen > 0:
		return unread
	default:
		return l.tokens.read(ctx, v, l.status, c)
	}
}

// looksAt lists the chains whose tokens are kept, and whether there is something to read.
func (v *View) looksAt(ctx context.Context, statuses map[string]store.ChainStatus) []chainLook {
	out := make([]chainLook, 0, len(statuses))
	for id, status := range statuses {
		if b, anew := v.tokensOf(ctx, id, status); b != nil {
			out = append(out, chainLook{id, status, b, anew, b.seen != status.CommitNo && !b.lapsed})
		}
	}
	return out
}

// changes says what there is to read, with one query for all chains: at most looks there is little.
func (v *View) changes(ctx context.Context, looks []chainLook) (map[string]*store.Changed, error) {
	seen := make(map[string]int64, len(looks))
	for i := range looks {
		if l := &looks[i]; l.fresh && l.tokens.seen > 0 {
			seen[l.id] = l.tokens.seen
		}
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	return v.looks.ChangedSince(ctx, seen)
}

// forget drops chains that have no status any more, and reports whether there were any.
func (r *ranker) forget(statuses map[string]store.ChainStatus) (gone bool) {
	for id := range r.chains {
		if _, ok := statuses[id]; !ok {
			delete(r.chains, id)
			gone = true
		}
	}
	return gone
}

// tokensOf are the tokens of a chain; anew says that they were read anew since the last look. After a reorg, or when the
// database was restored to what it was before, the chain is read from the beginning, and until that is done the tokens stay as they were. A
// chain that comes later than the others is read so, too, and has no tokens until then.
func (v *View) tokensOf(ctx context.Context, id string, status store.ChainStatus) (b *chainTokens, anew bool) {
	r := &v.ranks
	b = r.chains[id]
	if b == nil && r.last == nil {
		b = newChainTokens(id, status.Rewinds, r.most)
		r.chains[id] = b
		return b, true
	}
	if b != nil {
		b.lapsed = b.lapsed || b.rewinds != status.Rewinds || status.CommitNo < b.seen
		if !b.lapsed {
			return b, false
		}
	}
	next := v.rereadTokens(ctx, id, status)
	if next == nil {
		return b, false
	}
	if b != nil {
		next.inheritHolds(b)
	}
	r.chains[id] = next
	return next, true
}

// rereadTokens reads a chain anew in the background, since that takes longer than a look. It is nil until the chain is read.
func (v *View) rereadTokens(ctx context.Context, id string, status store.ChainStatus) *chainTokens {
	r := &v.ranks
	next := r.reading[id]
	if next == nil {
		next = &reading{tokens: newChainTokens(id, status.Rewinds, r.most), done: make(chan struct{})}
		r.reading[id] = next
		v.readings.Go(func() {
			defer close(next.done)
			next.err = next.tokens.read(ctx, v, status, nil)
		})
	}
	select {
	case <-next.done:
	default:
		return nil
	}
	delete(r.reading, id)
	if next.err != nil {
		v.log.WarnContext(ctx, "a chain was not read anew", "chain", id, "err", next.err.Error())
		return nil
	}
	if next.tokens.rewinds != status.Rewinds || status.CommitNo < next.tokens.seen {
		return nil
	}
	return next.tokens
}

// publish makes the board of what is ranked.
func (r *ranker) publish(everything bool) *publishedBoard {
	next := &publishedBoard{chains: make(map[string]*BoardChain, len(r.chains)), venues: make(map[venueOn]*publishedVenue)}
	if everything || r.published == nil {
		next.bodies = newCardBodies()
	} else {
		next.bodies = r.published.bodies
	}
	for id, b := range r.chains {
		b.makeCards()
		next.chains[id] = &BoardChain{
			ID: id, Ranked: b.ranked, Stale: b.stale, tag: chainTag(id), index: b.index, usd: b.usd, usdChanged: b.usdChanged,
			hourUSD: b.hourUSD, usdNo: b.usdNo,
		}
		for venue, c := range b.venues {
			next.venues[venueOn{venue, id}] = c.publish()
		}
	}
	return next
}

// bestTokens are a chain's best tokens as of the last look.
type bestTokens struct {
	best []*entry // the best first, more than are listed
	list []Ranked // of the first of them
	asOf int64    // usdNo of the prices in it
}

// liveSpare is how many of the best are known beside those that are listed, to move up when others fall between two rankings.
const liveSpare = liveDepth

// live lists a chain's tokens, best first. A token is listed when a trusted pool of some liquidity prices it and it traded
// within the window of the score. All of them are looked at when everything was ranked; else those that were touched.
func (b *chainTokens) live(everything bool) []Ranked {
	last, listed := b.list, slices.Clone(b.best[:min(len(b.best), liveDepth)])
	switch {
	case everything:
		b.best = nil
		for _, e := range b.index.entries {
			b.addBest(e)
		}
	case len(b.touched) > 0:
		b.best = slices.DeleteFunc(b.best, func(e *entry) bool { return e.isTouched })
		for _, e := range b.touched {
			b.addBest(e)
		}
	case b.asOf == b.usdNo:
		return last
	}
	b.list = make([]Ranked, min(len(b.best), liveDepth))
	for i, e := range b.best[:len(b.list)] {
		was := slices.Index(listed, e)
		if was >= 0 && !e.isTouched && b.asOf == b.usdNo {
			b.list[i] = last[was]
			continue
		}
		r := Ranked{Token: b.token(e), Figures: e.facts.figures(e.mint, b.usd, b.status.Last.Time), Score: e.score, Metadata: e.meta}
		if was >= 0 && !e.isTouched {
			r.Parts = last[was].Parts
		} else {
			r.Parts = b.measure(e).parts
			r.Score = e.score
		}
		b.list[i] = r
	}
	b.asOf = b.usdNo
	return b.list
}

// addBest puts an entry among the best if it belongs there.
func (b *chainTokens) addBest(e *entry) {
	const most = liveDepth + liveSpare
	if e.tape == nil || !e.valued || e.pegged {
		return // money is no trend
	}
	if len(b.best) == most && compareLive(e, b.best[most-1]) > 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(b.best, e, compareLive)
	b.best = slices.Insert(b.best[:min(len(b.best), most-1)], min(i, most-1), e)
}

func compareLive(a, b *entry) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.facts.firstSeenAt, b.facts.firstSeenAt), a.mint.Compare(b.mint))
}

// token is an entry as lists show it; of its pools there is what figures follow from.
func (b *chainTokens) token(e *entry) Token {
	f := e.facts
	t := Token{
		Chain: b.chain, Token: market.Token{Mint: e.mint, Name: f.name, Symbol: f.symbol, FirstSeenAt: f.firstSeenAt, Holders: market.Holders{Status: f.status, Count: f.holders}}, USD: b.usd,
		Block: b.status.Last.Number, AsOf: b.status.Last.Time, FinalAt: b.status.Head.FinalTime, Stale: b.stale,
		Changed: f.changedWith(e.mint, b.usdChanged),
	}
	for i := range f.pools {
		p := &f.pools[i]
		t.Pools = append(t.Pools, market.Pool{ID: p.id, Base: e.mint, Quote: p.quote, Price: p.price, Locked: p.locked})
		if i == int(f.reference) {
			t.Token.Pool = p.id
		}
	}
	return t
}

// liveList makes the list of the chains' ranked tokens. A stale chain's scores don't decay, so that
// its tokens are left out while another chain is current. When all are stale they are listed, and the list is marked stale.
func (s *Snapshot) liveList(version int64) *Live {
	next := &Live{Version: version}
	var shown []rankedChain
	for _, id := range s.Catalog.ChainIDs(nil) {
		if l, ok := s.ranking.chains[id]; ok {
			shown = append(shown, l)
		}
	}
	allStale := len(shown) > 0 && !slices.ContainsFunc(shown, func(l rankedChain) bool { return !l.stale })
	for _, id := range s.Catalog.ChainIDs(nil) {
		l, ok := s.ranking.chains[id]
		if !ok || (l.stale && !allStale) {
			next.Chains = append(next.Chains, LiveChain{ID: id})
			continue
		}
		next.Chains = append(next.Chains, LiveChain{ID: id, Ranked: l.ranked, Indexed: true, Tokens: l.tokens})
	}
	next.Stale = allStale || s.failing()
	return next
}
