package view

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/search"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
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
	// staleAfter is the age of a chain's newest indexed block, in seconds, from which on its figures are stale.
	staleAfter = 120
)

// ErrUnread means that the database hasn't been read yet, or not for a while.
var ErrUnread = errors.New("view: the database can't be read")

// View reads the store for the handlers: what is hot from memory, the rest through a short cache.
type View struct {
	store *store.Store
	// looks is the store for what goes on beside the requests.
	looks   *store.Store
	catalog *catalog.Catalog
	now     func() time.Time
	log     *slog.Logger
	// evm are the declared chains of that family.
	evm map[string]bool

	world  atomic.Pointer[world]
	tokens tokenCache
	live   liveList
	majors majorsList
	search searcher
}

// world is what was true of the chains at one look. It is never changed.
type world struct {
	statuses map[string]store.ChainStatus
	readAt   time.Time
	// failing is true while the database can't be read; then the rest is that of the last time.
	failing bool
}

// New makes a view. Run keeps its snapshots fresh. It fails on a catalogue with an address that is none.
func New(st *store.Store, c *catalog.Catalog, now func() time.Time, log *slog.Logger) (*View, error) {
	v := &View{
		store: st, looks: st.Reserved(), catalog: c, now: now, log: log, evm: make(map[string]bool), tokens: newTokenCache(),
		live: newLiveList(), search: newSearcher(search.New()),
	}
	var majors []declaredMajor
	for i := range c.Chains {
		chain := &c.Chains[i]
		if chain.Family != chainconfig.EVM {
			continue
		}
		v.evm[chain.ID] = true
		for _, m := range chain.Majors {
			mint, err := market.ParseEVMAddress(m.Address)
			if err != nil {
				return nil, fmt.Errorf("chain %s: major %s: %w", chain.ID, m.Asset, err)
			}
			majors = append(majors, declaredMajor{chain: chain.ID, asset: m.Asset, mint: mint})
		}
	}
	v.majors.declared = majors
	return v, nil
}

// Run keeps the snapshots fresh until ctx ends. While the database is away the last ones stay, and say so.
func (v *View) Run(ctx context.Context) {
	hints := v.store.Hints(ctx)
	committed := make(chan struct{}, 1)
	var g errgroup.Group
	g.Go(func() error {
		v.search.run(ctx, v, committed)
		return nil
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
	_ = g.Wait()
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
	next := &world{statuses: make(map[string]store.ChainStatus, len(list)), readAt: v.now()}
	for _, s := range list {
		if _, declared := v.catalog.Chain(s.ID); declared && !s.Last.Hash.IsZero() {
			next.statuses[s.ID] = s
		}
	}
	if err := v.refreshLive(ctx, next); err != nil {
		return err
	}
	if err := v.refreshMajors(ctx, next); err != nil {
		return err
	}
	v.world.Store(next)
	return nil
}

func (v *View) readChains(ctx context.Context) ([]store.ChainStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	return v.looks.Chains(ctx)
}

// lost marks everything stale that is still served while the database is away.
func (v *View) lost(ctx context.Context, err error) {
	if w := v.world.Load(); w == nil || !w.failing {
		v.log.WarnContext(ctx, "snapshots not refreshed", "err", err.Error())
	}
	next := &world{failing: true}
	if w := v.world.Load(); w != nil {
		next.statuses, next.readAt = w.statuses, w.readAt
	}
	v.world.Store(next)
	v.live.lost()
	v.majors.lost()
}

// stale reports whether a chain's figures are those of a while ago: its indexer or its nodes stand still.
func (v *View) stale(state store.ChainState, newest int64) bool {
	return state == store.ChainHalted || v.now().Unix()-newest > staleAfter
}

// Ready says why requests can't be answered yet, or nil.
func (v *View) Ready() error {
	switch {
	case v.live.snapshot.Load() == nil || v.majors.snapshot.Load() == nil:
		return errors.New("the first snapshot is being made")
	case !v.search.loaded.Load():
		return errors.New("the search index is being filled")
	default:
		return nil
	}
}

// ChainHealth is how a declared chain is doing.
type ChainHealth struct {
	ID string
	// Indexed is false while nothing of the chain has been committed; then there is no lag.
	Indexed bool
	// LagS is the time of the newest announced block less that of the newest indexed one, in seconds.
	LagS int64
	// AsOf is the time of the newest indexed block; unix seconds.
	AsOf int64
	// Silent is true when the chain is halted or its nodes have announced nothing for a while.
	Silent bool
}

// Health lists the chains that are not suspended, in the order of the catalogue, as they were at the last look. The error
// is ErrUnread when that look failed or is long ago.
func (v *View) Health() ([]ChainHealth, error) {
	var err error
	w := v.world.Load()
	if w == nil || w.failing || v.now().Sub(w.readAt) > staleLook {
		err = ErrUnread
	}
	var out []ChainHealth
	for _, c := range v.catalog.Chains {
		if c.Suspended {
			continue
		}
		h := ChainHealth{ID: c.ID}
		if w != nil {
			if s, ok := w.statuses[c.ID]; ok {
				h = ChainHealth{
					ID: c.ID, Indexed: true, AsOf: s.Last.Time, LagS: max(s.Head.Time-s.Last.Time, 0), Silent: v.stale(s.State, s.Last.Time),
				}
			}
		}
		out = append(out, h)
	}
	return out, err
}
