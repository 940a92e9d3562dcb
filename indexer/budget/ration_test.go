package budget

import (
	"math"
	"slices"
	"testing"
)

// TestWhatIsGivenUpFirst holds what a day still has against what each purpose takes, at the edges: 1,000 s before midnight blocks take 400 calls,
// agreement 100, samples 100, members' wallets 100, the holders' past 100, older pools 100, the past of members' wallets 100, trust checks 300 and an index that is made anew 200.
func TestWhatIsGivenUpFirst(t *testing.T) {
	t.Parallel()
	rates := [purposes]float64{.4, .1, .1, .1, .1, .1, .1, .3, .2}
	for _, c := range []struct {
		left float64
		up   int // before
		want []Purpose
	}{
		{math.Inf(1), 0, nil},
		{1500, 0, nil},
		{1499, 0, []Purpose{Reindexing}},
		{1300, 0, []Purpose{Reindexing}},
		{1299, 0, []Purpose{Reindexing, Trust}},
		{1000, 0, []Purpose{Reindexing, Trust}},
		{999, 0, []Purpose{Reindexing, Trust, Pasts}},
		{900, 0, []Purpose{Reindexing, Trust, Pasts}},
		{899, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys}},
		{800, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys}},
		{799, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders}},
		{700, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders}},
		{699, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members}},
		{600, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members}},
		{599, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples}},
		{500, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples}},
		{499, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples, Agreement}},
		{399, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples, Agreement}}, // blocks are read to the last call
		{0, 0, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples, Agreement}},
		// A purpose that was given up comes back when it leaves a tenth of the budget.
		{1300, 2, []Purpose{Reindexing, Trust}},
		{1444, 2, []Purpose{Reindexing, Trust}},
		{1445, 2, []Purpose{Reindexing}},
		{1666, 2, []Purpose{Reindexing}},
		{1667, 2, nil},
		{1300, 8, []Purpose{Reindexing, Trust}},
		{1111, 8, []Purpose{Reindexing, Trust, Pasts}},
		{1112, 8, []Purpose{Reindexing, Trust}},
		{1000, 8, []Purpose{Reindexing, Trust, Pasts}},
		{1001, 8, []Purpose{Reindexing, Trust, Pasts}},
		{999, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys}},
		{888, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders}},
		{889, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys}},
		{777, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members}},
		{778, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders}},
		{555, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples, Agreement}},
		{556, 8, []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples}},
		{math.Inf(1), 8, nil},
	} {
		r := Ration{up: c.up, rates: rates}
		now := rates
		for p := int(purposes) - c.up; p < int(purposes); p++ {
			now[p] = 0 // of what is given up nothing is measured
		}
		r.Decide(c.left, 1000, now)
		if got := r.GivenUp(); !slices.Equal(got, c.want) {
			t.Errorf("with %g left and %d given up before it gives up %v, want %v", c.left, c.up, got, c.want)
		}
		for _, p := range Purposes() {
			if r.GivesUp(p) != slices.Contains(c.want, p) {
				t.Errorf("with %g left and %d given up before it gives up %s: %t", c.left, c.up, p, r.GivesUp(p))
			}
		}
	}
}

// TestASpentDayGivesUpAllButBlocks asks for nothing any more, since nothing is left: that isn't enough for what asks for nothing.
func TestASpentDayGivesUpAllButBlocks(t *testing.T) {
	t.Parallel()
	var r Ration
	r.Decide(0, 1000, [purposes]float64{})
	if got := r.GivenUp(); len(got) != len(Purposes())-1 {
		t.Errorf("with nothing left it gives up %v", got)
	}
	r.Decide(100, 86400, [purposes]float64{.001})
	if got := r.GivenUp(); got != nil {
		t.Errorf("on a new day it gives up %v", got)
	}
}

// TestWhatEndpointsAllowTogether adds up plans.
func TestWhatEndpointsAllowTogether(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		list []Endpoint
		want Allowance
	}{
		"no cap":             {[]Endpoint{{}}, Allowance{true, inf, inf, inf}},
		"calls":              {[]Endpoint{{Calls: 30, CallsPerDay: 100, PerSecond: 5}, {CallsPerDay: 50, PerSecond: 7}}, Allowance{false, 150, 120, 12}},
		"units":              {[]Endpoint{{Units: 300, UnitsPerDay: 1000, PerSecond: 5}}, Allowance{true, 1000, 700, 5}},
		"one without a cap":  {[]Endpoint{{CallsPerDay: 100, PerSecond: 5}, {}}, Allowance{false, inf, inf, inf}},
		"calls and units":    {[]Endpoint{{CallsPerDay: 100}, {Units: 1000, UnitsPerDay: 2000}}, Allowance{false, 200, 150, inf}},
		"both on one":        {[]Endpoint{{Calls: 10, CallsPerDay: 50, Units: 100, UnitsPerDay: 5000}}, Allowance{true, 1000, 800, inf}},
		"spent":              {[]Endpoint{{Calls: 100, CallsPerDay: 100}}, Allowance{false, 100, 0, inf}},
		"one is silent":      {[]Endpoint{{CallsPerDay: 100, PerSecond: 5}, {CallsPerDay: 50, PerSecond: 7, Silent: true}}, Allowance{false, 150, 100, 5}},
		"all are silent":     {[]Endpoint{{CallsPerDay: 100, PerSecond: 5, Silent: true}}, Allowance{false, 100, 100, 5}},
		"another chain's":    {[]Endpoint{{CallsPerDay: 100, PerSecond: 5}, {Wrong: true}}, Allowance{false, 100, 100, 5}},
		"the only unlimited": {[]Endpoint{{CallsPerDay: 100}, {Silent: true}}, Allowance{false, inf, 100, inf}},
	} {
		if got := Allow(c.list, 20); got != c.want {
			t.Errorf("%s: they allow %+v, want %+v", name, got, c.want)
		}
	}
}
