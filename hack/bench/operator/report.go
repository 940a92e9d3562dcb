package operator

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// operatorReport has the runs of each size, the small one first.
type operatorReport struct {
	sizes           []siteSize
	converged, rest []changeRun
	// changes are by what was made, size and round.
	changes [][2][]changeRun
	used    *lab.Reading
}

// checkCounts fails unless operators and API server counted the same.
func (r *operatorReport) checkCounts(ctx context.Context, c *kubetest.Cluster, sites []*operatorSite) error {
	var counted float64
	for _, s := range sites {
		all, err := countsOf(ctx, s.operator)
		if err != nil {
			return err
		}
		counted += all.sum(isOwn)
	}
	seen, err := ownWritesAtServer(ctx, c.Config)
	if err != nil {
		return err
	}
	if seen != counted {
		return fmt.Errorf("the operators counted %.0f applied objects and statuses, the API server %.0f", counted, seen)
	}
	lab.Say("the API server counted the operators' %.0f applied objects and statuses too", seen)
	return nil
}

// requests counts those of a kind.
func requests(kind func(verb, resource string) bool) func(*changeRun) float64 {
	return func(r *changeRun) float64 { return r.sum(kind) }
}

func reconciled(r *changeRun) (n float64) {
	for _, v := range r.reconciles {
		n += v
	}
	return n
}

func goroutines(r *changeRun) float64 { return r.goroutines }

var convergedFigures = []lab.Column[changeRun]{
	{Name: "converged after s", Format: "%.1f", Of: func(r *changeRun) float64 { return r.took.Seconds() }},
	{Name: "writes", Format: "%.0f", Of: requests(isWrite)},
	{Name: "of these Events", Format: "%.0f", Of: requests(isEvent)},
	{Name: "reconciles", Format: "%.0f", Of: reconciled},
	{Name: "CPU-s", Format: "%.2f", Of: func(r *changeRun) float64 { return r.CPU.Seconds() }},
	{Name: "peak MB", Format: "%.0f", Of: func(r *changeRun) float64 { return float64(r.Peak) / 1e6 }},
	{Name: "goroutines", Format: "%.0f", Of: goroutines},
}

var restFigures = []lab.Column[changeRun]{
	{Name: "for s", Format: "%.1f", Of: func(r *changeRun) float64 { return r.took.Seconds() }},
	{Name: "writes", Format: "%.0f", Of: requests(isWrite)},
	{Name: "of the lease", Format: "%.0f", Of: requests(isLease)},
	{Name: "get, list, watch", Format: "%.0f", Of: requests(isRead)},
	{Name: "reconciles", Format: "%.0f", Of: reconciled},
	{Name: "CPU ms/s", Format: "%.1f", Of: func(r *changeRun) float64 { return lab.Milliseconds(r.CPU) / r.took.Seconds() }},
	{Name: "goroutines", Format: "%.0f", Of: goroutines},
}

var changeFigures = []lab.Column[changeRun]{
	{Name: "writes", Format: "%.0f", Of: requests(isWrite)},
	{Name: "reconciles", Format: "%.0f", Of: reconciled},
	{Name: "done after s", Format: "%.2f", Of: func(r *changeRun) float64 { return r.took.Seconds() }},
	{Name: "CPU ms", Format: "%.0f", Of: func(r *changeRun) float64 { return lab.Milliseconds(r.CPU) }},
}

func (r *operatorReport) write(w io.Writer) error {
	converged, rest := lab.Columns([]string{"chains + venues"}, convergedFigures), lab.Columns([]string{"at rest"}, restFigures)
	for i, z := range r.sizes {
		converged.Add(lab.Figures([]string{z.String()}, r.converged[i:i+1], convergedFigures)...)
		rest.Add(lab.Figures([]string{z.String()}, r.rest[i:i+1], restFigures)...)
	}
	written := lab.NewTable("writes to converge", ">"+r.sizes[0].String(), ">"+r.sizes[1].String())
	for _, name := range writesIn(r.converged) {
		written.Add(name, fmt.Sprintf("%.0f", r.converged[0].requests[name]), fmt.Sprintf("%.0f", r.converged[1].requests[name]))
	}
	if err := lab.WriteTables(w, converged, written, rest, r.changed()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "The measurement itself, with all of Kubernetes, used %.1f cores on average, other programs %.1f.\n", r.used.Cores(r.used.Own), r.used.Others())
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
func (r *operatorReport) changed() *lab.Table {
	t := lab.Columns([]string{fmt.Sprintf("one change, %s → %s", r.sizes[0], r.sizes[1])}, changeFigures, "reconciles of each round",
		fmt.Sprintf("at most %g times as much", mostGrowth))
	for i := range oneChanges {
		small, large := r.changes[i][0], r.changes[i][1]
		row := []string{oneChanges[i].name}
		for _, c := range changeFigures {
			row = append(row, fmt.Sprintf(c.Format+" → "+c.Format, lab.Middle(lab.Values(small, c.Of)), lab.Middle(lab.Values(large, c.Of))))
		}
		grown := func(of func(*changeRun) float64) float64 {
			return lab.Middle(lab.Ratios(lab.Values(large, of), lab.Values(small, of)))
		}
		t.Add(append(row, lab.Each(lab.Values(small, reconciled), "%.0f")+" → "+lab.Each(lab.Values(large, reconciled), "%.0f"),
			lab.Verdict(grown(requests(isWrite)) <= mostGrowth && grown(reconciled) <= mostGrowth))...)
	}
	return t
}
