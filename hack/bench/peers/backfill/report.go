package backfill

import (
	"fmt"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

func cpuSeconds(u *usageOf) float64 { return max(u.cpu, time.Millisecond).Seconds() }

var backfillFigures = []lab.Column[usageOf]{
	{Name: "CPU-s", Format: "%.2f", Of: cpuSeconds},
	{Name: "wall s", Format: "%.1f", Of: func(u *usageOf) float64 { return u.wall.Seconds() }},
	{Name: "peak MB", Format: "%.0f", Of: func(u *usageOf) float64 { return float64(u.peak) / 1e6 }},
	{Name: "database CPU-s", Format: "%.2f", Of: func(u *usageOf) float64 { return u.database.Seconds() }},
	{Name: "CPU-s of each round", Format: "%.2f", Of: cpuSeconds, Each: true},
}

// report has the medians, and the wanted ratios, each the median over the rounds of the ratio within a round.
func report(list []*contender, runs map[string][]usageOf) (times, bounds *lab.Table) {
	times = lab.Columns([]string{"contender"}, backfillFigures)
	for _, c := range list {
		times.Add(lab.Figures([]string{c.name}, runs[c.name], backfillFigures)...)
	}
	bounds = lab.NewTable("ratio of CPU-s", ">wanted", ">median", "each round", "")
	for _, r := range []struct {
		over, under string
		most        float64
	}{
		{"Boardwalk", "Ponder", 0.1},
		{"Boardwalk", "floor", 2},
		{"Boardwalk, replay", "floor, replay", 2},
	} {
		if of := lab.Ratios(lab.Values(runs[r.over], cpuSeconds), lab.Values(runs[r.under], cpuSeconds)); len(of) > 0 {
			m := lab.Middle(of)
			bounds.Add(r.over+" / "+r.under, fmt.Sprintf("at most %g", r.most), fmt.Sprintf("%.3g", m), lab.Each(of, "%.3g"), lab.Verdict(m <= r.most))
		}
	}
	return times, bounds
}
