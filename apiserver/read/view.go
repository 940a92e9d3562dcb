// Package read gives handlers their data. Lists that many clients read are kept in memory, in snapshots that are made
// once per change; everything else is read from the store through short caches. Catalogue, figures, series, pairs and
// boards have a package each below it; View keeps all of them fresh.
package read

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/pairs"
	"github.com/boardwalkhq/boardwalk/apiserver/read/profit"
	"github.com/boardwalkhq/boardwalk/apiserver/read/series"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/apiserver/read/totals"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// refreshEvery is the pace at which commits are looked for when nothing hints at one.
	refreshEvery = 500 * time.Millisecond
	// refreshApart is the least time between two looks, however many hints there are.
	refreshApart = 100 * time.Millisecond
	// staleLook is the age of the last look from which on the database counts as away.
	staleLook = 15 * time.Second
)

// ErrUnread means that the database hasn't been read yet, or not for a while.
var ErrUnread = errors.New("read: the database can't be read")

// View reads the store for the handlers: what is hot from memory, the rest through short caches.
type View struct {
	tokens   *figures.Reader
	launches *boards.Launches
	pairs    *pairs.Finder
	series   series.Reader

	store *store.Store
	// looks is the store for what goes on beside the requests.
	looks *store.Store
	live  *catalog.Live
	now   func() time.Time
	log   *slog.Logger

	snapshot atomic.Pointer[Snapshot]
	showing  sync.Mutex // held by show
	version  int64      // of the newest list; show's

	ranks   *boards.Ranker
	majors  *foundMajors // of the last look
	members *members.Directory
	profit  *profit.Reader
	totals  *totals.Reader
	// follower has the newest items of the stream, and older reads the others.
	follower *stream.Follower
	older    *stream.Reader
	// standings are what members have come to in their game.
	standings *standings.Standings
	// inTokens is who of the members is in which token.
	inTokens *tokenmembers.Index
	// streamFailed, standingsFailed and inTokensFailed say that the stream, the standings or who is in which token couldn't be followed the last time.
	streamFailed, standingsFailed, inTokensFailed bool
	// followed is when the members were followed last; unfollowed says that it failed since.
	followed   time.Time
	unfollowed bool
}

// New makes a view, whose launch board has a quality bar. Run keeps it fresh.
func New(st *store.Store, live *catalog.Live, gate board.Gate, now func() time.Time, log *slog.Logger) *View {
	st = st.Served()
	looks := st.Reserved()
	v := &View{
		store: st, looks: looks, live: live, now: now, log: log, series: series.NewReader(st),
	}
	v.totals = totals.NewReader(st, now)
	v.tokens = figures.NewReader(st, now, v.away)
	v.launches = boards.NewLaunches(st, gate, now, v.away)
	v.pairs = pairs.NewFinder(pairs.Options{Store: st, Looks: looks, Tokens: v.tokens, Now: now, Log: log})
	v.members = members.NewDirectory(looks.Social.Registry)
	v.inTokens = tokenmembers.New(looks.Wallets, v.members)
	v.ranks = boards.NewRanker(looks, v.inTokens, gate, now, log)
	v.profit = profit.NewReader(st.Wallets, st.Social.Profit, v.members, now)
	v.follower, v.older = stream.NewFollower(looks.Stream, looks.Social.Registry.ServerChanges, now), stream.NewReader(st, now)
	v.standings = standings.New(looks.Social.Game, now)
	v.snapshot.Store(&Snapshot{Catalog: declared.New(live.Now()), Members: v.members, Standings: v.standings, TokenMembers: v.inTokens})
	return v
}

