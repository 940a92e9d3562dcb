package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// gremlins runs the mutation tester on packages of the module in root.
type gremlins struct {
	root      string
	dir       string // scratch, removed in the end
	goCommand string // path of the real go command
	workers   int
}

// figures are what became of a package's mutants.
type figures struct {
	killed    int
	unbuilt   int // they don't compile, and count for nothing
	byTime    int // of the killed: those whose tests ran until their time limit
	survivors []mutant
}

func (f figures) total() int { return f.killed + len(f.survivors) }

// efficacy returns the killed in per cent of all mutants, and 100 where there are none.
func (f figures) efficacy() float64 {
	if f.total() == 0 {
		return 100
	}
	return 100 * float64(f.killed) / float64(f.total())
}

func (g gremlins) bin() string     { return filepath.Join(g.dir, "bin") }
func (g gremlins) program() string { return filepath.Join(g.dir, "gremlins") }

// mutate runs gremlins on one package and reads its report.
func (g gremlins) mutate(ctx context.Context, t target) (figures, error) {
	var f figures
	report := filepath.Join(g.dir, "report.json")
	timeouts := filepath.Join(g.dir, "timeouts")
	for _, file := range []string{report, timeouts} {
		if err := os.RemoveAll(file); err != nil {
			return f, err
		}
	}
	// Gremlins' own limit of time is set so high that only the tests' own one (target.limit) ends a mutant that runs for ever: gremlins
	// derives its limit from one run, which may have compiled nothing, and doesn't count what it ended.
	args := []string{
		"unleash", "./" + t.path, "--output", report, "--workers", strconv.Itoa(g.workers), "--timeout-coefficient", "1000000",
		"--threshold-efficacy", "0",
	}
	excluded, err := g.excluded(t)
	if err != nil {
		return f, err
	}
	for _, pattern := range excluded {
		args = append(args, "--exclude-files", pattern)
	}
	command := exec.CommandContext(ctx, g.program(), args...)
	command.Dir = g.root
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	command.Env = append(os.Environ(),
		"PATH="+g.bin()+string(os.PathListSeparator)+os.Getenv("PATH"),
		goCommandEnv+"="+g.goCommand,
		testFlagsEnv+"="+strings.Join(t.flags, " "),
		timeoutsEnv+"="+timeouts,
		packageEnv+"="+t.path,
		testTimeoutEnv+"="+t.limit.String(),
		slowTestsEnv+"="+t.slow,
	)
	if os.Getenv("BOARDWALK_RECORDINGS") == "" {
		// The mutants are tested in a copy of the module elsewhere, where ../shared isn't.
		command.Env = append(command.Env, "BOARDWALK_RECORDINGS="+filepath.Join(g.root, "..", "shared", "facts", "recorded"))
	}
	if output, err := command.CombinedOutput(); err != nil {
		return f, fmt.Errorf("gremlins: %w\n%s", err, output)
	}
	content, err := os.ReadFile(report)
	if err != nil {
		return f, fmt.Errorf("gremlins left no report: %w", err)
	}
	f, err = readReport(filepath.Join(g.root, t.path), t.path, content)
	if err != nil {
		return f, err
	}
	ended, err := os.ReadFile(timeouts)
	if err != nil && !os.IsNotExist(err) {
		return f, err
	}
	f.byTime = bytes.Count(ended, []byte("\n"))
	return f, nil
}

// excluded returns patterns of the package's files that aren't mutated.
func (g gremlins) excluded(t target) ([]string, error) {
	if len(t.files) == 0 {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(g.root, t.path, "*.go"))
	if err != nil {
		return nil, err
	}
	var patterns []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".go")
		if !slices.Contains(t.files, name) && !strings.HasSuffix(name, "_test") {
			patterns = append(patterns, "^"+regexp.QuoteMeta(name)+`\.go$`)
		}
	}
	return patterns, nil
}

// report is what gremlins says of a run.
type report struct {
	Files []struct {
		Name      string `json:"file_name"`
		Mutations []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
			Line   int    `json:"line"`
			Column int    `json:"column"`
		} `json:"mutations"`
	} `json:"files"`
}

