package indexer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// A chain is indexed anew without a gap in what is served: the next generation of its index has rows of its own, beside those that are served, and
// takes their place in one transaction once it is at the head. Then the former rows are deleted, in pieces.

const (
	// generationPause is the time between two looks at which generation is wanted.
	generationPause = 2 * time.Second
	// purgeAfter is how long the rows of an index that isn't served stay: whoever reads them learns within seconds that it isn't.
	purgeAfter = time.Minute
	// purgePause is the time between two pieces of a purge.
	purgePause = 20 * time.Millisecond
	// inheritedAtOnce is of how many tokens what was fetched is taken over at once.
	inheritedAtOnce = 200
)

var (
	// errTookOver ends the sessions of an index that has taken another's place.
	errTookOver = errors.New("the index is served from here on")
	// errReplaced ends a session of an index whose place another has taken.
	errReplaced = errors.New("another index has taken this one's place")
	// errUnwanted ends the sessions of an index that is no longer wanted.
	errUnwanted = errors.New("this generation is no longer wanted")
)

// indexID is the id of the index whose rows are read and written. It changes between two sessions alone.
type indexID struct{ now atomic.Pointer[string] }

func newIndexID(id string) *indexID {
	i := &indexID{}
	i.now.Store(&id)
	return i
}

func (i *indexID) id() string { return *i.now.Load() }

// successor is what an index knows of the one whose place it is to take.
type successor struct {
	of         string
	generation int64
	// anew says that what nodes told that one is asked again.
	anew bool
	// inherited says that what was fetched for that one is taken over.
	inherited bool
	// effort is about what making this one takes.
	effort chainconfig.Effort
}

// reindexing is what an index knows of the one that is to take its place.
type reindexing struct {
	mu   sync.Mutex
	next *Indexer // nil where there is none
	// endSession ends the running session; nil between two. changed tells who waits before the next one.
	endSession context.CancelCauseFunc
	changed    chan struct{}
	// idle is since when indexes are neither served nor wanted; watchGenerations' alone.
	idle map[string]time.Time
}

func (r *reindexing) begin(endSession context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endSession = endSession
}

func (r *reindexing) end() { r.begin(nil) }

