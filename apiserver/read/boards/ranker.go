// Package boards ranks tokens: the live list of each chain, and the launch board over all chains. Both are ranked from one record of each
// token's trades.
package boards

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// rankEvery is the pace at which scores, which decay by themselves, are computed anew.
	rankEvery = 15 * time.Second
	// tokensAtOnce bounds the tokens that are read by one query.
	tokensAtOnce = 512
)

// Ranker keeps, for each chain, the data that ranking needs. Its cost depends on the number of trades, not on the
// number of tokens. Only one goroutine at a time may use it.
type Ranker struct {
	store   *store.Store
	members *tokenmembers.Index
	now     func() time.Time
	log     *slog.Logger
	gate    board.Gate
	most    int // launches of one chain that are kept
	chains  map[string]*chainTokens
	// clones folds the launches of all chains.
	clones cloneFolder
	// reading are the chains that are read anew after a reorg; each takes its place in chains once it is read.
	reading map[string]*reading
	// readings end when nothing is read anew in the background.
	readings sync.WaitGroup
	// told is what the last look found to have changed, by chain.
	told map[string]told
	last *Ranking
	in   *declared.Catalog // of the last look
	at   time.Time
}

// Ranking has the indexed chains' tokens, best first, and the launch board, as of one look. It is never changed.
type Ranking struct {
	chains map[string]rankedChain
	board  publishedBoard
}

// Board is the launch board as a catalogue shows it. away says that the database can't be read, so that everything is stale.
func (r *Ranking) Board(version int64, in *declared.Catalog, away bool) *Board {
	return &Board{version, in, away, r.board}
}

type rankedChain struct {
	status store.ChainStatus
	ranked figures.Stamp
	stale  bool
	tokens []Ranked
}

// ListedBlock is the number of the block as of which a chain's tokens and launches are listed; false while they aren't, and on a nil ranking.
func (r *Ranking) ListedBlock(chain string) (uint64, bool) {
	if r == nil {
		return 0, false
	}
	l, ok := r.chains[chain]
	return l.status.Last.Number, ok
}

// told is what changed on a chain after a commit.
type told struct {
	after   int64
	changed *store.Changed
}

// reading is a chain that is read anew while the ranker goes on with what it has. done is closed at the end.
type reading struct {
	tokens *chainTokens
	err    error
	done   chan struct{}
}

