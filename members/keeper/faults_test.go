package keeper_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/written"
	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
	"github.com/boardwalkhq/boardwalk/members/keeper"
)

// TestAReorgAndThenThePast: a chain that goes on from a fork by blocks of the past, as after a long outage, has trades that are in no stream and earlier than what
// was read before.
func TestAReorgAndThenThePast(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		for _, isSeenBetween := range []bool{true, false} {
			w.now += 86400
			before := w.standing(t, 1).XP
			c := w.chains[0]
			w.trade(t, c, wallets[0], 0, 5)
			w.now += 100
			w.block(t, c, nil)
			w.now += 100
			w.trade(t, c, wallets[0], 1, 5)
			w.look(t)
			w.wantXP(t, "before", 1, before+14, w.standing(t, 1).WeekXP)
			c.rewind(t, 2)
			if isSeenBetween {
				w.look(t)
				w.wantXP(t, "taken back", 1, before+12, w.standing(t, 1).WeekXP)
			}
			c.IsPast = true
			for _, n := range []int{2, 3} {
				c.Block(t, 50, nil, written.BoughtAt(wallets[0], token(n), pair(n), 5, 100_000)...)
				c.trades = append(c.trades, trade{c.Last.Number, c.Last.Time, wallets[0], n, 5})
			}
			c.IsPast = false
			w.now += 1000
			w.block(t, c, nil)
			w.look(t)
			w.wantXP(t, "with the others", 1, before+16, w.standing(t, 1).WeekXP)
		}
	})
}

// TestAProcessEndsWhileRulesChange: whoever begins anew applies the other rules to everybody.
func TestAProcessEndsWhileRulesChange(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		var records []member.Record
		for i := range 450 {
			records = append(records, member.Record{ID: member.ID(fmt.Sprintf("m%d", i)), Handle: fmt.Sprintf("h%d", i), JoinedAt: 1, UpdatedAt: 1})
		}
		w.apply(t, records...)
		w.look(t)
		state, err := w.store.Social.Game.GameState(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := w.store.Social.Game.GameMembers(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var played []social.Played
		for _, n := range numbers {
			p := social.Played{Days: []social.PlayedDay{{Day: game.Day{Date: start / 86400, Tokens: 1, Chains: 1}, XP: 12}}}
			p.Member, p.XP, p.Week, p.WeekXP = n, 12, game.WeekOf(start/86400), 12
			played = append(played, p)
		}
		if err := w.store.Social.Game.KeepGame(t.Context(), w.lease, played, state, w.now); err != nil {
			t.Fatal(err)
		}
		other := *w.rules
		other.XP.ActiveDay = 100
		ctx, end := context.WithCancel(t.Context())
		defer end()
		k := keeper.New(keeper.Options{
			Store: w.store.Served(), Rules: &other, Log: slog.New(slog.DiscardHandler), Behind: prometheus.NewGauge(prometheus.GaugeOpts{}),
			Now: func() time.Time {
				if w.standing(t, numbers[0]).XP == 102 {
					end()
				}
				return time.Unix(w.now, 0)
			},
		})
		if err := k.Look(ctx, w.lease); err == nil {
			t.Fatal("it didn't end in between")
		}
		// Somebody takes the rules of before back, or goes on with the others.
		for _, rules := range []*game.Rules{w.rules, &other} {
			w.rules = rules
			w.restart()
			w.look(t)
			for _, n := range numbers {
				if got := w.standing(t, n); got.XP != rules.XP.ActiveDay+2 {
					t.Fatalf("member %d has %d XP", n, got.XP)
				}
			}
		}
	})
}

// TestAChainAheadOfTheClock: a block that is of the next week already counts in that week.
func TestAChainAheadOfTheClock(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		w.now = monday
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.now = monday - 1
		w.look(t)
		w.now = monday + 3600
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.look(t)
		w.wantXP(t, "on Monday", 1, 12, 12)
		if s := w.standing(t, 1); s.Week != game.WeekOf(game.DateOf(w.now)) {
			t.Errorf("the week is %s", game.WeekID(s.Week))
		}
	})
}

