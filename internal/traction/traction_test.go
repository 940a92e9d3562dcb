package traction

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// published are inputs and scores that docs/ranking.md has.
var published = []struct {
	name  string
	parts Parts
	want  float64
}{
	{"organic", Parts{Buyers: 60, VolumeUSD: 20000, LiquidityUSD: 12000, Members: 5, AgeS: 0.5 * 3600}, 228.8},
	{"graduated", Parts{Buyers: 60, VolumeUSD: 40000, LiquidityUSD: 60000, Members: 10, AgeS: 30 * 3600}, 107.4},
	{"slow", Parts{Buyers: 8, VolumeUSD: 3000, LiquidityUSD: 8000, Members: 1, AgeS: 3 * 3600}, 75.2},
	{"runner", Parts{Buyers: 40, VolumeUSD: 60000, LiquidityUSD: 150000, Members: 10, AgeS: 144 * 3600}, 62.0},
	{"whale", Parts{Buyers: 2, VolumeUSD: 0, LiquidityUSD: 20000, Members: 0, AgeS: 1 * 3600}, 25.6},
	{"wash-traded", Parts{Buyers: 4, VolumeUSD: 900, LiquidityUSD: 15000, Members: 0, AgeS: 1 * 3600}, 54.0},
	{"the same by raw volume and trade count", Parts{Buyers: 200, VolumeUSD: 400000, LiquidityUSD: 15000, Members: 0, AgeS: 1 * 3600}, 319.3},
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

// TestFewWalletsHaveNoVolume: where there are fewer than five wallets, no volume counts, and rounding leaves nothing of it, nor below 0 where there are five.
func TestFewWalletsHaveNoVolume(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tape Tape
		for i, usd := range rapid.SliceOfN(rapid.Float64Range(0.01, 200), 1, topWallets).Draw(t, "usd") {
			tape.Add(Flow{Wallet: address(i + 1), Time: int64(1000 + i), USD: usd})
		}
		p := Parts{LiquidityUSD: 10_000}
		tape.Measure(&p, 2000)
		if n := len(tape.wallets.list); p.Concentration > 1 || p.VolumeUSD < 0 || n < topWallets && p.VolumeUSD != 0 {
			t.Fatalf("%d wallets: concentration %v, volume %v", n, p.Concentration, p.VolumeUSD)
		}
	})
}

// TestNoClusterHasMoreThanAFifth holds the bounded volume against its definition: each counts up to a fifth of the sum, and no larger sum does so.
func TestNoClusterHasMoreThanAFifth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		volumes := rapid.SliceOfN(rapid.Float64Range(0.01, 1000), 0, 40).Draw(t, "volumes")
		var m measuring
		for _, v := range volumes {
			m.count(1, v)
		}
		capped := func(sum float64) (all float64) {
			for _, v := range volumes {
				all += min(v, sum/topWallets)
			}
			return all
		}
		got := m.bounded()
		if math.Abs(capped(got)-got) > 1e-9*(1+got) {
			t.Fatalf("the volume is %v, and up to a fifth of it each have %v", got, capped(got))
		}
		if more := got*1.001 + 1e-6; capped(more) >= more*(1+1e-12) {
			t.Fatalf("the volume is %v, and %v would have as much, too", got, more)
		}
	})
}
