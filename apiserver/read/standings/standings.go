// Package standings knows what members have come to in their game. It follows what the members program wrote. Who a member is, and whether they are still there,
// the directory of members says.
package standings

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// Game reads the changes of the game. It is social.Game.
type Game interface {
	GameState(ctx context.Context) (*social.GameState, error)
	LastGameChange(ctx context.Context) (int64, error)
	GameChanges(ctx context.Context, after int64, limit int) ([]social.GameStanding, error)
	// ServerChanges counts how often the database's server was another one.
	ServerChanges() int64
}

const (
	// changesAtOnce is how many changes are read at once.
	changesAtOnce = 1000
	// stateEvery is the time between two looks at the rules, and at how far the chains were read.
	stateEvery = 5 * time.Second
)

// Standings has the XP, rank and badges of all members. Follow keeps them fresh; any number of goroutines may ask.
type Standings struct {
	game Game
	now  func() time.Time

	mu sync.RWMutex
	of map[member.Number]standing
	// last is the number of the newest change that was taken in, and changedAt when something changed last; unix seconds.
	last, changedAt int64
	servers         int64
	rules           *game.Rules
	// readTo is up to which time the trades of each chain were taken in; unix seconds. It is nil where nobody keeps the game.
	readTo map[string]int64
	// stateAt is when the last two were read.
	stateAt time.Time
	isWhole bool
}

// standing is a member's standing in few bytes.
type standing struct {
	xp, week, weekXP int64
	badges           []badge
}

// badge is an earned badge, by its place in the rules.
type badge struct {
	place int32
	date  int32
}

// New knows nothing yet.
func New(g Game, now func() time.Time) *Standings {
	return &Standings{game: g, now: now, of: map[member.Number]standing{}, rules: game.Default()}
}

// Follow takes in what has changed since the last time. What it took in before an error it keeps. One goroutine calls it. A database that has gone back, and one
// on another server, which may lack the newest changes of the last, are read anew.
func (s *Standings) Follow(ctx context.Context) error {
	servers := s.game.ServerChanges() // before the change: it may be another server's already, and then differs the next time
	last, err := s.game.LastGameChange(ctx)
	if err != nil {
		return err
	}
	if now := s.now(); servers != s.servers || last < s.last || now.Sub(s.stateAt) >= stateEvery || now.Before(s.stateAt) {
		if err := s.readState(ctx, now); err != nil {
			return err
		}
	}
	if last < s.last || servers != s.servers {
		s.clear()
		s.mu.Lock()
		s.servers = servers
		s.mu.Unlock()
	}
	for s.last < last {
		list, err := s.game.GameChanges(ctx, s.last, changesAtOnce)
		if err != nil {
			return err
		}
		if len(list) == 0 { // what changed last isn't there any more
			break
		}
		s.take(list)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isWhole = true
	return nil
}

// readState reads the rules, and how far the chains were read. Of other rules than before badges have other places, so that everything is read anew.
func (s *Standings) readState(ctx context.Context, now time.Time) error {
	state, err := s.game.GameState(ctx)
	if err != nil {
		return err
	}
	rules := game.Default()
	var readTo map[string]int64
	if state != nil {
		rules, readTo = state.Rules, state.Chains
	}
	if !slices.Equal(rules.Badges, s.rules.Badges) {
		s.clear()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readTo, s.stateAt = readTo, now; !reflect.DeepEqual(rules, s.rules) {
		s.rules = rules // another pointer is another Version
	}
	return nil
}

func (s *Standings) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of, s.last, s.isWhole = map[member.Number]standing{}, 0, false
}

func (s *Standings) take(list []social.GameStanding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		c := &list[i]
		s.last, s.changedAt = c.Change, max(s.changedAt, c.ChangedAt)
		if c.XP == 0 && c.WeekXP == 0 && len(c.Badges) == 0 { // they were erased, or a reorg took what they had
			delete(s.of, c.Member)
			continue
		}
		st := standing{xp: c.XP, week: c.Week, weekXP: c.WeekXP}
		for _, e := range c.Badges {
			if place := slices.IndexFunc(s.rules.Badges, func(b game.Badge) bool { return b.ID == e.Badge }); place >= 0 {
				st.badges = append(st.badges, badge{int32(place), int32(e.Date)})
			}
		}
		s.of[c.Member] = st
	}
}

// Version is another one after each change of what members have come to, and of the rules.
func (s *Standings) Version() Version {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return Version{s.last, s.servers, s.rules}
}

// Version can be compared.
type Version struct {
	last, servers int64
	rules         *game.Rules
}

// IsWhole reports whether everything is known that was there a moment ago.
func (s *Standings) IsWhole() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.isWhole
}

// ChangedAt is when anything changed last; unix seconds, 0 for never.
func (s *Standings) ChangedAt() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.changedAt
}

// ReadTo is up to which time the trades of a chain were taken in; unix seconds, 0 for none.
func (s *Standings) ReadTo(chain string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.readTo[chain]
}

// Rank is a rank with its place on the ladder, from 1 on.
type Rank struct {
	game.Rank
	Level int
}

func rankAt(r *game.Rules, level int) Rank { return Rank{r.Ranks[level-1], level} }

// Rank is a member's; ok is false while nothing is known.
func (s *Standings) Rank(n member.Number) (r Rank, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.isWhole {
		return r, false
	}
	return rankAt(s.rules, s.rules.Level(s.of[n].xp)), true
}

// Profile is a member's standing in the game, as it is shown.
type Profile struct {
	XP   int64
	Rank Rank
	// Next is the next higher rank; nil for who has the highest.
	Next   *Rank
	Badges []Badge
}

// Badge is a badge that a member has.
type Badge struct {
	game.Badge
	// EarnedAt is when the day began on which it was earned; unix seconds.
	EarnedAt int64
}

// Profile gives a member's profile.
func (s *Standings) Profile(n member.Number) Profile {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := s.of[n]
	p := Profile{XP: st.xp, Rank: rankAt(s.rules, s.rules.Level(st.xp))}
	if p.Rank.Level < len(s.rules.Ranks) {
		p.Next = new(rankAt(s.rules, p.Rank.Level+1))
	}
	for _, b := range st.badges {
		p.Badges = append(p.Badges, Badge{s.rules.Badges[b.place], game.Opens(int64(b.date))})
	}
	return p
}

// Ladder counts the members of each rank, from the lowest on. Who isn't one of them any more, as isMember says, is left out; the others of all members have the lowest.
func (s *Standings) Ladder(all int, isMember func(member.Number) bool) (ranks []Rank, counts []int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	counts = make([]int, len(s.rules.Ranks))
	higher := 0
	for n, st := range s.of {
		if level := s.rules.Level(st.xp); level > 1 && isMember(n) {
			counts[level-1]++
			higher++
		}
	}
	counts[0] = max(all-higher, 0)
	for level := range s.rules.Ranks {
		ranks = append(ranks, rankAt(s.rules, level+1))
	}
	return ranks, counts
}

// Score is the XP of a member's days of a week.
type Score struct {
	Member member.Number
	XP     int64
}

// Scores lists the members' scores of a week that isn't over yet, the highest first.
func (s *Standings) Scores(week int64) (out []Score) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for n, st := range s.of {
		if st.week == week && st.weekXP > 0 {
			out = append(out, Score{n, st.weekXP})
		}
	}
	slices.SortFunc(out, func(a, b Score) int { return cmp.Or(cmp.Compare(b.XP, a.XP), cmp.Compare(a.Member, b.Member)) })
	return out
}
