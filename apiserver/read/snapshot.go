package read

import (
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/boards"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/apiserver/read/stream"
	"github.com/boardwalkhq/boardwalk/apiserver/read/tokenmembers"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Snapshot is all that is served from memory, as it was at one moment. A request reads one, so that everything in its answer
// is of one catalogue. It is never changed.
type Snapshot struct {
	Catalog *declared.Catalog
	// Live and Majors are of the chains of the catalogue; nil before the first look at the database, as is Board.
	Live   *boards.Live
	Majors *Majors
	Board  *boards.Board
	// Stream is the newest of what clients follow by cursor; nil before the first look at the database.
	Stream *stream.Newest
	// Members are the platform's members. They are no part of the moment: who hides isn't named any more.
	Members *members.Directory
	// Standings are what they have come to in their game. They are no part of the moment either.
	Standings *standings.Standings
	// TokenMembers are who of them is in which token. They are no part of the moment either.
	TokenMembers *tokenmembers.Index

	// The lists are made of these two.
	database *databaseState  // nil before the first look
	ranking  *boards.Ranking // nil before the first ranking
	found    *foundMajors
}

// databaseState is what the database said of all chains at one look, declared or not. It is never changed.
type databaseState struct {
	statuses map[string]store.ChainStatus
	presence presence
	readAt   time.Time
	// failing is true while the database can't be read; then the rest is that of the last time.
	failing bool
}

// HasStream says that the stream is there, with all members whose trades are in it: else a client would pass over what isn't shown, for good.
func (s *Snapshot) HasStream() bool { return s.Stream != nil && s.Members.IsWhole() }

// Failing says that the database can't be read for now.
func (s *Snapshot) Failing() bool { return s.failing() }

func (s *Snapshot) failing() bool { return s.database != nil && s.database.failing }

// statuses gives the status of each declared chain of which the database has rows.
func (s *Snapshot) statuses() map[string]store.ChainStatus {
	out := make(map[string]store.ChainStatus, len(s.Catalog.Chains))
	for i := range s.Catalog.Chains {
		if status, ok := s.status(s.Catalog.Chains[i].ID); ok {
			out[status.ID] = status
		}
	}
	return out
}

func (s *Snapshot) status(chain string) (store.ChainStatus, bool) {
	if s.database == nil {
		return store.ChainStatus{}, false
	}
	status, ok := s.database.statuses[chain]
	return status, ok
}

// Summary is a token's from memory, as of the last look at the database, if that was after a time; while the database can't be read, as of the last look
// whenever that was. ok is false of a token that has to be read.
func (s *Snapshot) Summary(chain string, mint market.Address, after time.Time) (out figures.Summary, ok bool) {
	status, ok := s.status(chain)
	if !ok || !s.failing() && !s.database.readAt.After(after) {
		return out, false
	}
	return s.Board.Summary(&status, mint)
}

// Newest is the time of the newest indexed block of the declared chains; unix seconds, 0 when nothing is indexed.
func (s *Snapshot) Newest() (at int64) {
	for i := range s.Catalog.Chains {
		if status, ok := s.status(s.Catalog.Chains[i].ID); ok {
			at = max(at, status.Last.Time)
		}
	}
	return at
}

// TimeOf is the time of a chain's newest indexed block; unix seconds, 0 when nothing is indexed.
func (s *Snapshot) TimeOf(chain string) int64 {
	status, _ := s.status(chain)
	return status.Last.Time
}

// Final is the time up to which no reorg reaches any of the declared chains that are indexed; unix seconds, 0 where none is.
func (s *Snapshot) Final() (at int64) {
	first := true
	for i := range s.Catalog.Chains {
		status, ok := s.status(s.Catalog.Chains[i].ID)
		if final := min(status.Head.FinalTime, status.Last.Time); ok && (first || final < at) {
			at, first = final, false
		}
	}
	return at
}

// ChainHealth is how a declared chain is doing.
type ChainHealth struct {
	ID string
	// Indexed is false while nothing of the chain has been committed; then there is no lag.
	Indexed bool
	// LagS is the time of the newest announced block less that of the newest indexed one, in seconds; while Silent, the clock less the
	// newest indexed one.
	LagS int64
	// AsOf is the time of the newest indexed block; unix seconds.
	AsOf int64
	// Silent is true when nobody knows of newer blocks: the chain is halted, or no node has answered for a while. Halted is true of
	// the former.
	Silent, Halted bool
}

// Health lists the chains that are not suspended, in the order of the catalogue, as they were at the last look. The error
// is ErrUnread when that look failed or is long ago.
func (s *Snapshot) Health(now time.Time) ([]ChainHealth, error) {
	var err error
	if s.database == nil || s.database.failing || now.Sub(s.database.readAt) > staleLook {
		err = ErrUnread
	}
	var out []ChainHealth
	for i := range s.Catalog.Chains {
		c := &s.Catalog.Chains[i]
		if c.Suspended {
			continue
		}
		h := ChainHealth{ID: c.ID}
		if status, ok := s.status(c.ID); ok {
			h.Indexed, h.AsOf, h.Halted = true, status.Last.Time, status.State == store.ChainHalted
			h.LagS, h.Silent = store.Lag(status.State, status.Last.Time, status.Head, now)
		}
		out = append(out, h)
	}
	return out, err
}

// ListedBlock is the number of the block as of which a chain's tokens and launches are listed; false while they aren't.
func (s *Snapshot) ListedBlock(chain string) (uint64, bool) { return s.ranking.ListedBlock(chain) }

// Snapshot is the current one.
func (v *View) Snapshot() *Snapshot { return v.snapshot.Load() }

// show puts a changed snapshot in the place of the current one. Of the lists it makes those anew that the change concerns.
// Nothing is read meanwhile, so that neither a new catalogue nor a look at the database waits for the other.
func (v *View) show(change func(*Snapshot)) {
	v.showing.Lock()
	defer v.showing.Unlock()
	last := v.snapshot.Load()
	next := *last
	change(&next)
	lost := next.failing() != last.failing()
	if next.ranking != nil && (lost || next.ranking != last.ranking || !declared.SameChains(next.Catalog, last.Catalog)) {
		v.version++
		next.Live = next.ranking.Live(v.version, next.Catalog, next.failing())
	}
	if next.found != nil && (lost || next.found != last.found || !slices.Equal(next.Catalog.Majors, last.Catalog.Majors)) {
		v.version++
		next.Majors = next.listMajors(v.version)
	}
	if next.ranking != nil && (lost || next.ranking != last.ranking || next.Catalog != last.Catalog) {
		v.version++
		next.Board = next.ranking.Board(v.version, next.Catalog, next.failing())
	}
	v.snapshot.Store(&next)
}
