package lab

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

// Table is a Markdown table.
type Table struct {
	header []string
	Rows   [][]string
}

// NewTable takes the columns' names; one that begins with ">" is of numbers, which stand at the right.
func NewTable(columns ...string) *Table { return &Table{header: columns} }

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write ends with an empty line.
func (t *Table) Write(w io.Writer) error {
	names, rules := make([]string, len(t.header)), make([]string, len(t.header))
	for i, column := range t.header {
		name, right := strings.CutPrefix(column, ">")
		names[i], rules[i] = name, map[bool]string{true: "---:", false: "---"}[right]
	}
	var b strings.Builder
	for _, row := range slices.Concat([][]string{names, rules}, t.Rows) {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}

// WriteTables writes several, one after the other.
func WriteTables(w io.Writer, list ...*Table) error {
	for _, t := range list {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// Column is a figure of runs: the median over them, or with each set the figure of every run.
type Column[T any] struct {
	Name, Format string
	Of           func(*T) float64
	Each         bool
}

// Columns begins a table whose rows have labels and then figures; what follows those is last.
func Columns[T any](labels []string, figures []Column[T], last ...string) *Table {
	names := slices.Clone(labels)
	for _, c := range figures {
		if c.Each {
			names = append(names, c.Name)
		} else {
			names = append(names, ">"+c.Name)
		}
	}
	return NewTable(append(names, last...)...)
}

// Figures are the cells of a row of such a table.
func Figures[T any](labels []string, runs []T, list []Column[T], last ...string) []string {
	row := slices.Clone(labels)
	for _, c := range list {
		all := Values(runs, c.Of)
		if c.Each {
			row = append(row, Each(all, c.Format))
		} else {
			row = append(row, fmt.Sprintf(c.Format, Middle(all)))
		}
	}
	return append(row, last...)
}

// EachRound is a table with a row for every figure: its median and what it was in each round.
func EachRound[T any](runs []T, list []Column[T]) *Table {
	t := NewTable("", ">median", "each round", "")
	for _, c := range list {
		all := Values(runs, c.Of)
		t.Add(c.Name, fmt.Sprintf(c.Format, Middle(all)), Each(all, c.Format), "")
	}
	return t
}

// Values lists one figure of every run.
func Values[T any](runs []T, of func(*T) float64) []float64 {
	out := make([]float64, len(runs))
	for i := range runs {
		out[i] = of(&runs[i])
	}
	return out
}

// Ratios divides the figures of each round: those of over by those of under. Two figures that are equal, zero included, give 1.
func Ratios(over, under []float64) []float64 {
	out := make([]float64, min(len(over), len(under)))
	for i := range out {
		if out[i] = 1; over[i] != under[i] {
			out[i] = over[i] / under[i]
		}
	}
	return out
}

// Heading writes which command was run, at which commit and on which machine, so that a reader can judge the result and repeat it.
func Heading(w io.Writer, about string) error {
	_, err := fmt.Fprintf(w, "`%s`, commit %s; %s/%s, %d CPUs, %s\n\n%s\n\n", strings.Join(append([]string{program}, os.Args[1:]...), " "),
		commitName(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), about)
	return err
}

// commitName is the checkout's commit, and whether files differ from it.
func commitName() string {
	out, err := exec.Command("git", "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty= with changes").Output() //nolint:noctx // it takes milliseconds
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// Quantile is the smallest of the sorted values that at least the share q of them does not exceed; 0 of none.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(float64(len(sorted))*q+0.999999) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// Middle is the median: of an even number of values the mean of the two in the middle, of none 0.
func Middle(list []float64) float64 {
	n := len(list)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Each is the numbers of all rounds, for the reader who wants to see how far they lie apart.
func Each(list []float64, format string) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(out, ", ")
}

// Milliseconds is a time in them.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Verdict is "met" or says that a figure missed what is wanted.
func Verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}
