package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rule is a package with one survivor of each kind in TestReadReport.
const rule = `package rule

type Rule struct{ least int }

func (r *Rule) Passes(x int) bool {
	return x >= r.least && x-1 < 10 // at least
}
`

func TestReadReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rule.go"), []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := readReport(dir, "internal/rule", []byte(`{"files": [{"file_name": "rule.go", "mutations": [
		{"type": "CONDITIONALS_BOUNDARY", "status": "LIVED", "line": 6, "column": 11},
		{"type": "CONDITIONALS_NEGATION", "status": "KILLED", "line": 6, "column": 11},
		{"type": "ARITHMETIC_BASE", "status": "NOT VIABLE", "line": 6, "column": 26},
		{"type": "CONDITIONALS_NEGATION", "status": "LIVED", "line": 6, "column": 29}
	]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.killed != 1 || f.unbuilt != 1 || f.total() != 3 {
		t.Errorf("%d of %d killed, want 1 of 3: a mutant that doesn't compile doesn't count", f.killed, f.total())
	}
	want := []mutant{
		{
			pkg: "internal/rule", file: "rule.go", line: 6, function: "Rule.Passes", mutation: "CONDITIONALS_BOUNDARY",
			text:    "return x >= r.least && x-1 < 10 // at least",
			becomes: "return x > r.least && x-1 < 10 // at least",
		},
		{
			pkg: "internal/rule", file: "rule.go", line: 6, function: "Rule.Passes", mutation: "CONDITIONALS_NEGATION",
			text:    "return x >= r.least && x-1 < 10 // at least",
			becomes: "return x >= r.least && x-1 >= 10 // at least",
		},
	}
	if len(f.survivors) != len(want) {
		t.Fatalf("%d survivors, want %d", len(f.survivors), len(want))
	}
	for i := range want {
		if f.survivors[i] != want[i] {
			t.Errorf("survivor %d:\n%+v\nwant\n%+v", i, f.survivors[i], want[i])
		}
	}

	for _, status := range []string{"NOT COVERED", "TIMED OUT", "SKIPPED", ""} {
		_, err := readReport(dir, "internal/rule", []byte(`{"files": [{"file_name": "rule.go", "mutations": [
			{"type": "CONDITIONALS_BOUNDARY", "status": "`+status+`", "line": 6, "column": 11}]}]}`))
		if err == nil {
			t.Errorf("a mutant of status %q was counted: want an error", status)
		}
	}
}

func TestComplain(t *testing.T) {
	t.Parallel()
	lived := mutant{
		pkg: "internal/rule", file: "rule.go", line: 6, function: "Rule.Passes", mutation: "CONDITIONALS_BOUNDARY",
		text: "return x >= r.least", becomes: "return x > r.least",
	}
	named := equivalent{
		Package: "internal/rule", Function: "Rule.Passes", Mutation: "CONDITIONALS_BOUNDARY",
		Line: "return x >= r.least", Becomes: "return x > r.least", Reason: "x is odd, least is even",
	}
	for _, c := range []struct {
		name    string
		figures figures
		list    []equivalent
		want    []string
	}{
		{"all killed", figures{killed: 3}, nil, nil},
		{"no mutants", figures{}, nil, nil},
		{"a survivor without a name", figures{killed: 99, survivors: []mutant{lived}}, nil, []string{"internal/rule/rule.go:6"}},
		{"a named survivor", figures{killed: 99, survivors: []mutant{lived}}, []equivalent{named}, nil},
		{"exactly 95 %", figures{killed: 19, survivors: []mutant{lived}}, []equivalent{named}, nil},
		{"below 95 %", figures{killed: 18, survivors: []mutant{lived}}, []equivalent{named}, []string{"94.7 %"}},
		{"a named mutant was killed", figures{killed: 3}, []equivalent{named}, []string{"was killed or isn't there"}},
		{"another package's name", figures{killed: 3}, []equivalent{{Package: "internal/other"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := complain("internal/rule", c.figures, c.list, 95)
			if len(got) != len(c.want) {
				t.Fatalf("complaints %q, want %d", got, len(c.want))
			}
			for i := range got {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("complaint %q, want %q in it", got[i], c.want[i])
				}
			}
		})
	}
}

// TestEquivalentsStandInTheSources finds each named mutant's line in the function, and the operator that it changes.
func TestEquivalentsStandInTheSources(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	list, err := readEquivalents(filepath.Join(root, listFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if _, err := choose([]string{e.Package}); err != nil {
			t.Error(err)
		}
		files, err := filepath.Glob(filepath.Join(root, e.Package, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, file := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".go"))
		}
		if !e.standsIn(root, target{path: e.Package, files: names}) {
			t.Errorf("%s, %s: no line %q that %s makes %q", e.Package, e.Function, e.Line, e.Mutation, e.Becomes)
		}
	}
}

func TestCoverAll(t *testing.T) {
	t.Parallel()
	profile := filepath.Join(t.TempDir(), "coverage")
	if err := coverAll(profile, "."); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	if want := "mode: set\n" + module + "/gremlins.go:1.1,1000000.1 1 1\n"; !strings.HasPrefix(string(content), want) {
		t.Errorf("the profile is\n%swant it to begin\n%s", content, want)
	}
}

// TestTargetsExist holds the list of packages and of the decoders' files against the tree.
func TestTargetsExist(t *testing.T) {
	t.Parallel()
	for _, target := range targets() {
		dir := filepath.Join("..", "..", target.path)
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
		for _, file := range target.files {
			if _, err := os.Stat(filepath.Join(dir, file+".go")); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := choose([]string{"internal/price/", "./indexer/evm/decode"}); err != nil {
		t.Error(err)
	}
	if _, err := choose([]string{"internal/store"}); err == nil {
		t.Error("internal/store was chosen, which isn't mutated")
	}
}