// replaced ends the running session, or the pause before the next one, which is of the index that is served.
func (r *reindexing) replaced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.endSession != nil {
		r.endSession(errReplaced)
		return
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// awaitRetry waits until a halted chain is to be tried again; false says that ctx has ended.
func (r *reindexing) awaitRetry(ctx context.Context) bool {
	t := time.NewTimer(haltedPause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.changed:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (r *reindexing) set(next *Indexer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = next
}

// state is how far the next generation has come; nil where there is none.
func (r *reindexing) state() *chainconfig.Reindexing {
	r.mu.Lock()
	next := r.next
	r.mu.Unlock()
	if next == nil {
		return nil
	}
	s, effort := next.State(), next.successor.effort
	return &chainconfig.Reindexing{
		Generation: next.successor.generation, Phase: s.Phase, Message: s.Message, First: next.cfg.Start.Block, Indexed: s.Indexed, Effort: &effort,
	}
}

// chooseIndex has the next session read and write the index that is served.
func (ix *Indexer) chooseIndex(ctx context.Context) error {
	if ix.successor != nil {
		return nil
	}
	id, generation := chainconfig.IndexID(ix.cfg.ID, ix.cfg.Generation), max(ix.cfg.Generation, 1) // of a chain that has none
	list, err := ix.store.Indexes.Of(ctx, ix.cfg.ID)
	served := false
	for _, s := range list {
		if s.Served {
			id, generation, served = s.ID, s.Generation, true
		}
	}
	if err != nil {
		return err
	}
	if !served {
		// A purge was cut off. What it left is no index: it goes, and the chain begins anew.
		for _, s := range list {
			if err := ix.purgeIndex(ctx, s.ID, ix.pulse.beat); err != nil {
				return err
			}
		}
	}
	if id != ix.rows.id() {
		ix.rows.now.Store(&id)
		ix.pruned = 0
	}
	ix.account.update(func(s *chainconfig.State) { s.Generation = generation })
	return nil
}

// watchGenerations indexes another generation while one is wanted, and deletes indexes that are neither served nor wanted.
func (ix *Indexer) watchGenerations(ctx context.Context) {
	ix.reindex.idle = map[string]time.Time{}
	var last string
	for wait.For(ctx, generationPause) {
		switch err := ix.nextGeneration(ctx); {
		case err == nil:
			last = ""
		case ctx.Err() == nil && err.Error() != last: // a fault that stays is told once
			last = err.Error()
			ix.log.WarnContext(ctx, "the chain's generations could not be looked after; it is tried again", "err", last)
		}
	}
}

// nextGeneration does what there is to do for another generation, until that is served or no longer wanted.
func (ix *Indexer) nextGeneration(ctx context.Context) error {
	served, want, others, err := ix.generations(ctx)
	if err != nil || served == nil {
		return err
	}
	if served.ID != ix.rows.id() { // another process had it take over
		ix.reindex.replaced()
	}
	purged := ix.purge(ctx, others)
	if want <= served.Generation {
		return purged
	}
	return errors.Join(purged, ix.indexAnew(ctx, served, want))
}

// generations are the index that is served, nil before there is one, the generation that is wanted, and the indexes that are neither.
func (ix *Indexer) generations(ctx context.Context) (served *store.IndexStatus, want int64, others []store.IndexStatus, err error) {
	list, err := ix.store.Indexes.Of(ctx, ix.cfg.ID)
	for i := range list {
		if list[i].Served {
			served = &list[i]
		}
	}
	if err != nil || served == nil {
		return nil, 0, nil, err
	}
	want = max(ix.cfg.Generation, served.Wanted, served.Generation)
	for _, s := range list {
		if !s.Served && s.Generation != want {
			others = append(others, s)
		}
	}
	return served, want, others, nil
}

// indexAnew indexes a generation beside the one that is served.
func (ix *Indexer) indexAnew(ctx context.Context, served *store.IndexStatus, generation int64) error {
	next, err := ix.newSuccessor(ctx, served, generation)
	if err != nil {
		return err
	}
	if err := ix.store.Indexes.Begin(ctx, ix.cfg.ID, generation); err != nil {
		return err
	}
	ix.log.InfoContext(ctx, "indexing the chain anew beside what is served", "generation", generation, "from", next.cfg.Start.Block,
		"to", served.Last.Number, "asks_anew", next.successor.anew, "calls", next.successor.effort.Calls, "bytes", next.successor.effort.Bytes)
	ix.reindex.set(next)
	defer ix.o.Metrics.forget(next.cfg.ID)
	defer ix.reindex.set(nil)
	wanted, unwanted := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	defer func() { unwanted(nil); beside.Wait() }()
	beside.Go(func() {
		for wait.For(wanted, generationPause) {
			switch served, want, _, err := ix.generations(wanted); {
			case err != nil || served == nil:
			case served.Generation == generation: // another process may have been faster
				unwanted(errTookOver)
			case want != generation:
				unwanted(errUnwanted)
			}
		}
	})
	for {
		switch err := next.sessions(wanted); {
		case errors.Is(err, errTookOver), errors.Is(context.Cause(wanted), errTookOver):
			ix.log.InfoContext(ctx, "the chain's new index is served", "generation", generation)
			ix.reindex.replaced()
			return nil
		case wanted.Err() != nil:
			if ctx.Err() == nil {
				ix.log.WarnContext(ctx, "the chain is no longer indexed anew", "generation", generation, "err", context.Cause(wanted).Error())
			}
			return nil
		case errors.Is(err, store.ErrReplaced):
			return nil // its rows are deleted: it begins once more, if it is still wanted
		case !wait.For(wanted, haltedPause): // it has logged why it halted
			return nil
		}
	}
}

// newSuccessor makes the indexer of another generation. It has this one's nodes, with what is known of them and what they allow.
func (ix *Indexer) newSuccessor(ctx context.Context, served *store.IndexStatus, generation int64) (*Indexer, error) {
	cfg := *ix.cfg
	cfg.ID = chainconfig.IndexID(ix.cfg.ID, generation)
	if cfg.Start.Now { // it is to have what the one that is served has
		first, ok, err := ix.store.Indexes.FirstBlock(ctx, served.ID)
		if err != nil {
			return nil, err
		}
		if ok {
			cfg.Start = chainconfig.Start{Block: first}
		}
	}
	bytes, err := ix.store.Indexes.Bytes(ctx, served.ID)
	if err != nil {
		return nil, err
	}
	o := ix.o
	o.Log = ix.o.Log.With("index", cfg.ID)
	next := &Indexer{
		plan: ix.plan,
		successor: &successor{
			of: served.ID, generation: generation, anew: ix.cfg.AskAnew && generation == ix.cfg.Generation || served.WantedAnew && generation == served.Wanted,
			effort: chainconfig.EffortOf(cfg.Family, cfg.Start.Block, served.Last.Number, bytes),
		},
	}
	if err := next.init(&cfg, newIndexID(cfg.ID), ix.store, ix.nodes, o); err != nil {
		return nil, err
	}
	return next, nil
}

// keptFacts are the facts that this index, or the one whose place it is to take, kept of some blocks, by block.
func (ix *Indexer) keptFacts(ctx context.Context, first, last uint64) (map[uint64][]store.StoredFact, error) {
	list, err := ix.store.Facts.Between(ctx, ix.rows.id(), first, last)
	if err != nil {
		return nil, err
	}
	own := byBlock(list)
	if ix.successor == nil || ix.successor.anew {
		return own, nil
	}
	if list, err = ix.store.Facts.Sure(ctx, ix.successor.of, first, last); err != nil {
		return nil, err
	}
	all := byBlock(list)
	maps.Copy(all, own) // its own are all that it needs of a block
	return all, nil
}

func byBlock(facts []store.StoredFact) map[uint64][]store.StoredFact {
	out := map[uint64][]store.StoredFact{}
	for _, f := range facts {
		out[f.Block] = append(out[f.Block], f)
	}
	return out
}

// mustWait reports whether what nodes allow today is kept for the index that is served.
func (ix *Indexer) mustWait() bool { return ix.successor != nil && ix.plan.GivesUp(budget.Reindexing) }

// awaitBudget waits while mustWait.
func (ix *Indexer) awaitBudget(ctx context.Context) error {
	for ix.mustWait() {
		ix.account.phase(chainconfig.PhaseWaiting, "what the endpoints allow today is kept for the index that is served")
		ix.pulse.beat()
		if !wait.For(ctx, generationPause) {
			return ctx.Err()
		}
	}
	return nil
}

// takeOver takes the place of the index that is served; errTookOver says that it did. It is called at the head.
func (ix *Indexer) takeOver(ctx context.Context) error {
	s := ix.successor
	if s == nil {
		return nil
	}
	var after market.Address
	for more := !s.inherited; more; ix.pulse.beat() {
		err := ix.untilWritten(ctx, func() (err error) {
			after, more, err = ix.store.Indexes.Inherit(ctx, ix.lease, s.of, after, inheritedAtOnce)
			return err
		})
		if err != nil {
			return err
		}
	}
	s.inherited = true
	switch err := ix.untilWritten(ctx, func() error { return ix.store.Indexes.TakeOver(ctx, ix.lease, ix.cfg.Generation) }); {
	case errors.Is(err, store.ErrBehind):
		return nil // it has another block by the next turn
	case errors.Is(err, store.ErrUnwanted):
		return nil // indexAnew ends it within generationPause
	case err != nil:
		return err
	}
	return errTookOver
}

// purge deletes indexes that have been of no use for a while.
func (ix *Indexer) purge(ctx context.Context, others []store.IndexStatus) error {
	var errs []error
	for _, s := range others {
		since, known := ix.reindex.idle[s.ID]
		if now := ix.o.Now(); !known {
			ix.reindex.idle[s.ID] = now
		} else if now.Sub(since) >= purgeAfter {
			errs = append(errs, ix.purgeIndex(ctx, s.ID, func() {})) // beside the loop, which has to beat for itself
		}
	}
	return errors.Join(errs...)
}

func (ix *Indexer) purgeIndex(ctx context.Context, id string, beat func()) error {
	l, err := ix.store.Leases.Acquire(ctx, id, ix.o.Holder, leaseTTL)
	if errors.Is(err, store.ErrLeaseHeld) || errors.Is(err, store.ErrReplaced) {
		return nil // whoever holds it learns that it isn't wanted; or another was faster
	}
	if err != nil {
		return err
	}
	if err := ix.purgeUnder(ctx, l, beat); err != nil {
		return err
	}
	delete(ix.reindex.idle, id)
	return nil
}

// purgeUnder deletes the index of a lease, and calls beat after each piece.
func (ix *Indexer) purgeUnder(ctx context.Context, l *store.Lease, beat func()) error {
	ix.log.InfoContext(ctx, "deleting an index that is no longer served", "index", l.Chain)
	for done := false; !done; beat() {
		var err error
		if done, err = ix.store.Indexes.Purge(ctx, l); err != nil {
			return fmt.Errorf("delete index %s: %w", l.Chain, err)
		}
		if err := ix.store.Leases.Renew(ctx, l); !done && err != nil {
			return err
		}
		if !wait.For(ctx, purgePause) {
			return ctx.Err()
		}
	}
	ix.log.InfoContext(ctx, "the index is deleted", "index", l.Chain)
	return nil
}
