// Package game has the operations about the members' game.
package game

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/apiserver/wire"
	rules "github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// lateFor is how far the game may be behind a chain until answers say so, in seconds.
const lateFor = 5 * 60

// Handlers answer the operations about the game.
type Handlers struct {
	Now func() time.Time

	ladders kept[ladder]
	seasons kept[[]contract.GameSeasonEntry]
}

// Routes are the operations about the game.
func (h *Handlers) Routes() []serve.Route {
	return []serve.Route{
		{Operation: "getGameLadder", Handle: h.ladder},
		{Operation: "getGameProfile", Handle: h.profile},
		{Operation: "getGameRanks", Handle: h.ranks},
		{Operation: "getGameSeason", Handle: h.season},
	}
}

// check says why nothing can be answered yet, or nil.
func check(r *serve.Request) error {
	if !r.Seen.Members.IsWhole() || !r.Seen.Standings.IsWhole() {
		return serve.Unavailable(serve.ErrNoSnapshot)
	}
	return nil
}

// isLate reports whether what members did in the last minutes isn't counted.
func isLate(s *read.Snapshot) bool {
	if s.Failing() {
		return true
	}
	if s.Members.IsEmpty() {
		return false
	}
	return slices.ContainsFunc(s.Catalog.ChainIDs(nil), func(chain string) bool { return s.TimeOf(chain)-s.Standings.ReadTo(chain) > lateFor })
}

// ladder has the members of each rank.
type ladder struct {
	total  int
	ranks  []standings.Rank
	counts []int
}

func (h *Handlers) ladder(r *serve.Request) (*serve.Answer, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	now := h.ladders.get(madeFrom(r.Seen, 0), func() ladder {
		l := ladder{total: r.Seen.Members.Count()}
		l.ranks, l.counts = r.Seen.Standings.Ladder(l.total, func(n member.Number) bool {
			_, ok := r.Seen.Members.Member(n)
			return ok
		})
		return l
	})
	out := contract.GameLadder{AsOf: asOf(r), Total: now.total, Ranks: make([]contract.GameLadderRank, len(now.ranks)), Stale: isLate(r.Seen)}
	for i, rank := range now.ranks {
		out.Ranks[i] = contract.GameLadderRank{ID: rank.ID, Level: rank.Level, Name: rank.Name, MinXP: int(rank.MinXP), Members: now.counts[i]}
	}
	return serve.Encode(out)
}

func asOf(r *serve.Request) contract.Timestamp { return r.AsOf(r.Seen.Standings.ChangedAt()) }

func (h *Handlers) profile(r *serve.Request) (*serve.Answer, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	m, ok := r.Seen.Members.Named(r.Text("handle"))
	if !ok {
		p := serve.NewProblem("profile-not-found", "No member has this handle.")
		p.Handle = r.Text("handle")
		return nil, p
	}
	has := r.Seen.Standings.Profile(m.Number)
	out := contract.GameProfile{
		AsOf: asOf(r), Handle: m.Handle, Rank: wire.GameRank(has.Rank), XP: int(has.XP), Badges: make([]contract.GameBadge, len(has.Badges)), Stale: isLate(r.Seen),
		UnknownReasons: contract.UnknownReasons{},
	}
	none := func(what string) { out.UnknownReasons[what] = contract.UnknownReasonNotApplicable }
	if m.AvatarURL != "" {
		out.AvatarURL = &m.AvatarURL
	} else {
		none("avatar_url")
	}
	if m.JoinedAt > 0 {
		out.JoinedAt = new(wire.Timestamp(m.JoinedAt))
	} else {
		none("joined_at")
	}
	if has.Next != nil {
		out.NextRank = &contract.GameNextRank{ID: has.Next.ID, MinXP: int(has.Next.MinXP)}
	} else {
		none("next_rank")
	}
	for i, b := range has.Badges {
		badge := contract.GameBadge{ID: b.ID, Name: b.Name, EarnedAt: wire.Timestamp(b.EarnedAt), UnknownReasons: contract.UnknownReasons{}}
		if b.Image != "" {
			badge.ImageURL = &b.Image
		} else {
			badge.UnknownReasons["image_url"] = contract.UnknownReasonNotApplicable
		}
		out.Badges[i] = badge
	}
	return serve.Encode(out)
}

func (h *Handlers) ranks(r *serve.Request) (*serve.Answer, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	out := contract.GameRanks{Ranks: map[string]contract.GameRank{}, Missing: []string{}, Stale: isLate(r.Seen)}
	for _, handle := range r.List("handles") {
		m, ok := r.Seen.Members.Named(handle)
		if !ok {
			out.Missing = append(out.Missing, handle)
			continue
		}
		if rank, ok := r.Seen.Standings.Rank(m.Number); ok {
			out.Ranks[handle] = wire.GameRank(rank)
		}
	}
	return serve.Encode(out)
}

func (h *Handlers) season(r *serve.Request) (*serve.Answer, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	week := rules.WeekOf(rules.DateOf(h.Now().Unix()))
	entries := h.seasons.get(madeFrom(r.Seen, week), func() []contract.GameSeasonEntry {
		return firstOf(r.Seen.Standings.Scores(week), r.Seen.Members)
	})
	return serve.Encode(contract.GameSeason{
		Season: contract.GameSeasonWeek{
			ID: rules.WeekID(week), StartsAt: wire.Timestamp(rules.Opens(rules.FirstDay(week))), EndsAt: wire.Timestamp(rules.Opens(rules.FirstDay(week + 1))),
		},
		AsOf: r.AsOf(max(r.Seen.Standings.ChangedAt(), rules.Opens(rules.FirstDay(week)))), Entries: entries[:min(len(entries), int(r.Number("limit")))], Stale: isLate(r.Seen),
	})
}

// firstOf lists the entries of a season, the highest score first. It leaves out who isn't a member any more, and stops after rules.MostPlaces.
func firstOf(scores []standings.Score, directory *members.Directory) []contract.GameSeasonEntry {
	out := []contract.GameSeasonEntry{}
	for len(scores) > 0 && len(out) < rules.MostPlaces {
		n := slices.IndexFunc(scores, func(s standings.Score) bool { return s.XP < scores[0].XP })
		if n < 0 {
			n = len(scores)
		}
		var equal []contract.GameSeasonEntry
		for _, score := range scores[:n] {
			if m, ok := directory.Member(score.Member); ok {
				equal = append(equal, contract.GameSeasonEntry{Handle: m.Handle, Rank: len(out) + 1, Score: float64(score.XP)})
			}
		}
		slices.SortFunc(equal, func(a, b contract.GameSeasonEntry) int {
			return cmp.Compare(member.HandleKey(a.Handle), member.HandleKey(b.Handle))
		})
		out, scores = append(out, equal...), scores[n:]
	}
	return out[:min(len(out), rules.MostPlaces)]
}

// kept is something that is made once for each change of what it is made from.
type kept[V any] struct {
	mu    sync.Mutex
	from  source
	value V
}

// source is what a ladder or a season is made from.
type source struct {
	standings standings.Version
	registry  int64
	week      int64
}

func madeFrom(s *read.Snapshot, week int64) source {
	return source{s.Standings.Version(), s.Members.Version(), week}
}

func (k *kept[V]) get(from source, made func() V) V {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.from != from {
		k.from, k.value = from, made()
	}
	return k.value
}
