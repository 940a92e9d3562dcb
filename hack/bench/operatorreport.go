package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
)

// operatorReport has the runs of each size, the small one first.
type operatorReport struct {
	sizes           []siteSize
	converged, rest []*changeRun
	// changes are by what was made, size and round.
	made    []oneChange
	changes [][][]*changeRun
	load    loadSince
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

func (r *operatorReport) write(w io.Writer) error {
	for _, part := range []func(io.Writer) error{r.writeConverged, r.writeRequests, r.writeRest, r.writeChanges, r.writeRatios} {
		if err := part(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "The measurement itself, with all of Kubernetes, used %.1f cores on average, other programs %.1f.\n", r.own, r.others)
	return err
}

func (r *operatorReport) writeConverged(w io.Writer) error {
	t := newTable("chains + venues", ">converged after s", ">writes", ">a chain or venue", ">of these Events", ">reads", ">reconciles", ">CPU-s", ">peak MB",
		">resident MB", ">heap MB", ">goroutines")
	for i, run := range r.converged {
		z := r.sizes[i]
		t.add(z.String(), seconds(run.took), whole(run.writes()), fmt.Sprintf("%.1f", run.writes()/float64(z.chains+z.venues)), whole(run.events()),
			whole(run.reads()), whole(run.reconciled()), fmt.Sprintf("%.2f", run.CPU.Seconds()), megabytes(run.Peak), megabytes(run.Resident),
			megabytes(run.Heap), whole(run.goroutines))
	}
	return t.write(w)
}

func (r *operatorReport) writeRequests(w io.Writer) error {
	t := newTable("writes to converge", ">"+r.sizes[0].String(), ">"+r.sizes[1].String())
	for _, name := range requestNames(r.converged) {
		t.add(name, whole(r.converged[0].requests[name]), whole(r.converged[1].requests[name]))
	}
	return t.write(w)
}

func (r *operatorReport) writeRest(w io.Writer) error {
	t := newTable("at rest", ">for s", ">writes", ">lease", ">get, list, watch", ">reconciles", ">CPU ms/s", ">resident MB", ">goroutines")
	for i, run := range r.rest {
		t.add(r.sizes[i].String(), seconds(run.took), whole(run.writes()), whole(run.leases()), whole(run.reads()), whole(run.reconciled()),
			fmt.Sprintf("%.1f", milliseconds(run.CPU)/run.took.Seconds()), megabytes(run.Resident), whole(run.goroutines))
		for _, name := range slices.Sorted(maps.Keys(run.requests)) {
			say("%s at rest: %s %.0f", r.sizes[i], name, run.requests[name])
		}
	}
	return t.write(w)
}

// of gives a figure of every round.
func of(runs []*changeRun, f func(*changeRun) float64) []float64 {
	var out []float64
	for _, run := range runs {
		out = append(out, f(run))
	}
	return out
}

var changeFigures = []struct {
	name   string
	format string
	of     func(*changeRun) float64
}{
	{"done after s", "%.2f", func(r *changeRun) float64 { return r.took.Seconds() }},
	{"writes", "%.0f", func(r *changeRun) float64 { return r.writes() }},
	{"of these Events", "%.0f", func(r *changeRun) float64 { return r.events() }},
	{"chain reconciles", "%.0f", func(r *changeRun) float64 { return r.reconciles["chain"] }},
	{"venue reconciles", "%.0f", func(r *changeRun) float64 { return r.reconciles["launchvenue"] }},
	{"CPU ms", "%.0f", func(r *changeRun) float64 { return milliseconds(r.CPU) }},
}

func (r *operatorReport) writeChanges(w io.Writer) error {
	columns := []string{"one change", "size"}
	for _, f := range changeFigures {
		columns = append(columns, ">"+f.name)
	}
	t := newTable(columns...)
	for i := range r.made {
		for k, z := range r.sizes {
			row := []string{r.made[i].name, z.String()}
			for _, f := range changeFigures {
				row = append(row, fmt.Sprintf(f.format, middle(of(r.changes[i][k], f.of))))
			}
			t.add(row...)
		}
	}
	return t.write(w)
}

// mostGrowth is by how much what one change costs may differ between the sizes: reconciles that happen to be joined in the
// queue, or not.
const mostGrowth = 1.5

func (r *operatorReport) writeRatios(w io.Writer) error {
	t := newTable("one change, large / small", ">wanted", ">writes", ">reconciles", ">CPU", ">time", "reconciles of each round", "")
	reconciled := func(c *changeRun) float64 { return c.reconciled() }
	writes := func(c *changeRun) float64 { return c.writes() }
	for i := range r.made {
		small, large := r.changes[i][0], r.changes[i][1]
		w, c := ratios(large, small, writes), ratios(large, small, reconciled)
		t.add(r.made[i].name, fmt.Sprintf("at most %g", mostGrowth), fmt.Sprintf("%.2f", middle(w)), fmt.Sprintf("%.2f", middle(c)),
			fmt.Sprintf("%.2f", middle(ratios(large, small, func(c *changeRun) float64 { return c.CPU.Seconds() }))),
			fmt.Sprintf("%.2f", middle(ratios(large, small, func(c *changeRun) float64 { return c.took.Seconds() }))),
			each(of(small, reconciled), "%.0f")+" → "+each(of(large, reconciled), "%.0f"),
			verdict(middle(w) <= mostGrowth && middle(c) <= mostGrowth))
	}
	return t.write(w)
}

// ratios are within a round. Nothing after nothing is no growth.
func ratios(over, under []*changeRun, f func(*changeRun) float64) []float64 {
	var out []float64
	for i := range over {
		ratio := 1.0
		if a, b := f(over[i]), f(under[i]); a != b {
			ratio = a / b
		}
		out = append(out, ratio)
	}
	return out
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f", d.Seconds()) }

func whole(n float64) string { return fmt.Sprintf("%.0f", n) }

func megabytes(n int64) string { return fmt.Sprintf("%.0f", float64(n)/1e6) }
