package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// table is a Markdown table.
type table struct {
	header []string
	rows   [][]string
}

// newTable takes the columns' names; one that begins with ">" is of numbers, which stand at the right.
func newTable(columns ...string) *table { return &table{header: columns} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write ends with an empty line.
func (t *table) write(w io.Writer) error {
	names, rules := make([]string, len(t.header)), make([]string, len(t.header))
	for i, column := range t.header {
		name, right := strings.CutPrefix(column, ">")
		names[i], rules[i] = name, map[bool]string{true: "---:", false: "---"}[right]
	}
	var b strings.Builder
	for _, row := range slices.Concat([][]string{names, rules}, t.rows) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// writeTables writes several, one after the other.
func writeTables(w io.Writer, list ...*table) error {
	for _, t := range list {
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

// column is a figure of runs: the median over them, or with each set the figure of every run.
type column[T any] struct {
	name, format string
	of           func(*T) float64
	each         bool
}

// columns begins a table whose rows have labels and then figures; what follows those is last.
func columns[T any](labels []string, figures []column[T], last ...string) *table {
	names := slices.Clone(labels)
	for _, c := range figures {
		if c.each {
			names = append(names, c.name)
		} else {
			names = append(names, ">"+c.name)
		}
	}
	return newTable(append(names, last...)...)
}

// figures are the cells of a row of such a table.
func figures[T any](labels []string, runs []T, list []column[T], last ...string) []string {
	row := slices.Clone(labels)
	for _, c := range list {
		all := values(runs, c.of)
		if c.each {
			row = append(row, each(all, c.format))
		} else {
			row = append(row, fmt.Sprintf(c.format, middle(all)))
		}
	}
	return append(row, last...)
}

// eachRound is a table with a row for every figure: its median and what it was in each round.
func eachRound[T any](runs []T, list []column[T]) *table {
	t := newTable("", ">median", "each round", "")
	for _, c := range list {
		all := values(runs, c.of)
		t.add(c.name, fmt.Sprintf(c.format, middle(all)), each(all, c.format), "")
	}
	return t
}

// values is a figure of every run.
func values[T any](runs []T, of func(*T) float64) []float64 {
	out := make([]float64, len(runs))
	for i := range runs {
		out[i] = of(&runs[i])
	}
	return out
}

// ratios are those within a round. Nothing over nothing is 1.
func ratios(over, under []float64) []float64 {
	out := make([]float64, min(len(over), len(under)))
	for i := range out {
		if out[i] = 1; over[i] != under[i] {
			out[i] = over[i] / under[i]
		}
	}
	return out
}

// heading says what was run, on what, so that a result can be judged and had again.
func heading(w io.Writer, about string) error {
	_, err := fmt.Fprintf(w, "`%s`, commit %s; %s/%s, %d CPUs, %s\n\n%s\n\n", strings.Join(append([]string{program}, os.Args[1:]...), " "),
		commitName(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), about)
	return err
}

// commitName is the checkout's commit, and whether files differ from it.
func commitName() string {
	out, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output() //nolint:noctx // it takes milliseconds
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	if changed, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(changed) > 0 { //nolint:noctx // the same
		name += " with changes"
	}
	return name
}

// quantile is the smallest of the sorted values that at least the share q of them does not exceed; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(float64(len(sorted))*q+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// middle is the median: of an even number of values the mean of the two in the middle, of none 0.
func middle(list []float64) float64 {
	n := len(list)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// each is the numbers of all rounds, for the reader who wants to see how far they lie apart.
func each(list []float64, format string) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(out, ", ")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// verdict is "met" or says that a figure missed what is wanted.
func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}
