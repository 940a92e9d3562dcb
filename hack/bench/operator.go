package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/kubetest"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/operator/controller"
)

const operatorUsage = `bench operator measures what the operator costs the API server and the machine, at two sizes.

  go run ./hack/bench operator [flags]

A real etcd, kube-apiserver, controller manager and scheduler run with nodes that kwok makes. Each size has a namespace and
an operator of its own, a process that may do what config/rbac lets it. Indexers are stood in for by a server that
answers for all of them, with blocks that move; so pods are made, and nothing is indexed.

  converge   all chains and venues are created at once; it ends when every chain is ready and every venue open everywhere
  rest       nothing happens but blocks
  change     one thing at a time happens to one chain or venue, at one size and then at the other, in rounds

A change counts until all has been well for four seconds. Writes are the operator's requests that aren't get, list or watch,
Events among them, the lease left out. What the operators counted must be what the API server counted.

Flags:
`

type operatorOptions struct {
	large, small siteSize
	rounds       int
	rest         time.Duration
	nodes        int
	cpuProfile   string
	only         string
	changes      []oneChange
	args         []string
}

func operatorCommand(ctx context.Context, args []string) error {
	o := operatorOptions{args: args}
	flags := flag.NewFlagSet("bench operator", flag.ContinueOnError)
	flags.IntVar(&o.large.chains, "chains", 50, "chains of the large size")
	flags.IntVar(&o.large.venues, "venues", 500, "venues of the large size")
	flags.IntVar(&o.small.chains, "small-chains", 5, "chains of the small size")
	flags.IntVar(&o.small.venues, "small-venues", 50, "venues of the small size")
	flags.IntVar(&o.rounds, "rounds", 3, "rounds of changes")
	flags.DurationVar(&o.rest, "rest", time.Minute, "how long it is watched at rest")
	flags.IntVar(&o.nodes, "nodes", 3, "nodes")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the large operator while it converges")
	flags.StringVar(&o.only, "only", "", "make those changes alone that have this `TEXT` in their names; some undo the one before")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), operatorUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (see bench operator --help)", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no argument of bench operator (see its --help)", flags.Arg(0))
	}
	for _, z := range []siteSize{o.large, o.small} {
		if z.chains < chainsOfAVenue || z.venues < z.chains {
			return fmt.Errorf("a size of %s: it takes at least %d chains, and a venue for each", z, chainsOfAVenue)
		}
	}
	if o.large == o.small || o.rounds < 1 || o.rest <= 0 || o.nodes < 1 {
		return errors.New("the two sizes must differ, and --rounds, --rest and --nodes be positive")
	}
	for i := range oneChanges {
		if strings.Contains(oneChanges[i].name, o.only) {
			o.changes = append(o.changes, oneChanges[i])
		}
	}
	return scratch(func(dir string) error { return o.measure(ctx, dir) })
}

func (o *operatorOptions) measure(ctx context.Context, dir string) error {
	// What is started with it ends with it, on whatever way out.
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	controller.SetLog(complaints())
	say("starting a Kubernetes")
	cluster, err := kubetest.Start(ctx, kubetest.Options{CRDs: []string{filepath.Join("config", "crd", "bases")}})
	if err != nil {
		return err
	}
	defer cluster.Stop()
	if err := cluster.StartControllers(ctx, o.nodes); err != nil {
		return err
	}
	indexers, err := startStandInIndexers(ctx)
	if err != nil {
		return err
	}
	defer indexers.close()
	about := fmt.Sprintf("Each venue is on %d chains. %d round(s) of changes, medians.", chainsOfAVenue, o.rounds)
	if err := heading(os.Stdout, "operator", o.args, about); err != nil {
		return err
	}
	r := &operatorReport{sizes: []siteSize{o.small, o.large}, made: o.changes, load: startLoad()}
	var sites []*operatorSite
	for _, size := range r.sizes {
		s, err := newSite(ctx, cluster, indexers, dir, size)
		if err != nil {
			return err
		}
		defer func() { _ = s.operator.stop() }() // the ordinary end is below
		sites = append(sites, s)
		if err := o.converge(ctx, s, r); err != nil {
			return err
		}
	}
	if err := o.restAll(ctx, sites, r); err != nil {
		return err
	}
	if err := o.changeAll(ctx, sites, r); err != nil {
		return err
	}
	r.own, r.others = r.load.cores() // while all are there to be asked
	agreed := r.checkCounts(ctx, cluster, sites)
	for _, s := range sites {
		if err := s.operator.stop(); err != nil {
			return err
		}
		if err := s.operator.silent(); err != nil {
			say("%s", err)
		}
	}
	return errors.Join(agreed, r.write(os.Stdout))
}

