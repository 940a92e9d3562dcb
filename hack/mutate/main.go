// Command mutate tests the tests of the pure rules. It runs gremlins, a mutation tester, over one package after another: gremlins changes
// one operator of the source (a mutant), runs the package's own tests, and says whether they failed (the mutant is killed) or passed (it
// survived). Mutate compares the survivors with equivalent.yaml, the list of mutants that no test can kill, and fails where less than the
// wanted share of a package's mutants is killed or a survivor isn't in the list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const usage = `mutate runs the mutation tester gremlins over the packages of pure rules and fails at a survivor that hack/mutate/equivalent.yaml
doesn't name.

  mutate                                       every package
  mutate internal/price indexer/evm/hash       these packages
  mutate -files uniswapv3 indexer/evm/decode   these files of a package

Flags:
`

// errSurvived is the error of a run that found too many survivors, or one without a name.
var errSurvived = errors.New("the tests let mutants live")

type settings struct {
	threshold float64 // per cent of mutants that have to be killed, in each package
	workers   int     // mutants tested at the same time
	packages  []string
	files     []string // without ".go"; none stands for those that the package's target has
}

func main() {
	if filepath.Base(os.Args[0]) == "go" {
		os.Exit(runGo(os.Args[1:])) // Gremlins starts this program in place of the go command.
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := start(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.Float64Var(&s.threshold, "threshold", 95, "per cent of each package's mutants that have to be killed")
	flags.IntVar(&s.workers, "workers", 1, "mutants tested at the same time")
	files := flags.String("files", "", "mutate these files alone, named without .go and separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.packages = flags.Args()
	if *files != "" {
		s.files = strings.Split(*files, ",")
	}
	return run(ctx, s, out)
}

// run mutates the packages of the module in the working directory, and writes a line about each and the survivors in the end.
func run(ctx context.Context, s settings, out io.Writer) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	chosen, err := choose(s.packages)
	if err != nil {
		return err
	}
	list, err := readEquivalents(filepath.Join(root, listFile))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	g, err := prepare(ctx, root, dir, s.workers)
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "%-20s %8s %7s %8s %9s %9s %8s %8s\n", "package", "mutants", "killed", "by time", "survivors", "efficacy", "unbuilt", "time")
	var complaints []string
	for _, p := range chosen {
		if s.files != nil {
			p.files = s.files
			// Mutants of other files aren't made in this run, so their entries are left out.
			list = slices.DeleteFunc(slices.Clone(list), func(e equivalent) bool { return !e.standsIn(root, p) })
		}
		began := time.Now()
		f, err := g.mutate(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		fmt.Fprintf(out, "%-20s %8d %7d %8d %9d %8.1f%% %8d %8s\n",
			p.path, f.total(), f.killed, f.byTime, len(f.survivors), f.efficacy(), f.unbuilt, time.Since(began).Round(time.Second))
		complaints = append(complaints, complain(p.path, f, list, s.threshold)...)
	}
	if len(complaints) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	for _, c := range complaints {
		fmt.Fprintln(out, c)
	}
	return errSurvived
}

// choose returns the packages of these paths, or all where none is given.
func choose(paths []string) ([]target, error) {
	if len(paths) == 0 {
		return targets(), nil
	}
	var chosen []target
	for _, path := range paths {
		i := slices.IndexFunc(targets(), func(t target) bool { return t.path == strings.TrimSuffix(filepath.ToSlash(filepath.Clean(path)), "/") })
		if i < 0 {
			return nil, fmt.Errorf("%q is no package that is mutated: %s", path, names())
		}
		chosen = append(chosen, targets()[i])
	}
	return chosen, nil
}

// complain returns what is wrong with a package's figures: too few killed, a survivor without a name, a named mutant that was killed.
func complain(path string, f figures, list []equivalent, threshold float64) []string {
	var complaints []string
	if f.efficacy() < threshold {
		complaints = append(complaints, fmt.Sprintf("%s: %.1f %% of the mutants were killed, wanted are %.0f %%", path, f.efficacy(), threshold))
	}
	named := map[int]bool{}
	for _, m := range f.survivors {
		i := slices.IndexFunc(list, func(e equivalent) bool { return e.names(m) })
		if i < 0 {
			complaints = append(complaints, fmt.Sprintf("%s:%d: %s survived in %s\n\t%s\n\t%s", filepath.Join(m.pkg, m.file), m.line,
				m.mutation, m.function, m.text, m.becomes))
			continue
		}
		named[i] = true
	}
	for i, e := range list {
		if e.Package == path && !named[i] {
			complaints = append(complaints, fmt.Sprintf("%s: %s names a mutant in %s that was killed or isn't there: %s", path, listFile, e.Function, e.Becomes))
		}
	}
	return complaints
}

// prepare builds gremlins into the directory and lays this program beside it as "go".
func prepare(ctx context.Context, root, dir string, workers int) (gremlins, error) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return gremlins{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return gremlins{}, err
	}
	g := gremlins{root: root, dir: dir, goCommand: goCommand, workers: workers}
	if err := os.Mkdir(g.bin(), 0o755); err != nil {
		return gremlins{}, err
	}
	if err := os.Symlink(self, filepath.Join(g.bin(), "go")); err != nil {
		return gremlins{}, err
	}
	build := exec.CommandContext(ctx, goCommand, "build", "-modfile=hack/mutate/gremlins/go.mod", "-o", g.program(),
		"github.com/go-gremlins/gremlins/cmd/gremlins")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return gremlins{}, fmt.Errorf("build gremlins: %w\n%s", err, output)
	}
	return g, nil
}
