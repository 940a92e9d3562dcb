package board

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestHold(t *testing.T) {
	t.Parallel()
	var h Hold
	for i, c := range []struct{ fails, in bool }{
		{true, false}, // never in: nothing to hold
		{false, true},
		{true, true}, // held
		{false, true},
		{true, true}, // the count began anew
		{true, false},
		{true, false},
		{false, true},
	} {
		fails := Fails(0)
		if c.fails {
			fails = 1
		}
		pass, shown := h.Tick(fails)
		if pass != c.in || (shown == 0) != c.in {
			t.Errorf("tick %d: %v, %q; want %v", i, pass, shown.Names(), c.in)
		}
	}
}

// A card is in after a tick exactly if it passes now, or did at the tick before, having been let in by passing.
func TestHoldLeavesAfterTwoFailures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var h Hold
		before := false // passed at the tick before
		for range rapid.IntRange(1, 60).Draw(t, "ticks") {
			fails := rapid.SampledFrom([]Fails{0, 1, 1<<failings - 2}).Draw(t, "fails")
			passes := fails == 0
			pass, shown := h.Tick(fails)
			if pass != (passes || before) {
				t.Fatalf("in is %v with failures %q, having passed before: %v", pass, fails.Names(), before)
			}
			if pass && shown != 0 || !pass && shown != fails {
				t.Fatalf("a card that is in: %v shows %q of %q", pass, shown.Names(), fails.Names())
			}
			before = passes
		}
	})
}

func TestBuyExternal(t *testing.T) {
	t.Parallel()
	for _, state := range []market.LaunchState{market.LaunchLive, market.LaunchOnCurve, market.LaunchCompleted, market.LaunchGraduated} {
		for bits := range 8 {
			outside, hasCurve, inApp := bits&1 > 0, bits&2 > 0, bits&4 > 0
			want := bits == 3 && (state == market.LaunchOnCurve || state == market.LaunchCompleted)
			if got := BuyExternal(outside, hasCurve, state, inApp); got != want {
				t.Errorf("outside %v, with a curve %v, %s, in the app %v: external is %v", outside, hasCurve, state, inApp, got)
			}
		}
	}
}