func (o *operatorOptions) converge(ctx context.Context, s *operatorSite, r *operatorReport) error {
	profile := ""
	if s.size == o.large {
		profile = o.cpuProfile
	}
	before, err := countsOf(ctx, s.operator)
	if err != nil {
		return err
	}
	began := now()
	var done time.Time
	if err := s.operator.maybeProfiled(profile, func() error {
		if err := s.declare(ctx); err != nil {
			return err
		}
		say("%s: declared within %.1f s", s.size, now().Sub(began).Seconds())
		const patience = 20 * time.Minute
		done, err = s.view.until(ctx, s.size.String(), patience, settle, s.converged)
		return err
	})(); err != nil {
		return err
	}
	after, err := countsOf(ctx, s.operator)
	if err != nil {
		return err
	}
	run := &changeRun{after.since(before), done.Sub(began)}
	say("%s: converged after %.1f s with %.0f writes and %.0f reconciles", s.size, run.took.Seconds(), run.writes(), run.reconciled())
	r.converged = append(r.converged, run)
	return nil
}

// restAll watches all sites at the same time.
func (o *operatorOptions) restAll(ctx context.Context, sites []*operatorSite, r *operatorReport) error {
	// What was put off by the operator, 30 seconds at most, is no rest.
	const quiet = 35 * time.Second
	say("at rest for %s", quiet+o.rest)
	if !wait.For(ctx, quiet) {
		return ctx.Err()
	}
	var before []*operatorCounts
	for _, s := range sites {
		c, err := countsOf(ctx, s.operator)
		if err != nil {
			return err
		}
		before = append(before, c)
	}
	if !wait.For(ctx, o.rest) {
		return ctx.Err()
	}
	for i, s := range sites {
		c, err := countsOf(ctx, s.operator)
		if err != nil {
			return err
		}
		r.rest = append(r.rest, &changeRun{c.since(before[i]), c.at.Sub(before[i].at)})
	}
	return nil
}

func (o *operatorOptions) changeAll(ctx context.Context, sites []*operatorSite, r *operatorReport) error {
	r.changes = make([][][]*changeRun, len(o.changes))
	for i := range r.changes {
		r.changes[i] = make([][]*changeRun, len(sites))
	}
	for round := range o.rounds {
		for i := range o.changes {
			for k, s := range sites {
				run, err := s.run(ctx, &o.changes[i], round%o.small.chains, round)
				if err != nil {
					return fmt.Errorf("%s, round %d: %w", s.size, round+1, err)
				}
				say("round %d of %d: %s: %s: %.1f s, %.0f writes, %.0f reconciles", round+1, o.rounds, s.size, o.changes[i].name,
					run.took.Seconds(), run.writes(), run.reconciled())
				r.changes[i][k] = append(r.changes[i][k], run)
			}
		}
	}
	return nil
}

// loadSince tells the machine's load from what is measured.
type loadSince struct {
	at       time.Time
	all, own time.Duration
}

func startLoad() loadSince { return loadSince{now(), machineBusy(), familyBusy()} }

// familyBusy is what this process and its children, the cluster and the operators, have used.
func familyBusy() time.Duration {
	pid := os.Getpid()
	var ticks int64
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		if s := readStat(id); id == pid || s.parent == pid {
			ticks += s.user + s.system
		}
	}
	const ticksPerSecond = 100
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// cores are those that the measurement used on average, and that other programs did.
func (l loadSince) cores() (own, others float64) {
	wall := now().Sub(l.at).Seconds()
	used := familyBusy() - l.own
	return used.Seconds() / wall, max(0, (machineBusy()-l.all-used).Seconds()/wall)
}

func requestNames(runs []*changeRun) []string {
	names := map[string]bool{}
	for _, r := range runs {
		for name := range r.requests {
			if verb, resource, _ := strings.Cut(name, " "); isWrite(verb, resource) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