// Run keeps the snapshot fresh until ctx ends. While the database is away the last one stays, and says so.
func (v *View) Run(ctx context.Context) {
	hints := v.store.Hints(ctx)
	committed := make(chan struct{}, 1)
	var g errgroup.Group
	g.Go(func() error {
		v.pairs.Run(ctx, committed, v.statuses)
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
	v.ranks.Wait()
	v.inTokens.Wait()
	_ = g.Wait()
}

// adopt takes over the newest catalogue, whatever the database does: what goes, goes at once, and what is new is filled in by
// the next look. The channel is closed when there is a newer one.
func (v *View) adopt() <-chan struct{} {
	newest, changed := v.live.Changed()
	if newest == v.snapshot.Load().Catalog.Source {
		return changed
	}
	c := declared.New(newest)
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
	if next.database.presence, err = v.readPresence(ctx); err != nil {
		return err
	}
	if v.followMembers(ctx) { // whose trades may come
		v.followStream(ctx)
		v.followStandings(ctx)
	}
	v.followTokens(ctx, next)
	if err = v.ranks.Refresh(ctx, next.statuses(), next.Catalog); err != nil {
		return err
	}
	if next.found, err = v.refreshMajors(ctx, next); err != nil {
		return err
	}
	v.show(func(s *Snapshot) {
		s.database, s.ranking, s.found, s.Stream = next.database, v.ranks.Ranking(), next.found, v.follower.Newest()
	})
	return nil
}

func (v *View) readChains(ctx context.Context) ([]store.ChainStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	return v.looks.Chains(ctx)
}

// followStream takes in what is new in the stream. Where it alone can't be read, the markets are read all the same.
func (v *View) followStream(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	err := errors.Join(v.follower.Follow(ctx), v.older.FollowNotes(ctx, v.looks.Social.Posts))
	if err != nil && !v.streamFailed && ctx.Err() == nil {
		v.log.WarnContext(ctx, "the stream can't be followed: what is new comes late", "err", err.Error())
	}
	v.streamFailed = err != nil
}

// followStandings takes in what members have come to. Where that alone can't be read, the markets are read all the same.
func (v *View) followStandings(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	err := v.standings.Follow(ctx)
	if err != nil && !v.standingsFailed {
		v.log.WarnContext(ctx, "the members' game can't be followed: ranks are old", "err", err.Error())
	}
	v.standingsFailed = err != nil
}

// followTokens takes in who is in which token. Where that alone can't be read, the markets are read all the same.
func (v *View) followTokens(ctx context.Context, next *Snapshot) {
	chains := map[string]tokenmembers.Chain{}
	for id, status := range next.statuses() {
		chains[id] = tokenmembers.Chain{Family: next.Catalog.Chain(id).Family, Status: status}
	}
	err := v.inTokens.Follow(ctx, chains)
	if err != nil && !v.inTokensFailed && ctx.Err() == nil {
		v.log.WarnContext(ctx, "who is in which token can't be followed: members in tokens are old", "err", err.Error())
	}
	v.inTokensFailed = err != nil
}

// lost marks everything stale that is still served while the database is away.
func (v *View) lost(ctx context.Context, err error) {
	if !v.snapshot.Load().failing() {
		v.log.WarnContext(ctx, "snapshots not refreshed", "err", err.Error())
	}
	v.show(func(s *Snapshot) {
		next := databaseState{failing: true}
		if s.database != nil {
			next.statuses, next.readAt, next.presence = s.database.statuses, s.database.readAt, s.database.presence
		}
		s.database = &next
	})
}

// away reports whether the database is known to be away.
func (v *View) away() bool { return v.snapshot.Load().failing() }

// statuses gives the status of each declared chain at the last look at the database, or nil while the database is away.
func (v *View) statuses() map[string]store.ChainStatus {
	s := v.snapshot.Load()
	if s.database == nil || s.failing() {
		return nil
	}
	return s.statuses()
}

// Ready says why requests can't be answered yet, or nil.
func (v *View) Ready() error {
	switch s := v.snapshot.Load(); {
	case s.Live == nil || s.Majors == nil || s.Board == nil:
		return errors.New("the first snapshot is being made")
	case !v.pairs.Loaded():
		return errors.New("the search index is being filled")
	default:
		return nil
	}
}
