package apiserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// numberOf is the number of the member with an id.
func numberOf(tb testing.TB, st *store.Store, id member.ID) member.Number {
	tb.Helper()
	m, _, err := st.Social.Registry.Member(tb.Context(), id)
	if err != nil || m == nil {
		tb.Fatalf("no member %s: %v", id, err)
	}
	return m.Number
}

// today is the day of the test's clock, and thisWeek its week.
var (
	today    = game.DateOf(clock.Unix())
	thisWeek = game.WeekOf(today)
)

// stands is what a member has come to, with badges by their ids, all of them earned yesterday.
func stands(of member.Number, xp, week int64, badges ...string) social.Played {
	p := social.Played{GameStanding: social.GameStanding{Member: of, Standing: game.Standing{XP: xp}, Week: thisWeek, WeekXP: week}}
	for _, b := range badges {
		p.Badges = append(p.Badges, game.Earned{Badge: b, Date: today - 1})
	}
	return p
}

func TestGame(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := withoutMembers(t, kind)
			writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "Ada", JoinedAt: clock.Unix() - 60}, member.Record{ID: "u2", Handle: "bob", AvatarURL: "https://images.example/bob.png", JoinedAt: 1},
				member.Record{ID: "u3", Handle: "carol", JoinedAt: 1}, member.Record{ID: "u4", Handle: "dan", JoinedAt: 1}, member.Record{ID: "u5", Handle: "eve", JoinedAt: 1})
			ada, bob, carol, dan := numberOf(t, st, "u1"), numberOf(t, st, "u2"), numberOf(t, st, "u3"), numberOf(t, st, "u4")
			keepGame(t, st, stands(ada, 132, 32, "first-trade", "one of other rules"), stands(bob, 25_000, 52), stands(carol, 40, 32), stands(dan, 60, 0))
			c := start(t, st)
			ladder := get[contract.GameLadder](t, c, "/api/game/ladder")
			var counts []string
			for i, r := range ladder.Ranks {
				if r.Level != i+1 {
					t.Errorf("the rank %s has the level %d", r.ID, r.Level)
				}
				counts = append(counts, fmt.Sprintf("%s %d %d", r.ID, r.MinXP, r.Members))
			}
			if ladder.Total != 5 || ladder.Stale || ladder.AsOf.Unix() != clock.Unix() || !slices.Equal(counts, []string{
				"newcomer 0 1", "apprentice 20 2", "trader 100 1", "regular 300 0", "specialist 800 0", "expert 2000 0", "master 5000 0", "grandmaster 10000 0", "legend 25000 1",
			}) {
				t.Errorf("the ladder is %+v", ladder)
			}

			p := get[contract.GameProfile](t, c, "/api/game/profile/aDA")
			if p.Handle != "Ada" || p.XP != 132 || p.Rank != (contract.GameRank{ID: "trader", Level: 3, Name: "Trader"}) || *p.NextRank != (contract.GameNextRank{ID: "regular", MinXP: 300}) ||
				p.AvatarURL != nil || p.UnknownReasons["avatar_url"] != contract.UnknownReasonNotApplicable || p.JoinedAt.Unix() != clock.Unix()-60 || p.Stale {
				t.Errorf("ada's profile is %+v", p)
			}
			if len(p.Badges) != 1 || p.Badges[0].ID != "first-trade" || p.Badges[0].Name != "First trade" || p.Badges[0].EarnedAt.Unix() != (today-1)*86400 || p.Badges[0].ImageURL != nil {
				t.Errorf("ada's badges are %+v", p.Badges)
			}
			if p := get[contract.GameProfile](t, c, "/api/game/profile/bob"); p.NextRank != nil || p.Rank.Level != 9 || *p.AvatarURL != "https://images.example/bob.png" || p.UnknownReasons["next_rank"] != contract.UnknownReasonNotApplicable {
				t.Errorf("bob's profile is %+v", p)
			}
			if p := get[contract.GameProfile](t, c, "/api/game/profile/eve"); p.XP != 0 || p.Rank.ID != "newcomer" || len(p.Badges) != 0 {
				t.Errorf("the profile of who has done nothing is %+v", p)
			}

			ranks := get[contract.GameRanks](t, c, "/api/game/ranks?handles=ADA,nobody,eve,ADA,bob")
			if len(ranks.Ranks) != 3 || ranks.Ranks["ADA"].ID != "trader" || ranks.Ranks["eve"].ID != "newcomer" || ranks.Ranks["bob"].ID != "legend" || !slices.Equal(ranks.Missing, []string{"nobody"}) {
				t.Errorf("the ranks are %+v", ranks)
			}

			season := get[contract.GameSeason](t, c, "/api/game/season")
			if season.Season.ID != "2026-W10" || season.Season.StartsAt.Unix() != game.Opens(game.FirstDay(thisWeek)) || season.Season.EndsAt.Unix()-season.Season.StartsAt.Unix() != 7*86400 {
				t.Errorf("the season is %+v", season.Season)
			}
			want := []contract.GameSeasonEntry{{Handle: "bob", Rank: 1, Score: 52}, {Handle: "Ada", Rank: 2, Score: 32}, {Handle: "carol", Rank: 2, Score: 32}}
			if !slices.Equal(season.Entries, want) || season.Stale {
				t.Errorf("the entries are %+v", season.Entries)
			}
			if s := get[contract.GameSeason](t, c, "/api/game/season?limit=2"); !slices.Equal(s.Entries, want[:2]) {
				t.Errorf("the first two are %+v", s.Entries)
			}

			// No answer names a member who has left, and the next members move up.
			writeMembers(t, st, 2, member.Record{ID: "u2", Deleted: true}, member.Record{ID: "u3", Handle: "Zoe", JoinedAt: 1})
			eventually(t, "bob is gone", func() bool {
				s := get[contract.GameSeason](t, c, "/api/game/season").Entries
				return slices.Equal(s, []contract.GameSeasonEntry{{Handle: "Ada", Rank: 1, Score: 32}, {Handle: "Zoe", Rank: 1, Score: 32}})
			})
			if l := get[contract.GameLadder](t, c, "/api/game/ladder"); l.Total != 4 || l.Ranks[8].Members != 0 {
				t.Errorf("the ladder is %+v", l)
			}
			if r := get[contract.GameRanks](t, c, "/api/game/ranks?handles=bob,carol,zoe"); !slices.Equal(r.Missing, []string{"bob", "carol"}) || r.Ranks["zoe"].ID != "apprentice" {
				t.Errorf("the ranks are %+v", r)
			}
			res, body := c.do(t, http.MethodGet, "/api/game/profile/bob", nil)
			if res.StatusCode != http.StatusNotFound || !strings.Contains(string(body), `/problems/profile-not-found"`) || !strings.Contains(string(body), `"handle":"bob"`) {
				t.Errorf("bob's profile: %d %s", res.StatusCode, body)
			}

			// A later change of a member's XP is answered.
			keepGame(t, st, stands(dan, 112, 52, "first-trade"))
			eventually(t, "dan leads", func() bool {
				s := get[contract.GameSeason](t, c, "/api/game/season").Entries
				return len(s) == 3 && s[0] == contract.GameSeasonEntry{Handle: "dan", Rank: 1, Score: 52}
			})
		})
	}
}

