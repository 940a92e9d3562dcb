package lab

import (
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, c := range []struct {
		of   []time.Duration
		q    float64
		want time.Duration
	}{
		{nil, 0.99, 0},
		{[]time.Duration{7}, 0.5, 7},
		{[]time.Duration{7}, 0.99, 7},
		{hundred, 0.5, 50},
		{hundred, 0.99, 99},
		{hundred, 0.995, 100},
		{hundred, 1, 100},
		{hundred, 0, 1},
	} {
		if got := Quantile(c.of, c.q); got != c.want {
			t.Errorf("quantile %g of %d values is %d, want %d", c.q, len(c.of), got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := NewTable("name", ">µs")
	table.Add("a", "1.5")
	table.Add("longer", "10")
	var b strings.Builder
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := "| name | µs |\n| --- | ---: |\n| a | 1.5 |\n| longer | 10 |\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	list := []float64{3, 1, 2, 9}
	for n, want := range []float64{0, 3, 2, 2, 2.5} {
		if got := Middle(list[:n]); got != want {
			t.Errorf("the middle of %d values: %v, want %v", n, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	runs := []int{10, 30, 20}
	list := []Column[int]{
		{Name: "n", Format: "%.0f", Of: func(n *int) float64 { return float64(*n) }},
		{Name: "each", Format: "%.1f", Of: func(n *int) float64 { return float64(*n) / 2 }, Each: true},
	}
	table := Columns([]string{"who"}, list, ">last")
	table.Add(Figures([]string{"he"}, runs, list, "end")...)
	var b strings.Builder
	if err := WriteTables(&b, table, EachRound(runs, list[:1])); err != nil {
		t.Fatal(err)
	}
	want := "| who | n | each | last |\n| --- | ---: | --- | ---: |\n| he | 20 | 5.0, 15.0, 10.0 | end |\n\n" +
		"|  | median | each round |  |\n| --- | ---: | --- | --- |\n| n | 20 | 10, 30, 20 |  |\n\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if got := Ratios([]float64{1, 0, 6}, []float64{2, 0}); len(got) != 2 || got[0] != 0.5 || got[1] != 1 {
		t.Errorf("the ratios are %v", got)
	}
}
