package market_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// activeAt is the liquidity at a tick by a map.
func activeAt(m market.TickMap, tick int32) (sum market.SignedAmount) {
	for _, n := range m {
		if n.Tick <= tick {
			sum = sum.Add(n.Net)
		}
	}
	return sum
}

// drawPositions draws ranges with liquidity, in ticks up to 500 in either direction.
func drawPositions(t *rapid.T) (m market.TickMap) {
	for range rapid.IntRange(1, 60).Draw(t, "positions") {
		lower := rapid.Int32Range(-500, 499).Draw(t, "lower")
		var delta market.SignedAmount
		delta.Abs.SetUint64(rapid.Uint64Range(1, 1000).Draw(t, "liquidity"))
		m = m.AddRange(lower, rapid.Int32Range(lower+1, 500).Draw(t, "upper"), delta)
	}
	return m
}

// TestNarrow: a narrowed map has the same liquidity at each tick within its window, and none outside, and it has the ticks nearest to the price.
func TestNarrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := drawPositions(t)
		m, w := whole, market.TickWindow{}
		tick := rapid.Int32Range(-600, 600).Draw(t, "tick")
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			if len(m) < 2 {
				return
			}
			most := rapid.IntRange(1, len(m)-1).Draw(t, "most")
			before := w
			narrow, window := m.Narrow(w, tick, most)
			inside := slices.DeleteFunc(slices.Clone(narrow), func(n market.TickNet) bool { return n.Tick <= window.Lower || n.Tick >= window.Upper })
			if len(inside) > most || len(narrow) > len(inside)+2 || window.IsWhole() || !window.Fits(narrow, window.Lower) {
				t.Fatalf("%d ticks of %d, %d within the window %+v", len(narrow), most, len(inside), window)
			}
			if before.Has(tick) && !window.Has(tick) {
				t.Fatalf("the price at %d is outside of %+v", tick, window)
			}
			for at := int32(-1200); at <= 1200; at++ {
				want := activeAt(whole, at)
				if !window.Has(at) {
					want = market.SignedAmount{}
				}
				if got := activeAt(narrow, at); got != want {
					t.Fatalf("at %d of %+v the liquidity is %v, want %v", at, window, got, want)
				}
			}
			m, w = narrow, window
			tick += rapid.Int32Range(-50, 50).Draw(t, "moved")
		}
	})
}

// TestClose: what is closed around the ticks within a window has their liquidity at each tick of it.
func TestClose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := drawPositions(t)
		tick := rapid.Int32Range(-600, 600).Draw(t, "tick")
		w := market.TickWindow{Lower: tick - rapid.Int32Range(0, 300).Draw(t, "below"), Upper: tick + rapid.Int32Range(1, 300).Draw(t, "above")}
		inside := slices.DeleteFunc(slices.Clone(whole), func(n market.TickNet) bool { return n.Tick <= w.Lower || n.Tick >= w.Upper })
		closed, ok := inside.Close(w, tick, activeAt(whole, tick).Abs)
		if !ok {
			t.Fatalf("a pool's own ticks are refused: %v", inside)
		}
		for at := w.Lower - 2; at <= w.Upper+2; at++ {
			want := activeAt(whole, at)
			if !w.Has(at) {
				want = market.SignedAmount{}
			}
			if got := activeAt(closed, at); got != want {
				t.Fatalf("at %d of %+v the liquidity is %v, want %v", at, w, got, want)
			}
		}
	})
}

// TestCloseRefuses what no pool can have, at the edge of it.
func TestCloseRefuses(t *testing.T) {
	t.Parallel()
	net := func(tick int32, n int64) market.TickNet {
		out := market.TickNet{Tick: tick}
		out.Net.Abs.SetUint64(uint64(max(n, -n)))
		out.Net.Neg = n < 0
		return out
	}
	var largest market.Amount
	largest.SetAllOne()
	largest.Rsh(&largest, 128)
	w := market.TickWindow{Lower: -10, Upper: 10}
	for name, c := range map[string]struct {
		ticks     market.TickMap
		liquidity uint64
		tick      int32
		want      bool
	}{
		"all of it begins below the price":   {market.TickMap{net(-5, 7)}, 7, 0, true},
		"more than that begins there":        {market.TickMap{net(-5, 8)}, 7, 0, false},
		"it begins at the price":             {market.TickMap{net(0, 7)}, 7, 0, true},
		"it begins above the price":          {market.TickMap{net(1, 8)}, 7, 0, true},
		"all of it ends above the price":     {market.TickMap{net(5, -7)}, 7, 0, true},
		"more than that ends there":          {market.TickMap{net(5, -8)}, 7, 0, false},
		"less than none on the way":          {market.TickMap{net(4, -8), net(5, 8)}, 7, 0, false},
		"less than none on the way down":     {market.TickMap{net(-5, -8), net(-4, 8)}, 7, 0, false},
		"the price at the lower end":         {nil, 7, -10, true},
		"the price below the lower end":      {nil, 7, -11, false},
		"the price at the last tick":         {nil, 7, 9, true},
		"the price at the upper end":         {nil, 7, 10, false},
		"nothing at all":                     {nil, 0, 0, true},
		"as much as a pool can have":         {market.TickMap{{Tick: 1, Net: market.SignedAmount{Abs: largest}}}, 0, 0, true},
		"more than a pool can have":          {market.TickMap{{Tick: 1, Net: market.SignedAmount{Abs: largest}}}, 1, 0, false},
		"more than a pool can have, beneath": {market.TickMap{{Tick: -1, Net: market.SignedAmount{Abs: largest, Neg: true}}}, 1, 0, false},
	} {
		var liquidity market.Amount
		liquidity.SetUint64(c.liquidity)
		if _, ok := c.ticks.Close(w, c.tick, liquidity); ok != c.want {
			t.Errorf("%s: it is %v, want %v", name, ok, c.want)
		}
	}
}

// TestWindowAtItsEdges: which prices are within a window, and how far from its ends 2 % still are.
func TestWindowAtItsEdges(t *testing.T) {
	t.Parallel()
	w := market.TickWindow{Lower: -1000, Upper: 1000}
	for tick, want := range map[int32][3]bool{
		-1001: {false, false, false}, -1000: {true, false, false}, -797: {true, false, false}, -796: {true, true, false}, -701: {true, true, false},
		-700: {true, true, true}, 0: {true, true, true}, 700: {true, true, true}, 701: {true, true, false}, 796: {true, true, false}, 797: {true, false, false},
		999: {true, false, false}, 1000: {false, false, false},
	} {
		if got := [3]bool{w.Has(tick), w.HasDepth(tick), w.HasRoom(tick)}; got != want {
			t.Errorf("at %d it has the price, its depth, and room: %v, want %v", tick, got, want)
		}
	}
	if w := (market.TickWindow{Lower: market.MinTick, Upper: market.MaxTick}); !w.HasDepth(market.MinTick) || !w.HasDepth(market.MaxTick-1) {
		t.Error("beyond the lowest and the highest tick there is nothing to lack")
	}
	if w := (market.TickWindow{}); !w.IsWhole() || !w.Has(1<<30) || !w.HasDepth(-1<<30) {
		t.Error("a map without a window lacks something")
	}
}