// TestHandlesOfProfiles: what can't be a handle is refused, and one more than 60 are too many.
func TestHandlesOfProfiles(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	handles := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("h%d", i)
		}
		return strings.Join(list, ",")
	}
	for target, want := range map[string]string{
		"/api/game/profile/@ada": "invalid-parameter", "/api/game/profile/" + strings.Repeat("a", 33): "invalid-parameter", "/api/game/profile/a-b": "invalid-parameter",
		"/api/game/profile/%C3%A4": "invalid-parameter", "/api/game/profile/" + strings.Repeat("a", 32): "profile-not-found", "/api/game/ranks?handles=@ada": "invalid-parameter",
		"/api/game/ranks?handles=": "missing-parameter", "/api/game/ranks": "missing-parameter", "/api/game/ranks?handles=" + handles(61): "too-many-items",
		"/api/game/season?limit=501": "invalid-parameter", "/api/game/season?limit=0": "invalid-parameter",
	} {
		if _, body := c.do(t, http.MethodGet, target, nil); !strings.Contains(string(body), "/problems/"+want+`"`) {
			t.Errorf("%s: %s, want %s", target, body, want)
		}
	}
	if r := get[contract.GameRanks](t, c, "/api/game/ranks?handles="+handles(60)); len(r.Missing) != 60 {
		t.Errorf("of 60 handles %d are missing", len(r.Missing))
	}
}

// TestALateGame: answers say that what members did lately may be missing, where the game isn't kept.
func TestALateGame(t *testing.T) {
	t.Parallel()
	st := withoutMembers(t, "sqlite")
	c := start(t, st)
	if l := get[contract.GameLadder](t, c, "/api/game/ladder"); l.Stale || l.Total != 0 {
		t.Errorf("without members the ladder is %+v", l)
	}
	writeMembers(t, st, 1, member.Record{ID: "u1", Handle: "ada", JoinedAt: 1})
	eventually(t, "nobody keeps the game", func() bool {
		return get[contract.GameLadder](t, c, "/api/game/ladder").Stale && get[contract.GameSeason](t, c, "/api/game/season").Stale &&
			get[contract.GameRanks](t, c, "/api/game/ranks?handles=ada").Stale && get[contract.GameProfile](t, c, "/api/game/profile/ada").Stale
	})
	keepGame(t, st)
	if l := get[contract.GameLadder](t, start(t, st), "/api/game/ladder"); l.Stale {
		t.Errorf("the game is kept, and the ladder is %+v", l)
	}
}
