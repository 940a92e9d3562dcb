package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// plantedDir has the patches, from the repository's root.
const plantedDir = "hack/simulate/planted"

// longestTrial is how long one run of one plan may take.
const longestTrial = 10 * time.Minute

// planted is a defect that was mended, as a patch of today's code that brings it back. The patch begins with lines like
//
//	# Row 8: one empty answer is believed.
//	# seeds: 3,17
//	# plan: 08-empty.json
//
// where the seeds are those that are run first, and the plan is one that somebody wrote to show the defect, in the same folder. Both may
// be left out.
type planted struct {
	row   uint64
	file  string
	title string
	seeds []uint64
	plans []string
}

// trial is one run of one plan: a seed's, or a written one.
type trial struct {
	seed uint64
	plan string // file
}

func (t trial) String() string {
	if t.plan != "" {
		return "plan " + filepath.Base(t.plan)
	}
	return fmt.Sprintf("seed %d", t.seed)
}

// found is what became of a planted defect.
type found struct {
	planted

	runs   int
	by     trial
	oracle string
	took   time.Duration // of all runs with the defect
	err    error
}

var (
	errNotFound   = errors.New("not found")
	errNotApplied = errors.New("the patch does not apply")
)

// findPlanted applies one patch after the other to a copy of the repository and runs seeds there until one fails. It is an error where a
// patch doesn't apply any more, or no seed fails, or those that do fail without the patch as well.
func findPlanted(ctx context.Context, s settings) error {
	patches, err := readPlanted(s.rows)
	if err != nil {
		return err
	}
	dir := s.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "boardwalk-planted-"); err != nil {
			return err
		}
	}
	f := &finder{settings: s, dir: dir, held: map[trial]bool{}}
	if err := f.build(ctx, "today", nil); err != nil {
		return err
	}
	results := make([]found, len(patches))
	next := make(chan int)
	var workers sync.WaitGroup
	for range s.parallel {
		workers.Go(func() {
			for i := range next {
				results[i] = f.find(ctx, patches[i])
				fmt.Println(results[i].says())
			}
		})
	}
	for i := range patches {
		next <- i
	}
	close(next)
	workers.Wait()
	return report(results, dir)
}

func readPlanted(rows string) (patches []planted, err error) {
	wanted, err := parseSeeds(rows)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(plantedDir, "*.patch"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("there are no patches in %s: run this in the repository's root", plantedDir))
	}
	for _, file := range files {
		p, err := readPatch(file)
		if err != nil {
			return nil, err
		}
		if len(wanted) == 0 || slices.Contains(wanted, p.row) {
			patches = append(patches, p)
		}
	}
	return patches, nil
}

func readPatch(file string) (p planted, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return p, err
	}
	number, _, _ := strings.Cut(filepath.Base(file), "-")
	p.file = file
	if p.row, err = strconv.ParseUint(number, 10, 8); err != nil {
		return p, fmt.Errorf("%s: its name begins with no row", file)
	}
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		comment, isComment := strings.CutPrefix(lines.Text(), "# ")
		if !isComment {
			break
		}
		switch what, value, _ := strings.Cut(comment, ": "); what {
		case "seeds":
			if p.seeds, err = parseSeeds(value); err != nil {
				return p, fmt.Errorf("%s: %w", file, err)
			}
		case "plan":
			p.plans = append(p.plans, filepath.Join(plantedDir, value))
		default:
			p.title = strings.TrimSuffix(value, ".")
		}
	}
	return p, nil
}

// finder looks for planted defects.
type finder struct {
	settings

	dir string

	mu sync.Mutex
	// held are the trials that were run on today's code, and whether they held.
	held map[trial]bool
}

// trials are those that a patch names, and then other seeds.
func (f *finder) trials(p *planted) (list []trial) {
	for _, seed := range p.seeds {
		list = append(list, trial{seed: seed})
	}
	for _, plan := range p.plans {
		list = append(list, trial{plan: plan})
	}
	for seed := uint64(1); len(list) < f.bound; seed++ {
		if !slices.Contains(p.seeds, seed) {
			list = append(list, trial{seed: seed})
		}
	}
	return list
}

func (f *finder) find(ctx context.Context, p planted) (out found) {
	out.planted = p
	name := strings.TrimSuffix(filepath.Base(p.file), ".patch")
	if out.err = f.build(ctx, name, &p); out.err != nil {
		return out
	}
	for _, t := range f.trials(&p) {
		failures, took, err := f.try(ctx, name, t)
		out.runs, out.took = out.runs+1, out.took+took
		if err != nil {
			out.err = err
			return out
		}
		if len(failures) == 0 {
			continue
		}
		holds, err := f.holds(ctx, t)
		if err != nil {
			out.err = err
			return out
		}
		if !holds {
			fmt.Printf("row %d: %s fails without the patch as well, and says nothing\n", p.row, t)
			continue
		}
		out.by, out.oracle = t, oracleOf(failures)
		return out
	}
	out.err = fmt.Errorf("%w in %d runs", errNotFound, out.runs)
	return out
}

// holds reports whether a trial holds on today's code.
func (f *finder) holds(ctx context.Context, t trial) (bool, error) {
	f.mu.Lock()
	holds, known := f.held[t]
	f.mu.Unlock()
	if known {
		return holds, nil
	}
	failures, _, err := f.try(ctx, "today", t)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held[t] = len(failures) == 0
	return f.held[t], nil
}

