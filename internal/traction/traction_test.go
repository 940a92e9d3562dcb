package traction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// published are the inputs and scores that the formula was published with.
var published = []struct {
	name  string
	parts Parts
	want  float64
}{
	{"organic", Parts{60, 20000, 40, 12000, 5, 0.5 * 3600, 0, 0}, 223.7},
	{"graduated", Parts{60, 40000, 30, 60000, 10, 30 * 3600, 0, 0}, 103.9},
	{"slow", Parts{8, 3000, 5, 8000, 1, 3 * 3600, 0, 0}, 72.4},
	{"runner", Parts{40, 60000, 20, 150000, 10, 144 * 3600, 0, 0}, 60.8},
	{"whale", Parts{2, 500, 1, 20000, 0, 1 * 3600, 0, 0.6}, 14.7},
	{"wash-traded", Parts{4, 900, 2, 15000, 0, 1 * 3600, 0.9, 0.2}, 4.1},
	{"the same by raw volume and trade count", Parts{200, 400000, 150, 15000, 0, 1 * 3600, 0, 0}, 315.6},
}

func TestScoreOfThePublishedExamples(t *testing.T) {
	t.Parallel()
	for _, c := range published {
		if got := math.Round(10*Score(c.parts)) / 10; got != c.want {
			t.Errorf("%s scores %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMeasureSeesThroughRoundTrips(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	var washed, honest Tape
	p := Parts{LiquidityUSD: 10_000}
	for i := range 100 {
		washed.Add(Flow{Wallet: address(1), Time: now, Sell: i%2 == 1, USD: 1000})
	}
	if washed.Measure(&p, now); p.Buyers != 0 || p.VolumeUSD != 0 || p.Wash != 1 {
		t.Errorf("a wallet trading with itself measures %+v", p)
	}
	for i := range 20 {
		honest.Add(Flow{Wallet: address(i + 1), Time: now, USD: 100})
	}
	if honest.Measure(&p, now); p.Buyers != 20 || math.Abs(p.VolumeUSD-2000) > 1e-9 || p.Wash != 0 || p.Concentration != 0 {
		t.Errorf("twenty buyers measure %+v", p)
	}
	if honest.Measure(&p, now+Window); p.Buyers != 0 || p.VolumeUSD != 0 {
		t.Errorf("after the window they still measure %+v", p)
	}
}

// TestFewWalletsScoreNothing: where the largest wallets are all there are, rounding leaves the score at 0 and not below.
func TestFewWalletsScoreNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tape Tape
		for i, usd := range rapid.SliceOfN(rapid.Float64Range(0.01, 200), 1, topWallets).Draw(t, "usd") {
			tape.Add(Flow{Wallet: address(i + 1), Time: int64(1000 + i), USD: usd})
		}
		p := Parts{LiquidityUSD: 10_000}
		tape.Measure(&p, 2000)
		if score := Score(p); p.Concentration > 1 || score < 0 {
			t.Fatalf("concentration %v, score %v", p.Concentration, score)
		}
	})
}