// readReport counts the mutants of a report and looks the survivors up in the package's sources, which lie in dir.
func readReport(dir, pkg string, content []byte) (figures, error) {
	var r report
	if err := json.Unmarshal(content, &r); err != nil {
		return figures{}, fmt.Errorf("read gremlins' report: %w", err)
	}
	var f figures
	for _, file := range r.Files {
		source, err := readSource(filepath.Join(dir, filepath.Base(file.Name)))
		if err != nil {
			return figures{}, err
		}
		for _, m := range file.Mutations {
			switch m.Status {
			case "KILLED":
				f.killed++
			case "LIVED":
				survivor, err := source.mutant(m.Type, m.Line, m.Column)
				if err != nil {
					return figures{}, err
				}
				survivor.pkg = pkg
				f.survivors = append(f.survivors, survivor)
			case "NOT VIABLE":
				f.unbuilt++
			default:
				return figures{}, fmt.Errorf("%s:%d: gremlins gives the status %q", file.Name, m.Line, m.Status)
			}
		}
	}
	return f, nil
}

// Variables by which mutate tells the program that stands in for the go command what to do.
const (
	goCommandEnv = "BOARDWALK_MUTATE_GO"       // path of the real go command
	testFlagsEnv = "BOARDWALK_MUTATE_FLAGS"    // flags for the test binary, separated by spaces
	timeoutsEnv  = "BOARDWALK_MUTATE_TIMEOUTS" // file that gains a line for each run which its time limit ended
	packageEnv   = "BOARDWALK_MUTATE_PACKAGE"  // path of the mutated package in the module

	testTimeoutEnv = "BOARDWALK_MUTATE_TIMEOUT" // how long a package's tests may run, as Go writes durations
	slowTestsEnv   = "BOARDWALK_MUTATE_SLOW"    // tests that run after the others, as target.slow has them; may be empty
)

// module is the path of the module that is mutated.
const module = "github.com/boardwalkhq/boardwalk"

// testMemory in bytes ends a mutant that allocates for ever, before it takes the machine's memory.
const testMemory = 6 << 30

// runGo runs the go command for gremlins and returns its exit status. It adds to "go test" what gremlins has no flag for: the flags of
// property tests, a limit of time and memory, status 2 for a mutant that doesn't compile, for which go test has no status of its own, and
// a coverage profile that has every line (coverAll).
func runGo(args []string) int {
	isTest := len(args) > 0 && args[0] == "test"
	if isTest {
		args = append(slices.Clone(args), "-vet=off", "-timeout="+os.Getenv(testTimeoutEnv))
		args = append(args, strings.Fields(os.Getenv(testFlagsEnv))...)
		limit := &syscall.Rlimit{Cur: testMemory, Max: testMemory}
		if err := syscall.Setrlimit(syscall.RLIMIT_DATA, limit); err != nil {
			fmt.Fprintln(os.Stderr, "mutate: limit the memory:", err)
		}
	}
	goCommand := os.Getenv(goCommandEnv)
	if err := os.Unsetenv(goCommandEnv); err != nil || goCommand == "" {
		// Without this a path that leads here again would start processes without end.
		fmt.Fprintf(os.Stderr, "mutate: %s doesn't name the real go command\n", goCommandEnv)
		return 1
	}
	var output bytes.Buffer
	run := func(more ...string) error {
		command := exec.CommandContext(context.Background(), goCommand, slices.Concat(args, more)...)
		command.Stdout, command.Stderr = &output, &output
		return command.Run()
	}
	profile := slices.Index(args, "-coverprofile") + 1
	var err error
	if slow := os.Getenv(slowTestsEnv); isTest && profile == 0 && slow != "" {
		if err = run("-skip=^(" + slow + ")$"); err == nil {
			err = run("-run=^(" + slow + ")$")
		}
	} else {
		err = run()
	}
	_, _ = os.Stdout.Write(output.Bytes())
	switch {
	case err == nil && isTest && profile > 0:
		if err := coverAll(args[profile], os.Getenv(packageEnv)); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			return 1
		}
		return 0
	case err == nil:
		return 0
	case isTest && bytes.Contains(output.Bytes(), []byte("[build failed]")):
		return 2
	case isTest && bytes.Contains(output.Bytes(), []byte("panic: test timed out")):
		if err := note(os.Getenv(timeoutsEnv)); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
		}
	}
	return 1
}

// coverAll writes a coverage profile in which a test reaches every line of the package. Gremlins tests only mutants on lines that a
// profile has, and Go's profiles have neither constants nor the conditions of a switch's cases.
func coverAll(profile, pkg string) error {
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return err
	}
	var lines strings.Builder
	lines.WriteString("mode: set\n")
	for _, file := range files {
		lines.WriteString(module + "/" + filepath.ToSlash(file) + ":1.1,1000000.1 1 1\n")
	}
	return os.WriteFile(profile, []byte(lines.String()), 0o600)
}

// note adds a line to a file.
func note(path string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString("ended by time\n")
	return errors.Join(err, file.Close())
}
