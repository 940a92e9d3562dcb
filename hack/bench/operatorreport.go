package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// operatorReport has the runs of each size, the small one first.
type operatorReport struct {
	sizes           []siteSize
	converged, rest []changeRun
	// changes are by what was made, size and round.
	changes [][2][]changeRun
	// own and others are the cores that this and other programs used.
	own, others float64
}

// checkCounts fails unless operators and API server counted the same.
func (r *operatorReport) checkCounts(ctx context.Context, c *kubetest.Cluster, sites []*operatorSite) error {
	var counted float64
	for _, s := range sites {
		all, err := countsOf(ctx, s.operator)
		if err != nil {
			return err
		}
		counted += all.ownWrites()
	}
	seen, err := ownWritesAtServer(ctx, c.Config)
	if err != nil {
		return err
	}
	if seen != counted {
		return fmt.Errorf("the operators counted %.0f applied objects and statuses, the API server %.0f", counted, seen)
	}
	say("the API server counted the operators' %.0f applied objects and statuses too", seen)
	return nil
}

func writes(r *changeRun) float64 { return r.writes() }

func reconciled(r *changeRun) float64 { return r.reconciled() }

func goroutines(r *changeRun) float64 { return r.goroutines }

var convergedFigures = []column[changeRun]{
	{name: "converged after s", format: "%.1f", of: func(r *changeRun) float64 { return r.took.Seconds() }},
	{name: "writes", format: "%.0f", of: writes},
	{name: "of these Events", format: "%.0f", of: func(r *changeRun) float64 { return r.events() }},
	{name: "reconciles", format: "%.0f", of: reconciled},
	{name: "CPU-s", format: "%.2f", of: func(r *changeRun) float64 { return r.CPU.Seconds() }},
	{name: "peak MB", format: "%.0f", of: func(r *changeRun) float64 { return float64(r.Peak) / 1e6 }},
	{name: "goroutines", format: "%.0f", of: goroutines},
}

var restFigures = []column[changeRun]{
	{name: "for s", format: "%.1f", of: func(r *changeRun) float64 { return r.took.Seconds() }},
	{name: "writes", format: "%.0f", of: writes},
	{name: "of the lease", format: "%.0f", of: func(r *changeRun) float64 { return r.leases() }},
	{name: "get, list, watch", format: "%.0f", of: func(r *changeRun) float64 { return r.reads() }},
	{name: "reconciles", format: "%.0f", of: reconciled},
	{name: "CPU ms/s", format: "%.1f", of: func(r *changeRun) float64 { return milliseconds(r.CPU) / r.took.Seconds() }},
	{name: "goroutines", format: "%.0f", of: goroutines},
}

var changeFigures = []column[changeRun]{
	{name: "writes", format: "%.0f", of: writes},
	{name: "reconciles", format: "%.0f", of: reconciled},
	{name: "done after s", format: "%.2f", of: func(r *changeRun) float64 { return r.took.Seconds() }},
	{name: "CPU ms", format: "%.0f", of: func(r *changeRun) float64 { return milliseconds(r.CPU) }},
}

func (r *operatorReport) write(w io.Writer) error {
	converged, rest := columns([]string{"chains + venues"}, convergedFigures), columns([]string{"at rest"}, restFigures)
	for i, z := range r.sizes {
		converged.add(figures([]string{z.String()}, r.converged[i:i+1], convergedFigures)...)
		rest.add(figures([]string{z.String()}, r.rest[i:i+1], restFigures)...)
	}
	requests := newTable("writes to converge", ">"+r.sizes[0].String(), ">"+r.sizes[1].String())
	for _, name := range writesIn(r.converged) {
		requests.add(name, fmt.Sprintf("%.0f", r.converged[0].requests[name]), fmt.Sprintf("%.0f", r.converged[1].requests[name]))
	}
	if err := writeTables(w, converged, requests, rest, r.changed()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "The measurement itself, with all of Kubernetes, used %.1f cores on average, other programs %.1f.\n", r.own, r.others)
	return err
}

// writesIn names the requests that were writes.
func writesIn(runs []changeRun) []string {
	names := map[string]bool{}
	for i := range runs {
		for name := range runs[i].requests {
			if verb, resource, _ := strings.Cut(name, " "); isWrite(verb, resource) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// mostGrowth is by how much what one change costs may differ between the sizes: reconciles that happen to be joined in the
// queue, or not.
const mostGrowth = 1.5

// changed has what one change cost at the small size and at the large one. The bound is on writes and reconciles.
func (r *operatorReport) changed() *table {
	t := columns([]string{fmt.Sprintf("one change, %s → %s", r.sizes[0], r.sizes[1])}, changeFigures, "reconciles of each round",
		fmt.Sprintf("at most %g times as much", mostGrowth))
	for i := range oneChanges {
		small, large := r.changes[i][0], r.changes[i][1]
		row := []string{oneChanges[i].name}
		for _, c := range changeFigures {
			row = append(row, fmt.Sprintf(c.format+" → "+c.format, middle(values(small, c.of)), middle(values(large, c.of))))
		}
		grown := func(of func(*changeRun) float64) float64 { return middle(ratios(values(large, of), values(small, of))) }
		t.add(append(row, each(values(small, reconciled), "%.0f")+" → "+each(values(large, reconciled), "%.0f"),
			verdict(grown(writes) <= mostGrowth && grown(reconciled) <= mostGrowth))...)
	}
	return t
}
