package boards

import (
	"fmt"
	"slices"
	"testing"
	"time"
	"unique"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/board"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// TestWhatTheBoardKeeps goes by age and trades alone.
func TestWhatTheBoardKeeps(t *testing.T) {
	t.Parallel()
	const day, now = 86_400, 1_700_000_000 - 1_700_000_000%cutoffStep
	b := newChainTokens("base", 0, launchesPerChain, nobody())
	b.status.Last.Time = now
	for _, c := range []struct {
		age, tradedAgo int64 // in days; -1 never
		keeps          bool
	}{{1, -1, true}, {2, -1, false}, {29, 20, true}, {31, 6, true}, {31, 8, false}, {400, 0, true}} {
		tradedAt := int64(0)
		if c.tradedAgo >= 0 {
			tradedAt = now - c.tradedAgo*day
		}
		for _, state := range []market.LaunchState{market.LaunchOnCurve, market.LaunchCompleted, market.LaunchGraduated} {
			if got := b.keeps(&Launched{kind: unique.Make(launchKind{state: state}), CreatedAt: now - c.age*day}, tradedAt); got != c.keeps {
				t.Errorf("one (%s) of %d days, traded %d days ago, is kept: %v", state, c.age, c.tradedAgo, got)
			}
		}
	}
}

// TestTheBoardShedsWhatIsTooMuch has more launches than are kept: those go first that were never traded, the oldest first, then
// the one that was traded the longest ago. Who is traded comes back.
func TestTheBoardShedsWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := func(n int) market.Address { return markettest.Address(fmt.Sprintf("0xa0%038x", n)) }
	launch := func(n int, isTraded bool) {
		l := readtest.Launch{
			Name: fmt.Sprint("Token ", n), Symbol: fmt.Sprint("T", n), Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 5,
			Volume: 100, Holders: 60, CreatedAt: w.Now,
		}
		if isTraded {
			l.Buyers = 2
		}
		w.Now += 10
		w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint(n), 1, l) })
	}
	clock := func() time.Time { return time.Unix(w.Now, 0) }
	v := follow(w, clock)
	v.most = 3
	kept := func(v *follower) (out []int) {
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range 9 {
			if _, ok := v.board().Launched("base", mint(n)); ok {
				out = append(out, n)
			}
		}
		return out
	}
	launch(0, true)
	launch(1, false)
	launch(2, true)
	launch(3, false)
	if got := kept(v); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("of four it keeps %v", got)
	}
	launch(4, true)
	w.Now += 15
	if got := kept(v); !slices.Equal(got, []int{0, 2, 4}) {
		t.Errorf("when one more was traded it keeps %v", got)
	}
	w.Commit("base", func(ch *market.Changes) { w.Trade(ch, "base", mint(1), 1) })
	w.Now += 15
	if got := kept(v); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("when one came back it keeps %v", got)
	}
	for n := 5; n < 9; n++ {
		launch(n, false)
	}
	fresh := follow(w, clock)
	fresh.most = 3
	if got := kept(fresh); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("from the beginning it keeps %v", got)
	}
	b := newChainTokens("base", 0, 3, nobody())
	b.status, _, _ = w.Store.Chain(t.Context(), "base")
	if err := b.readLaunches(t.Context(), fresh.source(fresh.in), nil); err != nil || b.index.entries.Len() != 3+3 {
		t.Errorf("there are %d at once, %v", b.index.entries.Len(), err)
	}
}

// TestARestingLaunchComesBackWhenItTrades looks at one that was never traded and is kept no more, whose row changes, and then at
// its first trade.
func TestARestingLaunchComesBackWhenItTrades(t *testing.T) {
	t.Parallel()
	w := readtest.New(t)
	mint := markettest.Address("0xa000000000000000000000000000000000000001")
	l := readtest.Launch{Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, Volume: 100, CreatedAt: w.Now}
	w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint, 1, l) })
	w.Now += 3 * 86_400
	w.Commit("base", func(*market.Changes) {})
	v := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
	for i, change := range []func(*market.Changes){
		func(*market.Changes) {},
		func(ch *market.Changes) {
			l.Progress = 20
			w.Set(ch, "base", mint, 1, l)
		},
		func(ch *market.Changes) { w.Trade(ch, "base", mint, 1) },
	} {
		w.Commit("base", change)
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, ok := v.board().Launched("base", mint); ok != (i == 2) {
			t.Errorf("at look %d the launch is there: %v", i, ok)
		}
	}
}

