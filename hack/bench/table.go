package main

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

// table is a Markdown table whose columns stand below each other in the terminal too.
type table struct {
	header []string
	right  []bool
	rows   [][]string
}

// newTable takes the columns' names; one that begins with ">" is of numbers, which stand at the right.
func newTable(columns ...string) *table {
	t := &table{}
	for _, c := range columns {
		name, right := strings.CutPrefix(c, ">")
		t.header, t.right = append(t.header, name), append(t.right, right)
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write ends with an empty line.
func (t *table) write(w io.Writer) error {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i, width := range widths {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			gap := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
			if t.right[i] {
				b.WriteString("| " + gap + cell + " ")
			} else {
				b.WriteString("| " + cell + gap + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(t.header)
	for i, width := range widths {
		b.WriteString("|" + strings.Repeat("-", width+1))
		b.WriteString(map[bool]string{true: ":", false: "-"}[t.right[i]])
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// heading says what was run, on what, so that a result can be judged and had again.
func heading(w io.Writer, command string, args []string, about string) error {
	_, err := fmt.Fprintf(w, "`go run ./hack/bench %s`, commit %s; %s/%s, %d CPUs, %s\n\n%s\n\n",
		strings.Join(append([]string{command}, args...), " "), commitName(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), about)
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

// middle is the median of numbers.
func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return median(values, func(a, b float64) float64 { return (a + b) / 2 })
}

// each is the numbers of all rounds, for the reader who wants to see how far they lie apart.
func each(values []float64, format string) string {
	out := make([]string, len(values))
	for i, v := range values {
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
