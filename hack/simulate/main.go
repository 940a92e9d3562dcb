// Command simulate runs the whole system against a world of faults that is drawn from a seed: nodes that lie, omit and stall, reorgs,
// floods and hostile contracts, a database that goes back or away, processes that are killed and stopped, clocks that are wrong. Once the
// faults stop, the head has to be reached, and the rows have to be those of a fresh index.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store/storetest/dbserver"
)

const usage = `simulate runs indexers, API and database against faults that follow from a seed, and checks three things: whatever happens, the
API answers nothing of 5xx but 503, nothing without "stale" that is older than it says, and no process outgrows its memory; once the
faults stop, the head is reached; and then every derived row is that of a fresh index of the same chain.

  simulate --for 10m             fresh seeds for ten minutes
  simulate --seeds 1,7,4-9       these seeds
  simulate --seeds 7 --times 5   one seed five times: how often does it fail?
  simulate --family solana       a chain of Solana's family in place of an EVM one
  simulate --plan 7              print what a seed has happen
  simulate --plan-file p.json    run a plan that somebody wrote
  simulate planted               find the defects that hack/simulate/planted has as patches

A seed that fails leaves its plan, its trace, the processes' logs and the database in --dir. It needs PostgreSQL, Node.js and npm, as
make setup installs them.

Flags:
`

type settings struct {
	seeds    string
	family   string
	duration time.Duration
	times    int
	parallel int
	dir      string
	plan     uint64
	planFile string
	rows     string
	bound    int
	keep     bool
	report   string
}

func main() {
	if raw := os.Getenv(childEnv); raw != "" {
		os.Exit(told(runChild(raw)))
	}
	os.Exit(told(start(os.Args[1:])))
}

// told prints an error, and gives the program's exit code.
func told(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "simulate:", err)
	return 1
}

func start(args []string) error {
	var s settings
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	flags.StringVar(&s.seeds, "seeds", "", "seeds to run, as in 1,7,4-9; empty draws fresh ones")
	flags.StringVar(&s.family, "family", familyEVM, "the chain's family: solana, or nothing for EVM")
	flags.DurationVar(&s.duration, "for", 10*time.Minute, "how long fresh seeds are drawn")
	flags.IntVar(&s.times, "times", 1, "how often each seed is run")
	flags.IntVar(&s.parallel, "parallel", 3, "seeds that run at the same time; each mostly waits")
	flags.StringVar(&s.dir, "dir", "", "folder for what failing seeds leave behind (default a temporary one)")
	flags.Uint64Var(&s.plan, "plan", 0, "print the plan of this seed and run nothing")
	flags.StringVar(&s.planFile, "plan-file", "", "run the plan in this file, as --plan prints one, and no seed")
	flags.StringVar(&s.rows, "rows", "", "with planted: these rows alone, as in 1,7-9")
	flags.IntVar(&s.bound, "bound", 12, "with planted: the most seeds that are run to find a defect")
	flags.BoolVar(&s.keep, "keep", false, "keep the folders of seeds that hold, too")
	flags.StringVar(&s.report, "report", "", "file for the outcomes, a JSON line each")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	planted := len(args) > 0 && args[0] == "planted"
	if planted {
		args = args[1:]
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if s.family != familyEVM && s.family != familySolana {
		return fmt.Errorf("--family is %q; allowed: solana, or leave it out for an EVM chain", s.family)
	}
	if flags.NArg() > 0 || s.times < 1 || s.parallel < 1 {
		return errors.New("see simulate --help")
	}
	if s.plan > 0 {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(draw(s.plan, s.family))
	}
	seeds, err := parseSeeds(s.seeds)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if planted {
		return findPlanted(ctx, s)
	}
	return simulate(ctx, s, seeds)
}

// parseSeeds reads "1,7,4-9".
func parseSeeds(text string) (seeds []uint64, err error) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err := strconv.ParseUint(first, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no seed: seeds are numbers from 1 on", part)
		}
		b, err := strconv.ParseUint(last, 10, 64)
		if err != nil || b < a {
			return nil, fmt.Errorf("%q is no range of seeds", part)
		}
		for seed := a; seed <= b; seed++ {
			seeds = append(seeds, seed)
		}
	}
	return seeds, nil
}

// simulate runs seeds, several at a time, and says how each went.
func simulate(ctx context.Context, s settings, seeds []uint64) error {
	dir := s.dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "boardwalk-simulate-"); err != nil {
			return err
		}
	}
	server := sync.OnceValues(dbserver.New)
	c := &campaign{settings: s, dir: dir, server: server, began: time.Now(), faults: map[string]int64{}, seedsOf: map[string]int64{}}
	defer func() {
		if pg, err := server(); err == nil {
			pg.Stop()
		}
	}()
	if s.planFile != "" {
		var err error
		if c.written, err = readPlan(s.planFile); err != nil {
			return err
		}
		seeds = []uint64{c.written.Seed}
	}
	next := c.seeds(seeds)
	var workers sync.WaitGroup
	for range s.parallel {
		workers.Go(func() {
			for ctx.Err() == nil {
				seed, number, ok := next()
				if !ok {
					return
				}
				c.run(ctx, seed, number)
			}
		})
	}
	workers.Wait()
	return c.conclude(ctx)
}