// TestARestingLaunchThatTradedInAGapComesBack trades one while nobody looks for longer than trades are read back.
func TestARestingLaunchThatTradedInAGapComesBack(t *testing.T) {
	t.Parallel()
	for _, gap := range []int64{readBack, readBack + 1, 26 * 3600} {
		w := readtest.New(t)
		mint := markettest.Address("0xa000000000000000000000000000000000000001")
		l := readtest.Launch{Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Locked: 5, Volume: 100, CreatedAt: w.Now}
		w.Commit("base", func(ch *market.Changes) { w.Set(ch, "base", mint, 1, l) })
		w.Now += 3 * 86_400
		w.Commit("base", func(*market.Changes) {})
		v := follow(w, func() time.Time { return time.Unix(w.Now, 0) })
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Commit("base", func(ch *market.Changes) { w.Trade(ch, "base", mint, 1) })
		w.Now += gap
		w.Commit("base", func(*market.Changes) {})
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, ok := v.board().Launched("base", mint); !ok {
			t.Errorf("after a gap of %d s it isn't there", gap)
		}
	}
}

// TestALateChainHoldsUpNobody reads a chain that comes later in the background.
func TestALateChainHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w, v, mint := oneLaunch(t)
	w.Commit("bsc", func(ch *market.Changes) {
		w.Set(ch, "bsc", mint, 1, readtest.Launch{
			Name: "Otter", Symbol: "OTR", Venue: "four-meme", State: market.LaunchOnCurve, Progress: 40, Locked: 5, Volume: 20_000, Holders: 60,
			CreatedAt: w.Now - 3000, Buyers: 20,
		})
	})
	delete(v.chains, "bsc") // as if there had been nothing of it
	for look := range 2 {
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c, ok := v.board().Launched("base", mint); !ok || c.Rank == 0 {
			t.Errorf("at look %d the card of the other chain is there: %v", look, ok)
		}
		v.Wait()
	}
	if _, ok := v.board().Launched("bsc", mint); !ok || len(v.reading) > 0 {
		t.Error("the late chain is not there")
	}
}

// TestLiveFollowsWhatIsTouched changes what some tokens are worth: the list is that of all tokens, though it looked at those alone.
func TestLiveFollowsWhatIsTouched(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		gate := board.DefaultGate()
		b := newChainTokens("base", 0, launchesPerChain, nobody())
		b.status.Last = market.Header{Number: 1, Time: 1_800_000_000}
		b.usd = figures.Prices{{Asset: markettest.Address(readtest.Wrapped), USD: 2000}}
		all := make([]*entry, rapid.IntRange(1, 3*liveDepth).Draw(rt, "tokens"))
		locked := rapid.Float64Range(0, 1000)
		worth := func(e *entry) {
			f := figures.NewFacts(&figures.Token{
				Token: market.Token{Mint: e.mint, FirstSeenAt: b.status.Last.Time - 3600, Pool: market.CurveID(e.mint)},
				Pools: []market.Pool{{
					ID: market.CurveID(e.mint), Quote: markettest.Address(readtest.Wrapped), Price: 1e-5 * float64(rapid.IntRange(0, 9).Draw(rt, "price")), Locked: locked.Draw(rt, "locked"),
				}},
			})
			e.facts = &f
			b.touch(e)
		}
		for i := range all {
			all[i] = b.at(markettest.Address(fmt.Sprintf("0xa0%038x", i)))
			all[i].tape = &traction.Tape{}
			for w := range 7 {
				all[i].tape.Add(traction.Flow{Wallet: markettest.Address(fmt.Sprintf("0xb0%038x", w)), Time: b.status.Last.Time, USD: 50})
			}
			worth(all[i])
		}
		b.measureTouched(&gate, false)
		b.live(true)
		b.makeCards()
		for range rapid.IntRange(1, 5).Draw(rt, "looks") {
			for range rapid.IntRange(0, liveSpare/5).Draw(rt, "changes") {
				worth(rapid.SampledFrom(all).Draw(rt, "which"))
			}
			b.measureTouched(&gate, false)
			got := slices.Clone(b.live(false))
			b.makeCards()
			scanned := *b
			want := scanned.live(true)
			if !slices.EqualFunc(got, want, func(a, b Ranked) bool {
				return a.Token.Token.Mint == b.Token.Token.Mint && a.Score == b.Score && a.Parts == b.Parts
			}) {
				rt.Fatalf("%d tokens are listed, of all tokens %d others", len(got), len(want))
			}
		}
	})
}

// TestAnotherDatabase has a launch taken back by a reorg, or the database know less than it did: the card stays until
// the chain is read anew, and has another index.
func TestAnotherDatabase(t *testing.T) {
	t.Parallel()
	_, v, mint := oneLaunch(t)
	b := v.chains["base"]
	b.seen += 100 // as if the database had been restored
	for i := range 3 {
		if err := v.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		v.Wait()
		if _, ok := v.board().Launched("base", mint); !ok {
			t.Errorf("the launch is gone at look %d", i)
		}
	}
	next := v.chains["base"]
	if next == b || next.index == b.index || next.seen >= b.seen {
		t.Error("what the database had stays")
	}
	if _, ok := b.index.find(mint); !ok {
		t.Error("the index of the board before has lost the launch")
	}
}
