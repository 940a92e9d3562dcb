package main

import (
	"fmt"
	"time"
)

func cpuSeconds(u *usageOf) float64 { return max(u.cpu, time.Millisecond).Seconds() }

var backfillFigures = []column[usageOf]{
	{name: "CPU-s", format: "%.2f", of: cpuSeconds},
	{name: "wall s", format: "%.1f", of: func(u *usageOf) float64 { return u.wall.Seconds() }},
	{name: "peak MB", format: "%.0f", of: func(u *usageOf) float64 { return float64(u.peak) / 1e6 }},
	{name: "database CPU-s", format: "%.2f", of: func(u *usageOf) float64 { return u.database.Seconds() }},
	{name: "CPU-s of each round", format: "%.2f", of: cpuSeconds, each: true},
}

// report has the medians, and the wanted ratios, each the median over the rounds of the ratio within a round.
func report(list []*contender, runs map[string][]usageOf) (times, bounds *table) {
	times = columns([]string{"contender"}, backfillFigures)
	for _, c := range list {
		times.add(figures([]string{c.name}, runs[c.name], backfillFigures)...)
	}
	bounds = newTable("ratio of CPU-s", ">wanted", ">median", "each round", "")
	for _, r := range []struct {
		over, under string
		most        float64
	}{
		{"Boardwalk", "Ponder", 0.1},
		{"Boardwalk", "floor", 2},
		{"Boardwalk, replay", "floor, replay", 2},
	} {
		if of := ratios(values(runs[r.over], cpuSeconds), values(runs[r.under], cpuSeconds)); len(of) > 0 {
			m := middle(of)
			bounds.add(r.over+" / "+r.under, fmt.Sprintf("at most %g", r.most), fmt.Sprintf("%.3g", m), each(of, "%.3g"), verdict(m <= r.most))
		}
	}
	return times, bounds
}
