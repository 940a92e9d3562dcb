package traction

import (
	"math"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The inputs and scores are those that the formula was published with.
func TestScoreOfThePublishedExamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		b, v, h, l, m, ageH, wash, conc, want float64
	}{
		"organic":     {60, 20000, 40, 12000, 5, 0.5, 0, 0, 223.7},
		"graduated":   {60, 40000, 30, 60000, 10, 30, 0, 0, 103.9},
		"slow":        {8, 3000, 5, 8000, 1, 3, 0, 0, 72.4},
		"runner":      {40, 60000, 20, 150000, 10, 144, 0, 0, 60.8},
		"whale":       {2, 500, 1, 20000, 0, 1, 0, 0.6, 14.7},
		"wash-traded": {4, 900, 2, 15000, 0, 1, 0.9, 0.2, 4.1},
		"raw volume":  {200, 400000, 150, 15000, 0, 1, 0, 0, 315.6},
	} {
		got := Score(Parts{c.b, c.v, c.h, c.l, c.m, c.ageH * 3600, c.wash, c.conc})
		if math.Abs(got-c.want) > 0.05 {
			t.Errorf("%s scores %.2f, want %.1f", name, got, c.want)
		}
	}
}

func wallet(n byte) market.Address {
	var w [32]byte
	w[31] = n
	return market.EVMAddress(w)
}

func TestMeasureSeesThroughRoundTrips(t *testing.T) {
	t.Parallel()
	const now = 1_000_000
	washed := Parts{LiquidityUSD: 10_000}
	var flows []Flow
	for i := range 100 {
		flows = append(flows, Flow{wallet(1), now, i%2 == 1, 1000})
	}
	washed.Measure(flows, now)
	if washed.Buyers != 0 || washed.VolumeUSD != 0 || washed.Wash != 1 {
		t.Errorf("a wallet trading with itself measures %+v", washed)
	}
	honest := Parts{LiquidityUSD: 10_000}
	flows = nil
	for i := range 20 {
		flows = append(flows, Flow{wallet(byte(i + 1)), now, false, 100})
	}
	honest.Measure(flows, now)
	if honest.Buyers != 20 || math.Abs(honest.VolumeUSD-2000) > 1e-9 || honest.Wash != 0 || honest.Concentration != 0 {
		t.Errorf("twenty buyers measure %+v", honest)
	}
	honest.Measure(flows, now+Window)
	if honest.Buyers != 0 || honest.VolumeUSD != 0 {
		t.Errorf("after the window they still measure %+v", honest)
	}
}