// campaign is a number of runs.
type campaign struct {
	settings

	written *Plan // is run in place of drawn ones, where there is one

	dir    string
	server func() (*dbserver.Server, error)
	began  time.Time

	mu       sync.Mutex
	done     int
	total    int // 0 while nobody knows
	failed   []uint64
	broken   []error // runs that say nothing
	faults   map[string]int64
	seedsOf  map[string]int64 // in how many seeds a fault was met
	heads    []time.Duration
	memory   int64
	answered int64
}

// seeds gives one seed after the other.
func (c *campaign) seeds(list []uint64) func() (seed uint64, number int, ok bool) {
	given := 0
	first := uint64(time.Now().Unix())
	c.total = len(list) * c.times
	return func() (uint64, int, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		given++
		if len(list) == 0 {
			return first + uint64(given), given, time.Since(c.began) < c.duration
		}
		if given > c.total {
			return 0, 0, false
		}
		return list[(given-1)%len(list)], given, true
	}
}

func (c *campaign) run(ctx context.Context, seed uint64, number int) {
	p := cmp.Or(c.written, draw(seed, c.family))
	dir := filepath.Join(c.dir, fmt.Sprintf("%d-%d", seed, number))
	out, err := play(ctx, p, dir, c.server)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	verdict := fmt.Sprintf("holds; head after %s", out.Head.Round(time.Millisecond))
	switch {
	case err != nil:
		c.broken = append(c.broken, fmt.Errorf("seed %d: %w", seed, err))
		out.Broken = err.Error()
		verdict = "says nothing: " + err.Error()
	case len(out.Failures) > 0:
		c.failed = append(c.failed, seed)
		verdict = "FAILS (see " + dir + ")\n  " + strings.Join(out.Failures, "\n  ")
	default:
		c.heads = append(c.heads, out.Head)
	}
	for name, n := range out.Faults {
		c.faults[name] += n
		c.seedsOf[name]++
	}
	c.memory, c.answered = max(c.memory, out.Memory), c.answered+out.Answers
	if err == nil && len(out.Failures) == 0 && !c.keep {
		_ = os.RemoveAll(dir)
	} else if raw, err := json.MarshalIndent(p, "", "  "); err == nil {
		_ = os.WriteFile(filepath.Join(dir, "plan.json"), raw, 0o600)
	}
	c.progress(p, verdict)
	if c.report != "" {
		c.record(out)
	}
}

// progress prints a line for each run.
func (c *campaign) progress(p *Plan, verdict string) {
	elapsed := time.Since(c.began)
	of := fmt.Sprintf("%d%% of %s", min(100, 100*elapsed/max(c.duration, 1)), c.duration)
	if c.total > 0 {
		left := time.Duration(float64(elapsed) / float64(c.done) * float64(c.total-c.done))
		of = fmt.Sprintf("%d of %d, %s to go", c.done, c.total, left.Round(time.Second))
	}
	fmt.Printf("[%s, %.0f seeds an hour] %s: %s\n", of, float64(c.done)/elapsed.Hours(), p.says(), verdict)
}

func (c *campaign) record(o *outcome) {
	raw, err := json.Marshal(o)
	if err != nil {
		return
	}
	f, err := os.OpenFile(c.report, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(raw, '\n'))
	_ = f.Close()
}

// conclude prints how often each fault was met, and fails when a seed did.
func (c *campaign) conclude(ctx context.Context) error {
	names := make([]string, 0, len(c.faults))
	for name := range c.faults {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Printf("\n%-26s %8s %8s\n", "fault", "times", "seeds")
	for _, name := range names {
		fmt.Printf("%-26s %8d %8d\n", name, c.faults[name], c.seedsOf[name])
	}
	for _, name := range append(slices.Sorted(maps.Keys(faultsOfFamily(c.family))), streamFaultsOf(c.family)...) {
		if c.faults[name] == 0 {
			fmt.Printf("%-26s never met\n", name)
		}
	}
	slices.Sort(c.heads)
	if n := len(c.heads); n > 0 {
		fmt.Printf("\n%d runs hold; head after the last fault: median %s, longest %s; peak memory of a process %d MiB; %d answers of the API\n", n,
			c.heads[n/2].Round(time.Millisecond), c.heads[n-1].Round(time.Millisecond), c.memory>>20, c.answered)
	}
	if ctx.Err() != nil {
		fmt.Println("interrupted")
	}
	var failed error
	if n := len(c.failed); n > 0 {
		failed = fmt.Errorf("%d runs fail (seeds %v); what they left is in %s", n, c.failed, c.dir)
	}
	return errors.Join(append(c.broken, failed)...)
}
