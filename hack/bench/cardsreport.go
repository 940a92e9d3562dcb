package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// wantedCards are the bounds of a card's CPU over others'. Below is what must stay under a bound, not at it.
var wantedCards = []struct {
	over  string
	most  float64
	below bool
}{
	{cardsSatori, 1, true},
	{cardsPlaywright, 1, true},
	{cardsTakumi, 2, false},
}

// report writes the medians and the ratios, each the median over the rounds of the ratio within a round.
func (m *cardsMeasurement) report() error {
	figures := newTable("contender", ">CPU ms a card", ">cards/s", ">KB", ">% unlike", "CPU ms of each round", ">others' cores")
	for _, name := range m.wanted {
		of := func(f func(cardsRun) float64) []float64 { return valuesOf(m.runs[name], f) }
		cpu := of(cardCPU)
		figures.add(name, fmt.Sprintf("%.1f", middle(cpu)), fmt.Sprintf("%.1f", middle(of(func(r cardsRun) float64 { return r.perSecond }))),
			fmt.Sprintf("%.0f", float64(m.bytes[name])/1e3), fmt.Sprintf("%.2f", 100*m.unlike[name]), each(cpu, "%.1f"),
			fmt.Sprintf("%.2f", middle(of(func(r cardsRun) float64 { return r.others }))))
	}
	if err := figures.write(os.Stdout); err != nil {
		return err
	}
	return m.ratios().write(os.Stdout)
}

func cardCPU(r cardsRun) float64 { return milliseconds(r.cpu) }

// ratios holds the renderer's CPU against what is wanted.
func (m *cardsMeasurement) ratios() *table {
	t := newTable("ratio of CPU", ">wanted", ">median", "each round", "")
	for _, own := range []string{cardsRenderer, cardsBrowser} {
		for _, w := range wantedCards {
			over, under := valuesOf(m.runs[own], cardCPU), valuesOf(m.runs[w.over], cardCPU)
			if len(over) == 0 || len(under) == 0 {
				continue
			}
			ratios := make([]float64, len(over))
			for i := range over {
				ratios[i] = over[i] / under[i]
			}
			bound, met := fmt.Sprintf("at most %g", w.most), middle(ratios) <= w.most
			if w.below {
				bound, met = fmt.Sprintf("below %g", w.most), middle(ratios) < w.most
			}
			t.add(own+" / "+w.over, bound, fmt.Sprintf("%.2f", middle(ratios)), each(ratios, "%.2f"), verdict(met))
		}
	}
	return t
}

func valuesOf[T any](list []T, f func(T) float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

const (
	// memoryEvery is after how many cards memory is read, and memoryShown after how many it is shown.
	memoryEvery, memoryShown = 100, 500
	// mostMemoryGrowth is how much more the last cards' memory may be than the first ones'.
	mostMemoryGrowth = 1.1
)

// memoryAt is the memory of the renderer and its browser after a number of cards.
type memoryAt struct {
	cards, processes int
	bytes            int64
}

// watchMemory draws many cards with a renderer of its own.
func (m *cardsMeasurement) watchMemory(ctx context.Context) (err error) {
	s, err := m.startPainter(ctx, cardsRenderer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var list []memoryAt
	began := now()
	for drawn := 0; ; drawn += memoryEvery {
		at := memoryAt{cards: drawn}
		if at.bytes, at.processes, err = treeMemory(s.cmd.Process.Pid); err != nil {
			return err
		}
		list = append(list, at)
		if drawn%memoryShown == 0 {
			say("memory: %d of %d cards after %s: %.0f MB", drawn, m.memory, now().Sub(began).Round(time.Second), float64(at.bytes)/1e6)
		}
		if drawn == m.memory {
			break
		}
		var done string
		if err := s.ask(fmt.Sprintf("draw %d", memoryEvery), &done); err != nil {
			return err
		}
	}
	return reportMemory(list)
}

func reportMemory(list []memoryAt) error {
	t := newTable(">cards", ">MB", ">processes", ">most MB since")
	var most int64
	for _, at := range list {
		if most = max(most, at.bytes); at.cards%memoryShown == 0 {
			t.add(strconv.Itoa(at.cards), fmt.Sprintf("%.0f", float64(at.bytes)/1e6), strconv.Itoa(at.processes), fmt.Sprintf("%.0f", float64(most)/1e6))
			most = 0
		}
	}
	if err := t.write(os.Stdout); err != nil {
		return err
	}
	ratio, first, last := growth(list)
	judged := newTable("", ">wanted", ">measured", "")
	judged.add(fmt.Sprintf("memory of the last fifth over that of the first, %.0f / %.0f MB", last/1e6, first/1e6),
		fmt.Sprintf("at most %g", mostMemoryGrowth), fmt.Sprintf("%.2f", ratio), verdict(ratio <= mostMemoryGrowth))
	return judged.write(os.Stdout)
}

// growth compares the median of the last fifth of the readings with that of the first; the one before any card counts in
// neither.
func growth(list []memoryAt) (ratio, first, last float64) {
	held := valuesOf(list[1:], func(at memoryAt) float64 { return float64(at.bytes) })
	fifth := max(len(held)/5, 1)
	first, last = middle(held[:fifth]), middle(held[len(held)-fifth:])
	return last / first, first, last
}
