package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// median of an odd number is the middle one, of an even number the mean of both.
func median[T cmp.Ordered](values []T, mean func(a, b T) T) T {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return mean(sorted[n/2-1], sorted[n/2])
}

func medianOf(runs []usageOf, of func(usageOf) float64) float64 {
	values := make([]float64, len(runs))
	for i, u := range runs {
		values[i] = of(u)
	}
	return median(values, func(a, b float64) float64 { return (a + b) / 2 })
}

// report writes the medians, and the wanted ratios, each the median over the rounds of the ratio within a round.
func report(w io.Writer, list []*contender, runs map[string][]usageOf) error {
	var b strings.Builder
	b.WriteString("| contender | CPU-s | wall s | peak MB | database CPU-s | CPU-s of each round |\n|---|---:|---:|---:|---:|---|\n")
	for _, c := range list {
		of := runs[c.name]
		var each []string
		for _, u := range of {
			each = append(each, fmt.Sprintf("%.2f", u.cpu.Seconds()))
		}
		fmt.Fprintf(&b, "| %s | %.2f | %.1f | %.0f | %.2f | %s |\n", c.name, medianOf(of, func(u usageOf) float64 { return u.cpu.Seconds() }),
			medianOf(of, func(u usageOf) float64 { return u.wall.Seconds() }),
			medianOf(of, func(u usageOf) float64 { return float64(u.peak) / 1e6 }),
			medianOf(of, func(u usageOf) float64 { return u.database.Seconds() }), strings.Join(each, ", "))
	}
	b.WriteString("\n| ratio of CPU-s | wanted | median | each round | |\n|---|---:|---:|---|---|\n")
	for _, r := range []struct {
		over, under string
		most        float64
	}{
		{"Boardwalk", "Ponder", 0.1},
		{"Boardwalk", "floor", 2},
		{"Boardwalk, replay", "floor, replay", 2},
	} {
		over, under := runs[r.over], runs[r.under]
		n := min(len(over), len(under))
		if n == 0 {
			continue
		}
		var ratios []float64
		var each []string
		for i := range n {
			ratios = append(ratios, over[i].cpu.Seconds()/max(under[i].cpu, time.Millisecond).Seconds())
			each = append(each, fmt.Sprintf("%.3g", ratios[i]))
		}
		m := median(ratios, func(a, b float64) float64 { return (a + b) / 2 })
		verdict := "met"
		if m > r.most {
			verdict = "**missed**"
		}
		fmt.Fprintf(&b, "| %s / %s | at most %g | %.3g | %s | %s |\n", r.over, r.under, r.most, m, strings.Join(each, ", "), verdict)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
