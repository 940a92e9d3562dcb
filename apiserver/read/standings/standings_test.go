package standings_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/standings"
	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const week = 2930

// kept is a database with members whose game is kept.
type kept struct {
	testing.TB

	st    *store.Store
	lease *social.Lease
	state *social.GameState
}

func open(tb testing.TB, kind string, members int) *kept {
	tb.Helper()
	st, err := store.Open(tb.Context(), storetest.DSN(tb, kind))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = st.Close() })
	k := &kept{tb, st, nil, &social.GameState{Chains: map[string]int64{"base": 7}, Rules: game.Default()}}
	for from := 0; from < members; from += 1000 {
		var records []member.Record
		for n := from; n < min(from+1000, members); n++ {
			records = append(records, member.Record{ID: member.ID(fmt.Sprint("u", n)), Handle: fmt.Sprint("member_", n), JoinedAt: 1, UpdatedAt: 1})
		}
		if _, written, err := st.Social.Registry.Apply(tb.Context(), records, true, 1); err != nil || !written {
			tb.Fatal(written, err)
		}
	}
	if k.lease, err = st.Social.Leases.Acquire(tb.Context(), "test", time.Hour.Milliseconds()); err != nil || k.lease == nil {
		tb.Fatal(err)
	}
	return k
}

func (k *kept) keep(played ...social.Played) {
	k.Helper()
	if err := k.st.Social.Game.KeepGame(k.Context(), k.lease, played, k.state, 100); err != nil {
		k.Fatal(err)
	}
}

func stands(of member.Number, xp int64, badges ...string) social.Played {
	p := social.Played{GameStanding: social.GameStanding{Member: of, Standing: game.Standing{XP: xp}, Week: week, WeekXP: xp}}
	for i, b := range badges {
		p.Badges = append(p.Badges, game.Earned{Badge: b, Date: int64(i)})
	}
	return p
}

func (k *kept) follow(s *standings.Standings) {
	k.Helper()
	if err := s.Follow(k.Context()); err != nil {
		k.Fatal(err)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			k := open(t, kind, 3)
			now := time.Unix(1000, 0)
			s := standings.New(k.st.Social.Game, func() time.Time { return now })
			if _, ok := s.Rank(1); ok || s.IsWhole() {
				t.Error("there are ranks before anything was read")
			}
			k.follow(s)
			if r, ok := s.Rank(1); !ok || r.Level != 1 || s.ReadTo("base") != 0 {
				t.Errorf("nobody keeps the game, and the rank is %+v", r)
			}
			k.keep(stands(1, 100, "full-day", "first-trade"), stands(2, 20))
			now = now.Add(time.Minute)
			before := s.Version()
			k.follow(s)
			if p := s.Profile(1); p.XP != 100 || p.Rank.ID != "trader" || len(p.Badges) != 2 || p.Badges[0].ID != "full-day" || p.Badges[1].EarnedAt != 86400 {
				t.Errorf("the profile is %+v", p)
			}
			if s.ReadTo("base") != 7 || s.ChangedAt() != 100 || s.Version() == before {
				t.Errorf("it was read to %d, changed at %d", s.ReadTo("base"), s.ChangedAt())
			}
			before = s.Version()
			now = now.Add(time.Minute)
			if k.follow(s); s.Version() != before {
				t.Error("it has changed without a change")
			}

			other := *k.state.Rules // badges of other rules have other places
			other.Badges = []game.Badge{{ID: "x", Name: "X", For: game.ForDays, Count: 1}, {ID: "first-trade", Name: "First", For: game.ForDays, Count: 1}}
			other.Ranks = []game.Rank{{ID: "all", Name: "All", MinXP: 0}}
			k.state.Rules = &other
			k.keep()
			now = now.Add(time.Minute)
			k.follow(s)
			if p := s.Profile(1); p.Rank.ID != "all" || p.Next != nil || len(p.Badges) != 1 || p.Badges[0].Name != "First" {
				t.Errorf("by other rules the profile is %+v", p)
			}

			for _, q := range []string{"DELETE FROM game_members WHERE member = 1", "UPDATE sequences SET last = 1 WHERE stream = 'game'"} {
				if _, err := k.st.Inspect.Database().Write.ExecContext(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			k.follow(s)
			if p := s.Profile(1); p.XP != 0 || len(s.Scores(week)) != 0 {
				t.Errorf("the database has gone back, and the profile is %+v", p)
			}
		})
	}
}

// TestWhoComesBack: of who was erased nothing is known, even if they join again before anything else of theirs is read.
func TestWhoComesBack(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			k := open(t, kind, 2)
			k.keep(stands(1, 100, "first-trade"), stands(2, 20))
			s := standings.New(k.st.Social.Game, time.Now)
			k.follow(s)
			for _, r := range []member.Record{{ID: "u0", Deleted: true, UpdatedAt: 2}, {ID: "u0", Handle: "again", JoinedAt: 1, UpdatedAt: 3}} {
				if _, _, err := k.st.Social.Registry.Apply(t.Context(), []member.Record{r}, false, 10); err != nil {
					t.Fatal(err)
				}
				if r.Deleted {
					if n, err := k.st.Social.Upkeep.Clean(t.Context(), 10+3600); err != nil || n != 1 {
						t.Fatal(n, err)
					}
				}
			}
			k.follow(s)
			if p := s.Profile(1); p.XP != 0 || len(p.Badges) != 0 || len(s.Scores(week)) != 1 {
				t.Errorf("they have %+v, and the scores are %v", p, s.Scores(week))
			}
		})
	}
}

// BenchmarkStandings reads what 100,000 members have come to, and computes ladder and season of it, as after each change.
func BenchmarkStandings(b *testing.B) {
	const members = 100_000
	k := open(b, "postgres", members)
	for from := 1; from <= members; from += 500 {
		var played []social.Played
		for n := from; n < from+500; n++ {
			played = append(played, stands(member.Number(n), int64(n%3000), "first-trade", "full-day", "week-streak"))
		}
		k.keep(played...)
	}
	var s *standings.Standings
	b.Run("read", func(b *testing.B) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for b.Loop() {
			s = standings.New(k.st.Social.Game, time.Now)
			if err := s.Follow(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
	})
	b.Run("ladder", func(b *testing.B) {
		for b.Loop() {
			s.Ladder(members, func(member.Number) bool { return true })
		}
	})
	b.Run("season", func(b *testing.B) {
		for b.Loop() {
			s.Scores(week)
		}
	})
}
