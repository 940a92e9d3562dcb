// Package operator measures what the operator costs the API server of Kubernetes and the machine, at two sizes.
package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/operator/controller"
)

// smallSize is what the size of the flags is held against.
var smallSize = siteSize{chains: 5, venues: 50}

// memoryLimit is what the chart gives an operator: nine tenths of its limit of memory.
const memoryLimit = "230MiB"

type operatorOptions struct {
	large  siteSize
	rounds int
	rest   time.Duration
}

// Command is the command.
func Command() lab.Command {
	o := &operatorOptions{}
	return lab.Command{
		Name: "operator",
		About: "The operator on a real Kubernetes API server, at two sizes: until all has converged, at rest, and after one change at a time. Indexers are " +
			"stood in for. What the operators counted must be what the API server counted. See docs/benchmarks.md#the-operator.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&o.large.chains, "chains", 50, "chains of the large size")
			f.IntVar(&o.large.venues, "venues", 500, "venues of the large size")
			f.IntVar(&o.rounds, "rounds", 3, "rounds of changes")
			f.DurationVar(&o.rest, "rest", time.Minute, "how long it is watched at rest")
			lab.ProfilesFlag(f)
		},
		Run: func(ctx context.Context) error {
			if o.large.chains < smallSize.chains || o.large.venues < max(smallSize.venues, o.large.chains) || o.large == smallSize {
				return fmt.Errorf("--chains and --venues must make a size larger than %s, with a venue for each chain", smallSize)
			}
			if o.rounds < 1 || o.rest <= 0 {
				return errors.New("--rounds and --rest must be positive")
			}
			return lab.Scratch(func(dir string) error { return o.measure(ctx, dir) })
		},
	}
}

func (o *operatorOptions) measure(ctx context.Context, dir string) error {
	// What is started with it ends with it, on whatever way out.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	controller.SetLog(lab.Complaints())
	if err := os.Setenv("GOMEMLIMIT", memoryLimit); err != nil { // operators inherit it
		return err
	}
	lab.Say("starting a Kubernetes")
	cluster, err := kubetest.Start(ctx, kubetest.Options{CRDs: []string{filepath.Join("config", "crd", "bases")}})
	if err != nil {
		return err
	}
	defer cluster.Stop()
	if err := cluster.StartControllers(ctx, nodesFor(o.large.chains+smallSize.chains)); err != nil {
		return err
	}
	indexers := startStandInIndexers()
	defer indexers.Close()
	if err := lab.Heading(os.Stdout, fmt.Sprintf("Each venue is on %d chains. %d round(s) of changes, medians.", chainsOfAVenue, o.rounds)); err != nil {
		return err
	}
	r := &operatorReport{sizes: []siteSize{smallSize, o.large}}
	var sites []*operatorSite
	// It is read while all are there to be asked.
	if r.used, err = lab.Meter(nil, nil, func() error {
		sites, err = o.measureSites(ctx, cluster, indexers, dir, r)
		return err
	}); err != nil {
		return err
	}
	agreed := r.checkCounts(ctx, cluster, sites)
	for _, s := range sites {
		if err := s.operator.Stop(); err != nil {
			return err
		}
		if err := s.operator.Silent(); err != nil {
			lab.Say("%s", err)
		}
	}
	return errors.Join(agreed, r.write(os.Stdout))
}

// nodesFor is how many nodes have room for so many indexers: a node takes 110 pods, and a rollout some more.
func nodesFor(chains int) int { return max(3, chains/100+2) }

func (o *operatorOptions) measureSites(ctx context.Context, cluster *kubetest.Cluster, indexers *standInIndexers, dir string, r *operatorReport,
) (sites []*operatorSite, err error) {
	for _, size := range r.sizes {
		s, err := newSite(ctx, cluster, indexers, dir, size)
		if err != nil {
			return nil, err
		}
		sites = append(sites, s)
		run, err := s.converge(ctx)
		if err != nil {
			return nil, err
		}
		r.converged = append(r.converged, *run)
	}
	if r.rest, err = o.restAll(ctx, sites); err != nil {
		return nil, err
	}
	return sites, o.changeAll(ctx, sites, r)
}

// converge declares everything and waits until all is well.
func (s *operatorSite) converge(ctx context.Context) (*changeRun, error) {
	const patience = 20 * time.Minute
	run, err := s.during(ctx, s.size.String(), patience, func() (func(*clusterView) string, error) { return s.converged, s.declare(ctx) })
	if err == nil {
		lab.Say("%s: converged after %.1f s with %.0f writes and %.0f reconciles", s.size, run.took.Seconds(), run.sum(isWrite), reconciled(run))
	}
	return run, err
}

// restAll watches all sites at the same time.
func (o *operatorOptions) restAll(ctx context.Context, sites []*operatorSite) (out []changeRun, err error) {
	// What was put off by the operator, 30 seconds at most, is no rest.
	const quiet = 35 * time.Second
	lab.Say("at rest for %s", quiet+o.rest)
	if !wait.For(ctx, quiet) {
		return nil, ctx.Err()
	}
	before := make([]*operatorCounts, len(sites))
	for i, s := range sites {
		if before[i], err = countsOf(ctx, s.operator); err != nil {
			return nil, err
		}
	}
	if !wait.For(ctx, o.rest) {
		return nil, ctx.Err()
	}
	for i, s := range sites {
		c, err := countsOf(ctx, s.operator)
		if err != nil {
			return nil, err
		}
		out = append(out, changeRun{c.since(before[i]), c.at.Sub(before[i].at)})
	}
	return out, nil
}

func (o *operatorOptions) changeAll(ctx context.Context, sites []*operatorSite, r *operatorReport) error {
	r.changes = make([][2][]changeRun, len(oneChanges))
	for round := range o.rounds {
		for i := range oneChanges {
			for k, s := range sites {
				run, err := s.run(ctx, &oneChanges[i], round%smallSize.chains, round)
				if err != nil {
					return fmt.Errorf("%s, round %d: %w", s.size, round+1, err)
				}
				lab.Say("round %d of %d: %s: %s: %.1f s, %.0f writes, %.0f reconciles", round+1, o.rounds, s.size, oneChanges[i].name,
					run.took.Seconds(), run.sum(isWrite), reconciled(run))
				r.changes[i][k] = append(r.changes[i][k], *run)
			}
		}
	}
	return nil
}
