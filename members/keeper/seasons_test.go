package keeper_test

import (
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

func both(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f(t, newWorld(t, storetest.Open(t, kind)))
		})
	}
}

func (w *world) standing(t *testing.T, of member.Number) social.GameStanding {
	t.Helper()
	all, err := w.store.Social.Game.GameStandings(t.Context(), []member.Number{of})
	if err != nil {
		t.Fatal(err)
	}
	return all[of]
}

func (w *world) wantXP(t *testing.T, what string, of member.Number, xp, week int64) {
	t.Helper()
	if got := w.standing(t, of); got.XP != xp || got.WeekXP != week {
		t.Errorf("%s: member %d has %d XP, %d of them in this week; want %d, %d", what, of, got.XP, got.WeekXP, xp, week)
	}
}

func (w *world) wantSeason(t *testing.T, what string, closed int64, places ...game.Place) {
	t.Helper()
	state, err := w.store.Social.Game.GameState(t.Context())
	if err != nil || state == nil {
		t.Fatal(state, err)
	}
	got, err := w.store.Social.Game.SeasonPlaces(t.Context(), []member.Number{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if state.Season != closed || !slices.Equal(slices.Concat(got[1], got[2]), places) {
		t.Errorf("%s: the season %d is the last that is closed, with the places %v; want %d, %v", what, state.Season, got, closed, places)
	}
}

// idle has blocks pass on all chains, so that all before them are final.
func (w *world) idle(t *testing.T, chains ...*chain) {
	t.Helper()
	for _, c := range chains {
		for range c.FinalAfter + 1 {
			w.block(t, c, nil)
		}
	}
}

// late looks at a time at which no chain has had a block for a day, and then again when that is known.
func (w *world) late(t *testing.T, now int64) {
	t.Helper()
	w.now = now
	w.look(t)
	w.now += stillFor
	w.look(t)
}

// monday is when the week after the one ends in which the worlds begin; unix seconds.
const monday = start + 12*3600

// TestASeasonEnds: a week is closed once the final blocks of all chains are behind it, or a day later by the clock. Its places bring XP that count for no season.
func TestASeasonEnds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		week := game.WeekOf(game.DateOf(start))
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.trade(t, w.chains[0], wallets[0], 1, 5)
		w.trade(t, w.chains[1], wallets[2], 0, 5)
		w.look(t)
		w.wantXP(t, "on Sunday", 1, 14, 14)
		w.check(t)

		w.now = monday + 1
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.look(t)
		w.wantXP(t, "on Monday", 1, 26, 12)
		w.idle(t, w.chains[0], w.chains[1])
		w.look(t)
		w.wantSeason(t, "while one chain isn't behind it", week-1)
		w.idle(t, w.chains[2])
		w.look(t)
		w.wantSeason(t, "once all are", week, game.Place{Week: week, Place: 1, Score: 14}, game.Place{Week: week, Place: 2, Score: 12})
		w.wantXP(t, "the first", 1, 26+200, 12)
		w.wantXP(t, "the second", 2, 12+100, 0)
		w.check(t)

		w.now = monday + 7*86400 - 3600
		w.idle(t, w.chains[0])
		w.now += silentFor - 1
		w.look(t)
		first, second := game.Place{Week: week, Place: 1, Score: 14}, game.Place{Week: week, Place: 2, Score: 12}
		w.now += stillFor
		w.restart()
		w.look(t)
		w.wantSeason(t, "whoever begins anew doesn't know yet that a chain stands still", week, first, second)
		w.now += stillFor - 1
		w.look(t)
		w.wantSeason(t, "not yet", week, first, second)
		w.now++
		w.look(t)
		w.wantSeason(t, "a day after the last block", week+1, first, game.Place{Week: week + 1, Place: 1, Score: 12}, second)
	})
}

// These are the keeper's own: for how long a chain has no block, and isn't seen to move, that isn't waited for.
const (
	silentFor = 24 * 3600
	stillFor  = 600
)

// TestEqualScores: members with equal scores have the last of their places.
func TestEqualScores(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		week := game.WeekOf(game.DateOf(start))
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.trade(t, w.chains[1], wallets[2], 0, 5)
		w.look(t)
		w.late(t, monday+2*86400)
		w.wantSeason(t, "two of a score", week, game.Place{Week: week, Place: 2, Score: 12}, game.Place{Week: week, Place: 2, Score: 12})
		w.wantXP(t, "one", 1, 112, 0)
		w.wantXP(t, "the other", 2, 112, 0)
	})
}

// TestAProcessEndsBetween: the places of a season are written before what they bring; whoever goes on adds it.
func TestAProcessEndsBetween(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		week := game.WeekOf(game.DateOf(start))
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.look(t)
		state, err := w.store.Social.Game.GameState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state.Season = week
		w.now = monday + 2*86400
		if err := w.store.Social.Game.CloseSeason(t.Context(), w.lease, week, map[member.Number]game.Place{1: {Week: week, Place: 1, Score: 12}}, state); err != nil {
			t.Fatal(err)
		}
		w.restart()
		w.look(t)
		w.wantXP(t, "the first", 1, 212, 0)
	})
}