// build copies the repository, applies a patch to the copy if there is one, and builds the simulation there.
func (f *finder) build(ctx context.Context, name string, p *planted) error {
	source := filepath.Join(f.dir, name, "source")
	if err := copyRepository(ctx, source); err != nil {
		return fmt.Errorf("copy the repository: %w", err)
	}
	if p != nil {
		patch, err := filepath.Abs(p.file)
		if err != nil {
			return err
		}
		if out, err := command(ctx, source, "git", "apply", patch); err != nil {
			return fmt.Errorf("%w: %s: %s", errNotApplied, p.file, out)
		}
	}
	// Trimmed paths let all copies share what they have in common.
	if out, err := command(ctx, source, "go", "build", "-trimpath", "-o", "../simulate", "./hack/simulate"); err != nil {
		return fmt.Errorf("build %s: %w: %s", name, err, out)
	}
	return os.RemoveAll(source)
}

func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // the copy is in no repository
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// copyRepository copies what git knows of the working tree, and what it doesn't ignore.
func copyRepository(ctx context.Context, to string) error {
	raw, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return err
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(raw), "\x00"), "\x00") {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed
		}
		target := filepath.Join(to, file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(target), 0o700)
		}
		if err == nil {
			err = os.WriteFile(target, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// try runs a plan with one of the builds, and says what failed.
func (f *finder) try(ctx context.Context, name string, t trial) (failures []string, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestTrial)
	defer cancel()
	dir := filepath.Join(f.dir, name)
	left, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return nil, 0, err
	}
	outcomes := filepath.Join(left, "outcome.json")
	args := []string{"--parallel", "1", "--dir", left, "--report", outcomes, "--seeds", strconv.FormatUint(t.seed, 10)}
	if t.plan != "" {
		plan, err := filepath.Abs(t.plan)
		if err != nil {
			return nil, 0, err
		}
		args = append(args, "--plan-file", plan)
	}
	began := time.Now()
	text, _ := command(ctx, dir, filepath.Join(dir, "simulate"), args...) // its error is that the plan failed
	took = time.Since(began)
	raw, err := os.ReadFile(outcomes)
	var o outcome
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err == nil && o.Broken != "" {
		err = errors.New(o.Broken)
	}
	if err != nil {
		return nil, took, fmt.Errorf("%s, %s: %w: %.2000s", name, t, err, text)
	}
	if len(o.Failures) == 0 {
		_ = os.RemoveAll(left)
	}
	return o.Failures, took, nil
}

// oracles say by a part of a failure's text which check found it.
var oracles = []struct{ text, oracle string }{
	{"rows that a fresh index hasn't", "rows of a fresh index"},
	{"the index ended at", "rows of a fresh index"},
	{"was not reached within", "head after the faults"},
	{"a chain that goes on", "head of a chain that goes on"},
	{"the lease was taken", "takings of the lease"},
	{"panicked", "no panic"},
	{"a statement of", "rows of one statement"},
	{"between two looks", "memory allocated"},
	{"MiB", "memory used"},
	{"/livez", "liveness"},
	{"heartbeat says", "age of answers"},
	{"have no supply", "supplies of tokens with a price"},
	{"fact", "facts of a fresh index"},
	{"payments", "payments of the chain's blocks"},
	{"a trade in block", "payments of the chain's blocks"},
	{"answers", "answers of the API"},
}

func oracleOf(failures []string) string {
	var names []string
	for _, failure := range failures {
		name := failure
		for _, o := range oracles {
			if strings.Contains(failure, o.text) {
				name = o.oracle
				break
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (f *found) says() string {
	if f.err != nil {
		return fmt.Sprintf("row %d: %s: %v", f.row, f.title, f.err)
	}
	return fmt.Sprintf("row %d: %s: found by %s after %s: %s", f.row, f.title, f.by, f.took.Round(time.Second), f.oracle)
}

// report prints the table.
func report(results []found, dir string) error {
	fmt.Println()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "row\tdefect\truns\tfound by\tafter\toracle")
	var errs []error
	for _, f := range results {
		by := f.by.String()
		if f.err != nil {
			by = "-"
			errs = append(errs, fmt.Errorf("row %d: %w", f.row, f.err))
		}
		_, _ = fmt.Fprintf(out, "%d\t%s\t%d\t%s\t%s\t%s\n", f.row, f.title, f.runs, by, f.took.Round(time.Second), f.oracle)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d planted defects were not found (what the runs left is in %s):\n%w", len(errs), len(results), dir,
			errors.Join(errs...))
	}
	return os.RemoveAll(dir)
}

// readPlan reads a plan that somebody wrote.
func readPlan(file string) (*Plan, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	p := &Plan{}
	if err := in.Decode(p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, n := range p.Nodes {
		for _, f := range n.Faults {
			if _, ok := faultsOfFamily(p.Family)[f.Fault]; !ok {
				return nil, fmt.Errorf("%s: there is no fault %q", file, f.Fault)
			}
		}
	}
	if p.Stream != nil {
		for _, f := range p.Stream.Lies {
			if _, ok := streamLies[f.Fault]; !ok {
				return nil, fmt.Errorf("%s: no stream has the fault %q", file, f.Fault)
			}
		}
	}
	for _, e := range p.Events {
		if _, ok := table[e.Do]; !ok {
			return nil, fmt.Errorf("%s: there is no event %q", file, e.Do)
		}
	}
	if p.Seed == 0 || len(p.Nodes) == 0 || p.Blocks == 0 {
		return nil, fmt.Errorf("%s: a plan needs a seed, nodes and blocks", file)
	}
	return p, nil
}