// TestADatabaseThatLostWhatTheKeeperWrote: after a failover the stream may be as it was, and the keeper's own last commit gone.
func TestADatabaseThatLostWhatTheKeeperWrote(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			w := newWorld(t, storetest.OpenAt(t, dsn))
			w.look(t)
			w.trade(t, w.chains[0], wallets[0], 0, 5)
			restore := storetest.Snapshot(t, dsn)
			w.look(t)
			w.wantXP(t, "before", 1, 12, 12)
			restore()
			w.wantXP(t, "lost", 1, 0, 0)
			w.now += 5
			w.trade(t, w.chains[0], wallets[2], 0, 5)
			w.now += 5
			w.trade(t, w.chains[0], wallets[0], 0, 5)
			w.look(t)
			w.wantXP(t, "after", 1, 12, 12)
			w.check(t)
		})
	}
}

// reset has the stream say that it lost numbers, as each chain's indexer does after a failover.
func (w *world) reset(t *testing.T) {
	t.Helper()
	db := w.store.Inspect.Database().Write
	if _, err := db.ExecContext(t.Context(), "UPDATE sequences SET last = last + 1 WHERE stream = 'stream'"); err != nil {
		t.Fatal(err)
	}
	_, err := db.ExecContext(t.Context(), "INSERT INTO stream (number, kind, chain, retracts, block, time, member, sell, call, item_time) "+
		"SELECT last, 'reset', 'base', 0, 0, ?, 0, FALSE, 0, 0 FROM sequences WHERE stream = 'stream'", w.now)
	if err != nil {
		t.Fatal(err)
	}
}

// TestResets: however many chains say that numbers were lost, and however long one has stood still, the last two days are counted anew and no others. Those of
// before have a trade of a wallet that was taken away since.
func TestResets(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		c := w.chains[0]
		w.trade(t, c, wallets[0], 0, 5)
		w.look(t)
		c.Forget(t, wallets[0])
		for range 4 {
			w.now += 86400
			w.block(t, w.chains[1], nil) // the third one stands still
			w.trade(t, c, wallets[1], 0, 5)
			w.look(t)
		}
		w.wantXP(t, "five days", 1, 60, 48)
		for range 3 {
			for range 4 {
				w.reset(t)
			}
			w.look(t)
			w.wantXP(t, "after resets", 1, 60, 48)
		}
	})
}

// TestAChainThatReadsItsPast: what is read of earlier weeks counts for XP. Their seasons are over, and nobody gets a place in them.
func TestAChainThatReadsItsPast(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		c := w.chains[0]
		c.IsPast = true
		c.Block(t, 60, nil, written.BoughtAt(wallets[0], token(0), pair(0), 5, 100_000)...)
		w.now = start + 10*7*86400
		w.look(t)
		c.Block(t, 7*86400, nil, written.BoughtAt(wallets[2], token(0), pair(0), 5, 100_000)...)
		w.look(t)
		w.wantXP(t, "in the first week", 1, 12, 0)
		w.wantXP(t, "in the second one", 2, 12, 0)
		w.wantSeason(t, "both", game.WeekOf(game.DateOf(w.now))-1)
	})
}

// TestAChainThatCatchesUp: a season isn't closed while a chain is behind its end and moves, however late it is.
func TestAChainThatCatchesUp(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, w *world) {
		t.Helper()
		week := game.WeekOf(game.DateOf(start))
		w.trade(t, w.chains[0], wallets[0], 0, 5)
		w.look(t)
		w.now = monday + 3*86400 // everything was away
		w.restart()
		c := w.chains[0]
		c.IsPast = true
		for range 3 {
			w.now += 43_000
			c.Block(t, 60, nil, written.BoughtAt(wallets[2], token(1), pair(1), 5, 100_000)...)
			w.look(t)
			w.wantSeason(t, "while it catches up", week-1)
		}
		w.late(t, w.now+stillFor)
		w.wantSeason(t, "when it stands still", week, game.Place{Week: week, Place: 2, Score: 12}, game.Place{Week: week, Place: 2, Score: 12})
	})
}