// TestOtherRules: other rules count for the days of before as well.
func TestOtherRules(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.now += 86400
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.look(t)
		w.wantXP(t, "by the default rules", 1, 24, 12)
		other := *w.rules
		other.XP.ActiveDay, other.Badges = 100, []game.Badge{{ID: "new", Name: "New", For: game.ForDays, Count: 2}}
		w.rules = &other
		w.restart()
		w.look(t)
		w.wantXP(t, "by others", 1, 204, 102)
		if got := w.standing(t, 1).Badges; !slices.Equal(got, []game.Earned{{Badge: "new", Date: game.DateOf(w.now)}}) {
			t.Errorf("the badges are %v", got)
		}
		w.check(t)
	})
}

// TestWhoLeaves: of a member who left an hour ago the game knows nothing, whatever their wallets did, and nobody writes it again.
func TestWhoLeaves(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.trade(t, w.chains[0], wallets[2], 0, 5)
		w.look(t)
		w.apply(t, member.Record{ID: "u1", Deleted: true, UpdatedAt: 2})
		w.trade(t, w.chains[0], wallets[0], 1, 5)
		w.look(t)
		w.wantXP(t, "it can be revoked for an hour", 1, 14, 14)
		w.now += 3601
		if n, err := w.store.Social.Upkeep.Clean(t.Context(), w.now); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		w.wantXP(t, "an hour later", 1, 0, 0)
		w.trade(t, w.chains[0], wallets[0], 2, 5)
		w.look(t)
		w.late(t, monday+2*86400)
		w.wantXP(t, "after that", 1, 0, 0)
		days, err := w.store.Social.Game.GameDays(t.Context(), []member.Number{1, 2})
		if err != nil || len(days[1]) > 0 || len(days[2]) != 1 {
			t.Errorf("the days are %v, %v", days, err)
		}
		week := game.WeekOf(game.DateOf(start))
		w.wantSeason(t, "the season", week, game.Place{Week: week, Place: 1, Score: 12})
	})
}

// TestAWalletIsTakenAway: what its trades earned stays the member's, though the index keeps none of them.
func TestAWalletIsTakenAway(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		c := w.chains[0]
		w.trade(t, c, wallets[0], 0, 5)
		w.look(t)
		c.Forget(t, wallets[0])
		w.now += 86400
		w.trade(t, c, wallets[1], 0, 5)
		w.look(t)
		w.wantXP(t, "a day later", 1, 24, 12)
	})
}

// TestADatabaseThatHasLostSome: after a failover, trades may be gone that were counted. Those that are indexed again count once.
func TestADatabaseThatHasLostSome(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		c := w.chains[0]
		w.trade(t, c, wallets[0], 0, 5)
		w.trade(t, c, wallets[0], 1, 5)
		w.look(t)
		w.wantXP(t, "before", 1, 14, 14)
		state, err := w.store.Social.Game.GameState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state.Stream += 5 // numbers that the database has no more
		if err := w.store.Social.Game.KeepGame(t.Context(), w.lease, nil, state, w.now); err != nil {
			t.Fatal(err)
		}
		c.rewind(t, 1)
		w.restart()
		w.look(t)
		w.wantXP(t, "after", 1, 12, 12)
		w.trade(t, c, wallets[0], 2, 5)
		w.look(t)
		w.wantXP(t, "and on", 1, 14, 14)
		w.check(t)
	})
}

// TestAnotherProcessKeeps: who has lost the lease writes nothing.
func TestAnotherProcessKeeps(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		former := w.lease
		if err := w.store.Social.Leases.Release(t.Context(), former); err != nil {
			t.Fatal(err)
		}
		var err error
		if w.lease, err = w.store.Social.Leases.Acquire(t.Context(), "another", time.Hour.Milliseconds()); err != nil || w.lease == nil {
			t.Fatal(err)
		}
		if err := w.keeper.Look(t.Context(), former); err == nil {
			t.Error("it wrote")
		}
		w.wantXP(t, "nothing is written", 1, 0, 0)
		w.look(t)
		w.wantXP(t, "by the other", 1, 12, 12)
	})
}

// TestEveryRankIsReached: a member who trades and calls every day comes to all badges and ranks by the default rules.
func TestEveryRankIsReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, "sqlite"))
	levels := map[int]bool{}
	for day := 0; len(levels) < len(w.rules.Ranks); day++ {
		if day > 250 {
			t.Fatalf("after %d days the levels %v were reached", day, levels)
		}
		w.now = monday + int64(day)*86400 + 1
		for _, c := range w.chains {
			var events []market.Event
			for n := range w.rules.XP.TokensADay {
				events = append(events, written.BoughtAt(wallets[0], token(n), pair(n), 5, 100_000)...)
				if day < n { // fewer on the first days
					break
				}
			}
			w.block(t, c, nil, events...)
			w.now++
		}
		w.trade(t, w.chains[0], wallets[2], 0, 5) // the other one does less, and passes every rank that the first one jumps over
		for range 2 {
			w.call(t, "u1")
			w.decide(t, &w.calls[len(w.calls)-1], true)
		}
		w.look(t)
		levels[w.rules.Level(w.standing(t, 1).XP)] = true
		levels[w.rules.Level(w.standing(t, 2).XP)] = true
	}
	if got := w.standing(t, 1).Badges; len(got) != len(w.rules.Badges) {
		t.Errorf("%d badges of %d: %v", len(got), len(w.rules.Badges), got)
	}
}
