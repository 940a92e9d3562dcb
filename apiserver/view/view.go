package view

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/search"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// refreshEvery is the pace at which commits are looked for when nothing hints at one.
	refreshEvery = 500 * time.Millisecond
	// refreshApart is the least time between two looks, however many hints there are.
	refreshApart = 100 * time.Millisecond
	// refreshTime bounds what is read at one look of a chain, so that a database that hangs is noticed; the first look of a
	// chain has longer.
	refreshTime, firstTime = 5 * time.Second, 2 * time.Minute
	// staleLook is the age of the last look from which on the database counts as away.
	staleLook = 15 * time.Second
	// readTime bounds what is read for one request.
	readTime = 5 * time.Second
	// staleAfter is the lag of a chain's newest indexed block, in seconds, from which on its figures are stale.
	staleAfter = 120
)

// ErrUnread means that the database hasn't been read yet, or not for a while.
var ErrUnread = errors.New("view: the database can't be read")

// View reads the store for the handlers: what is hot from memory, the rest through a short cache.
type View struct {
	store *store.Store
	// looks is the store for what goes on beside the requests.
	looks *store.Store
	live  *catalog.Live
	now   func() time.Time
	log   *slog.Logger

	snapshot atomic.Pointer[Snapshot]
	showing  sync.Mutex // held by show
	version  int64      // of the newest list; show's

	tokens   tokenCache
	launches launchCache
	ranks    ranker
	// readings are the chains that are read anew in the background.
	readings sync.WaitGroup
	majors   *foundMajors // of the last look
	search   searcher
}

// New makes a view, whose launch board has a quality bar. Run keeps it fresh.
func New(st *store.Store, live *catalog.Live, gate board.Gate, now func() time.Time, log *slog.Logger) *View {
	st = st.Served()
	v := &View{
		store: st, looks: st.Reserved(), live: live, now: now, log: log, tokens: newTokenCache(), launches: newLaunchCache(), ranks: newRanker(gate),
		search: newSearcher(search.New()),
	}
	v.snapshot.Store(&Snapshot{Catalog: NewCatalog(live.Now())})
	return v
}

// Run keeps the snapshot fresh until ctx ends. While the database is away the last one stays, and says so.
func (v *View) Run(ctx context.Context) {
	hints := v.store.Hints(ctx)
	committed := make(chan struct{}, 1)
	var g errgroup.Group
	g.Go(func() error {
		v.search.run(ctx, v, committed)
		return nil
	})
	changed := v.adopt()
	g.Go(func() error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
				changed = v.adopt()
			}
		}
	})
	for ctx.Err() == nil {
		if err := v.refresh(ctx); err != nil && ctx.Err() == nil {
			v.lost(ctx, err)
		}
		select {
		case committed <- struct{}{}:
		default:
		}
		pause(ctx, refreshApart, nil)
		pause(ctx, refreshEvery-refreshApart, hints)
	}
	v.readings.Wait()
	_ = g.Wait()
}

// adopt takes over the newest catalogue, whatever the database does: what goes, goes at once, and what is new is filled in by
// the next look. The channel is closed when there is a newer one.
func (v *View) adopt() <-chan struct{} {
	newest, changed := v.live.Changed()
	if newest == v.snapshot.Load().Catalog.of {
		return changed
	}
	c := NewCatalog(newest)
	v.show(func(s *Snapshot) { s.Catalog = c })
	return changed
}

// pause waits for d, for a hint or for the end of ctx.
func pause(ctx context.Context, d time.Duration, hints <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-hints:
	case <-t.C:
	}
}

// refresh takes in what was committed since the last time.
func (v *View) refresh(ctx context.Context) error {
	list, err := v.readChains(ctx)
	if err != nil {
		return err
	}
	next := &Snapshot{
		Catalog: v.snapshot.Load().Catalog, database: &databaseState{statuses: make(map[string]store.ChainStatus, len(list)), readAt: v.now()},
	}
	for _, s := range list {
		if !s.Last.Hash.IsZero() {
			next.database.statuses[s.ID] = s
		}
	}
	if err = v.refreshRanks(ctx, next); err != nil {
		return err
	}
	if next.found, err = v.refreshMajors(ctx, next); err != nil {
		return err
	}
	v.show(func(s *Snapshot) {
		s.database, s.ranking, s.published, s.found = next.database, v.ranks.last, v.ranks.published, next.found
	})
	return nil
}

func (v *View) readChains(ctx context.Context) ([]store.ChainStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	return v.looks.Chains(ctx)
}

// lost marks everything stale that is still served while the database is away.
func (v *View) lost(ctx context.Context, err error) {
	if !v.snapshot.Load().failing() {
		v.log.WarnContext(ctx, "snapshots not refreshed", "err", err.Error())
	}
	v.show(func(s *Snapshot) {
		next := databaseState{failing: true}
		if s.database != nil {
			next.statuses, next.readAt = s.database.statuses, s.database.readAt
		}
		s.database = &next
	})
}

// stale is isStale now.
func (v *View) stale(state store.ChainState, newest int64, head store.HeadStatus) bool {
	return isStale(state, newest, head, v.now())
}

// Ready says why requests can't be answered yet, or nil.
func (v *View) Ready() error {
	switch s := v.snapshot.Load(); {
	case s.Live == nil || s.Majors == nil || s.Board == nil:
		return errors.New("the first snapshot is being made")
	case !v.search.loaded.Load():
		return errors.New("the search index is being filled")
	default:
		return nil
	}
}
