package apiserver_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestAFullCurveWithoutAPoolLeavesRunning: nobody can trade a token whose curve is full while it has no pool. Ten minutes after it was full
// its card fails the gate and says why. One that got its pool goes on as a token of a pool.
func TestAFullCurveWithoutAPoolLeavesRunning(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	full := func(n int, name string, ago int64) coin {
		return good(n, name).with(func(c *coin) { c.state, c.progress, c.ago, c.completedAgo = market.LaunchCompleted, 100, 4000, ago })
	}
	mintCoins(
		t, st, "base", 101, good(1, "Otter"), full(2, "Just full", 30), full(3, "Ten minutes", 600), full(4, "Longer", 601), full(5, "An hour", 3600),
		good(6, "Moved").with(func(c *coin) {
			c.state, c.progress, c.graduatedAgo, c.completedAgo, c.ago = market.LaunchGraduated, 100, 3500, 3600, 5000
		}),
	)
	c := start(t, st)
	running := numbers(cards(t, c, ""))
	slices.Sort(running)
	if want := []int{1, 2, 3, 6}; !slices.Equal(running, want) {
		t.Errorf("running lists %v, want %v", running, want)
	}
	for n, want := range map[int][]string{2: {}, 3: {}, 4: {"curve.full"}, 5: {"curve.full"}, 6: {}} {
		card := boardCard(t, cards(t, c, "sort=new&limit=100"), n)
		if card.GatePass != (len(want) == 0) || !slices.Equal(card.GateFails, want) {
			t.Errorf("coin %d on the board fails %v, want %v", n, card.GateFails, want)
		}
		alone := get[contract.LaunchedToken](t, c, "/api/launch/token/"+(&coin{n: n}).mint())
		if alone.GatePass != (len(want) == 0) || !slices.Equal(alone.GateFails, want) {
			t.Errorf("coin %d by itself fails %v, want %v", n, alone.GateFails, want)
		}
	}
	if trending := numbers(cards(t, c, "sort=trending&limit=100")); !slices.Contains(trending, 5) {
		t.Errorf("trending, which needs no gate, lists %v", trending)
	}
}
