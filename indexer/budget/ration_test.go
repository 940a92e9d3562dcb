package budget

import (
	"math"
	"slices"
	"testing"
)

// TestWhatIsGivenUpFirst holds what a day still has against what each purpose takes, at the edges: 1,000 s before midnight blocks take 400 calls, older pools' states 100,
// agreement 100, samples 100, members' wallets 100, the holders' past 100, older pools' keys 100, the past of members' wallets 100, trust checks 300 and an index that is made
// anew 200.
func TestWhatIsGivenUpFirst(t *testing.T) {
	t.Parallel()
	rates := [purposes]float64{.4, .1, .1, .1, .1, .1, .1, .1, .3, .2}
	order := []Purpose{Reindexing, Trust, Pasts, PoolKeys, Holders, Members, Samples, Agreement, PoolStates}
	for _, c := range []struct {
		left float64
		up   int // before
		want int // of order
	}{
		{math.Inf(1), 0, 0},
		{1600, 0, 0},
		{1599, 0, 1},
		{1400, 0, 1},
		{1399, 0, 2},
		{1100, 0, 2},
		{1099, 0, 3},
		{1000, 0, 3},
		{999, 0, 4},
		{900, 0, 4},
		{899, 0, 5},
		{800, 0, 5},
		{799, 0, 6},
		{700, 0, 6},
		{699, 0, 7},
		{600, 0, 7},
		{599, 0, 8},
		{500, 0, 8},
		{499, 0, 9},
		{399, 0, 9}, // blocks are read to the last call
		{0, 0, 9},
		// A purpose that was given up comes back when it leaves a tenth of the budget.
		{1400, 2, 2},
		{1555, 2, 2},
		{1556, 2, 1},
		{1777, 2, 1},
		{1778, 2, 0},
		{1400, 9, 2},
		{1222, 9, 3},
		{1223, 9, 2},
		{1112, 9, 3},
		{1111, 9, 4},
		{1000, 9, 4},
		{999, 9, 5},
		{888, 9, 6},
		{889, 9, 5},
		{777, 9, 7},
		{778, 9, 6},
		{555, 9, 9},
		{556, 9, 8},
		{math.Inf(1), 9, 0},
	} {
		r := Ration{up: c.up, rates: rates}
		now := rates
		for p := int(purposes) - c.up; p < int(purposes); p++ {
			now[p] = 0 // of what is given up nothing is measured
		}
		r.Decide(c.left, 1000, now)
		want := order[:c.want]
		if got := r.GivenUp(); !slices.Equal(got, want) {
			t.Errorf("with %g left and %d given up before it gives up %v, want %v", c.left, c.up, got, want)
		}
		for _, p := range Purposes() {
			if r.GivesUp(p) != slices.Contains(want, p) {
				t.Errorf("with %g left and %d given up before it gives up %s: %t", c.left, c.up, p, r.GivesUp(p))
			}
		}
	}
}

// TestManyPoolsAtTheBeginningOfADay has an index meet older pools: their states take 5 calls a second, blocks 1 of the 2 that a day allows. They are asked about all the same, and
// given up once what is left lasts for blocks and less than an hour of them, until it lasts again.
func TestManyPoolsAtTheBeginningOfADay(t *testing.T) {
	t.Parallel()
	const day = 86_400
	var r Ration
	for _, c := range []struct {
		left, seconds float64
		up            bool
	}{{2 * day, day, false}, {day + 5*3600, day, false}, {day + 5*3600 - 1, day, true}, {day + 5*3600, day, true}, {(day+5*3600)/resume + 1, day, false}, {6000, 1000, false}, {5999, 1000, true}} {
		r.Decide(c.left, c.seconds, [purposes]float64{1, 5})
		if got := r.GivesUp(PoolStates); got != c.up {
			t.Errorf("with %g calls left for %g s the states are given up: %t", c.left, c.seconds, got)
		}
	}
}

// TestStatesAreTakenUpAgain has states given up because they took much in a short time: that is forgotten in the course of hours, and with the day.
func TestStatesAreTakenUpAgain(t *testing.T) {
	t.Parallel()
	const day, often = 86_400, 0.9
	givenUp := func(t *testing.T) *Ration {
		t.Helper()
		r := &Ration{}
		if r.Decide(94_100, day-1000, [purposes]float64{often, 5}); !r.GivesUp(PoolStates) {
			t.Fatal("they aren't given up")
		}
		return r
	}
	r := givenUp(t)
	if r.Decide(100_000, day, [purposes]float64{often}); r.GivesUp(PoolStates) {
		t.Error("on the next day they are given up still")
	}
	r = givenUp(t)
	hours := 0
	for left := float64(94_100); r.GivesUp(PoolStates) && hours < 24; hours++ {
		for minute := range 60 {
			left -= often * 60
			r.Decide(left, day-1000-float64(hours*3600+minute*60+60), [purposes]float64{often})
		}
	}
	if hours == 0 || hours > 3 {
		t.Errorf("they are taken up after %d hours", hours)
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