// NewRanker makes a ranker that reads a store, whose launch board has a quality bar. The caller has the index of tokens' members follow the chains.
func NewRanker(st *store.Store, in *tokenmembers.Index, gate board.Gate, now func() time.Time, log *slog.Logger) *Ranker {
	return &Ranker{
		store: st, members: in, now: now, log: log, gate: gate, most: launchesPerChain, chains: make(map[string]*chainTokens), clones: newCloneFolder(), reading: make(map[string]*reading),
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

// Wait returns when no chain is read anew in the background any more.
func (r *Ranker) Wait() { r.readings.Wait() }

// ChangedSince gives what the last look found to have changed on a chain since a commit. It is nil where that look doesn't tell all of it.
func (r *Ranker) ChangedSince(chain string, commit int64) *store.Changed {
	if t, ok := r.told[chain]; ok && t.after <= commit {
		return t.changed
	}
	return nil
}

// Ranking gives the ranking of the last look at the database, or nil before the first.
func (r *Ranker) Ranking() *Ranking { return r.last }

// Refresh takes in what was committed since and ranks the chains that it changed, and all of them when it is time: scores
// decay by themselves. statuses has the catalogue's chains of which something is indexed. A chain that can't be read is stale,
// and the others go on; it fails when none can.
func (r *Ranker) Refresh(ctx context.Context, statuses map[string]store.ChainStatus, in *declared.Catalog) error {
	now := r.now()
	everything := r.last == nil || now.Sub(r.at) >= rankEvery
	lists := make(map[string]rankedChain, len(statuses))
	changed, running, replaced := everything, everything || r.in != in, false
	looks := r.looksAt(ctx, statuses, in)
	changes, unread := r.changes(ctx, looks)
	var failed []error
	for i := range looks {
		l := &looks[i]
		b, status := l.tokens, l.status
		stale := store.IsStale(status.State, status.Last.Time, status.Head, r.now())
		if err := r.take(ctx, l, in, changes[l.id], unread); err != nil { // what was read all the same is taken in
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
		r.log.WarnContext(ctx, "chains not refreshed", "err", errors.Join(failed...).Error())
	}
	if everything {
		r.at = now
	}
	if running {
		rankRunning(r.chains, in)
	}
	if r.in = in; changed || running {
		r.last = &Ranking{lists, r.publish(everything)}
	}
	return nil
}

// take reads what a chain's commits changed; unread is the error where that couldn't be asked. Where nobody tells what changed, the chain is read anew.
func (r *Ranker) take(ctx context.Context, l *chainLook, in *declared.Catalog, c *store.Changed, unread error) error {
	switch {
	case !l.fresh:
		return nil
	case c == nil && l.tokens.seen > 0:
		l.tokens.lapsed = unread == nil
		return unread
	default:
		return l.tokens.read(ctx, r.source(in), l.status, c)
	}
}

// looksAt lists the chains whose tokens are kept, and whether there is something to read.
func (r *Ranker) looksAt(ctx context.Context, statuses map[string]store.ChainStatus, in *declared.Catalog) []chainLook {
	out := make([]chainLook, 0, len(statuses))
	for id, status := range statuses {
		if b, anew := r.tokensOf(ctx, id, status, in); b != nil {
			out = append(out, chainLook{id, status, b, anew, b.seen != status.CommitNo && !b.lapsed})
		}
	}
	return out
}

// changes says what there is to read, with one query for all chains: at most looks there is little.
func (r *Ranker) changes(ctx context.Context, looks []chainLook) (map[string]*store.Changed, error) {
	seen := make(map[string]int64, len(looks))
	for i := range looks {
		if l := &looks[i]; l.fresh && l.tokens.seen > 0 {
			seen[l.id] = l.tokens.seen
		}
	}
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	changes, err := r.store.ChangedSince(ctx, seen)
	r.told = make(map[string]told, len(changes))
	for id, c := range changes {
		r.told[id] = told{seen[id], c}
	}
	return changes, err
}

// forget drops chains that have no status any more, and reports whether there were any.
func (r *Ranker) forget(statuses map[string]store.ChainStatus) (gone bool) {
	for id := range r.chains {
		if _, ok := statuses[id]; !ok {
			delete(r.chains, id)
			gone = true
		}
	}
	return gone
}

// tokensOf are the tokens of a chain; anew says that they were read anew since the last look. After a reorg, when the
// database was restored to what it was before, or where nobody tells what changed, the chain is read from the beginning, and until that is done the tokens stay as they were. A
// chain that comes later than the others is read so, too, and has no tokens until then.
func (r *Ranker) tokensOf(ctx context.Context, id string, status store.ChainStatus, in *declared.Catalog) (b *chainTokens, anew bool) {
	b = r.chains[id]
	if b == nil && r.last == nil {
		b = newChainTokens(id, status.Rewinds, r.most, r.members)
		r.chains[id] = b
		return b, true
	}
	if b != nil {
		b.lapsed = b.lapsed || b.rewinds != status.Rewinds || status.CommitNo < b.seen
		if !b.lapsed {
			return b, false
		}
	}
	next := r.rereadTokens(ctx, id, status, in)
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
func (r *Ranker) rereadTokens(ctx context.Context, id string, status store.ChainStatus, in *declared.Catalog) *chainTokens {
	next := r.reading[id]
	if next == nil {
		next = &reading{tokens: newChainTokens(id, status.Rewinds, r.most, r.members), done: make(chan struct{})}
		r.reading[id] = next
		src := r.source(in)
		r.readings.Go(func() {
			defer close(next.done)
			next.err = next.tokens.read(ctx, src, status, nil)
		})
	}
	select {
	case <-next.done:
	default:
		return nil
	}
	delete(r.reading, id)
	if next.err != nil {
		r.log.WarnContext(ctx, "a chain was not read anew", "chain", id, "err", next.err.Error())
		return nil
	}
	if next.tokens.rewinds != status.Rewinds || status.CommitNo < next.tokens.seen {
		return nil
	}
	return next.tokens
}

// publish makes the board of what is ranked.
func (r *Ranker) publish(everything bool) publishedBoard {
	next := publishedBoard{chains: make(map[string]*BoardChain, len(r.chains)), venues: make(map[declared.Place]*publishedVenue)}
	if everything || r.last == nil {
		next.bodies = newCardBodies()
	} else {
		next.bodies = r.last.board.bodies
	}
	for id, b := range r.chains {
		b.makeCards()
		next.chains[id] = &BoardChain{
			ID: id, Ranked: b.ranked, Stale: b.stale, KnowsMembers: r.members.IsKnown(id), tag: chainTag(id), index: b.index, usd: b.usd, usdChanged: b.usdChanged,
			hourUSD: b.hourUSD, usdNo: b.usdNo, seen: b.seen, rewinds: b.rewinds,
		}
		for venue, c := range b.venues {
			next.venues[declared.Place{Venue: venue, Chain: id}] = c.publish()
		}
	}
	return next
}
