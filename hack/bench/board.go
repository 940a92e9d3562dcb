package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// rankEvery is the pace at which the API server ranks all cards anew.
	rankEvery = 15 * time.Second
	// wantedRank is the CPU that it may take for that.
	wantedRank = 250 * time.Millisecond
	// settling is for how long a server follows the chains before it is measured.
	settling = 3 * time.Second
)

// boardSize is what the board's database has.
var boardSize = marketSize{Launches: 100_000, Trades: 1_000_000, Seed: 1}

// boardMeasurement is a measurement of the launch board on one database, to which writers go on writing.
type boardMeasurement struct {
	size     marketSize
	d        *database
	dir      string
	clock    *boardClock
	arrivals *arrivals
	ready    []time.Duration // from a server's start until it answers
}

// onBoards runs f on a copy of the kept database of each kind.
func onBoards(ctx context.Context, o *options, f func(*boardMeasurement) error) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.onEach(ctx, newBoardWorld(o.size).seedling(), func(kept *database, dir string) (err error) {
		d, drop, err := kept.copied(ctx, dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
		st, err := store.Open(ctx, d.dsn)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		clock := newBoardClock()
		a, err := newArrivals(ctx, newBoardWorld(o.size), st, clock) // seeding has moved the first one on
		if err != nil {
			return err
		}
		return f(&boardMeasurement{size: o.size, d: d, dir: dir, clock: clock, arrivals: a})
	})
}

// String names what it is about.
func (m *boardMeasurement) String() string {
	return fmt.Sprintf("%s with %s on %d chains", m.d, m.size, len(boardChains))
}

// served runs f beside an API server of its own, whose clock begins with the chains'.
func (m *boardMeasurement) served(ctx context.Context, f func(api *served) error) error {
	began := now()
	m.clock.start()
	defer m.clock.stop()
	api, err := serveAPI(ctx, m.dir, m.d.reader, "--world", boardName, "--now", strconv.FormatInt(m.clock.now().Unix(), 10))
	if err != nil {
		return err
	}
	m.ready = append(m.ready, now().Sub(began))
	say("%s: the API server is ready after %s", m.d, now().Sub(began).Round(10*time.Millisecond))
	return api.end(func() error { return f(api) })
}

// judged begins a table of what there are bounds for.
func (m *boardMeasurement) judged(peak int64) *table {
	t := newTable("", ">wanted", ">measured", "each round", "")
	t.add("peak memory, MB", fmt.Sprintf("below %.0f (%d MiB)", wantedMemory/1e6, wantedMemory>>20), fmt.Sprintf("%.0f", float64(peak)/1e6), "",
		verdict(peak < wantedMemory))
	ready := values(m.ready, func(d *time.Duration) float64 { return d.Seconds() })
	t.add("ready after, s", "", fmt.Sprintf("%.1f", middle(ready)), each(ready, "%.1f"), "")
	return t
}

// cpuMeasurement is the measurement of the API server's CPU.
type cpuMeasurement struct {
	*boardMeasurement
	*options

	rates []float64
	runs  map[float64][]cpuRun
	peak  int64 // of any of the servers, in bytes
}

// boardCommand is the command.
func boardCommand() command {
	o := &options{rounds: 3, duration: 45 * time.Second, db: sqliteKind, size: boardSize}
	rates := []float64{2000, 200, 20, 0}
	return command{
		name: "board",
		about: "The launch board while trades arrive and nobody asks: CPU by what changed, and memory. Every 15 s all scores are computed anew; where " +
			"nothing arrives what that takes can be told from the rest. See docs/benchmarks.md#the-launch-board.",
		flags: func(f *flag.FlagSet) {
			o.flags(f)
			f.DurationVar(&o.duration, "cpu-duration", o.duration, "how long CPU is measured at each rate, in whole rankings of 15 s")
			f.Func("rates", "trades per second, separated by spaces (default 2000 200 20 0)", func(list string) (err error) {
				rates, err = parseRates(list)
				return err
			})
		},
		run: func(ctx context.Context) error {
			if o.duration < rankEvery || o.duration%rankEvery != 0 {
				return fmt.Errorf("--cpu-duration must be a multiple of %s", rankEvery)
			}
			return onBoards(ctx, o, func(on *boardMeasurement) error {
				m := &cpuMeasurement{boardMeasurement: on, options: o, rates: rates, runs: map[float64][]cpuRun{}}
				return m.measure(ctx)
			})
		},
	}
}

func parseRates(list string) (out []float64, err error) {
	for word := range strings.FieldsSeq(list) {
		rate, err := strconv.ParseFloat(word, 64)
		if err != nil || rate < 0 || rate > 1e6 {
			return nil, fmt.Errorf("%q is no number of trades per second from 0 to 1000000", word)
		}
		out = append(out, rate)
	}
	if len(out) == 0 {
		return nil, errors.New("name one at least")
	}
	return out, nil
}

func (m *cpuMeasurement) measure(ctx context.Context) error {
	if err := heading(os.Stdout, fmt.Sprintf("%s. %d round(s), medians: %s at each rate.", m.boardMeasurement, m.rounds, m.duration)); err != nil {
		return err
	}
	for round := range m.rounds {
		if err := m.round(ctx, round); err != nil {
			return err
		}
	}
	return writeTables(os.Stdout, m.report(slices.Sorted(slices.Values(m.rates))), m.judge())
}

// judge holds what there are bounds for against them.
func (m *cpuMeasurement) judge() *table {
	t := m.judged(m.peak)
	if ranks := values(m.runs[0], func(r *cpuRun) float64 { return milliseconds(r.rank) }); len(ranks) > 0 {
		t.add("CPU of a ranking, ms", fmt.Sprintf("at most %d", wantedRank.Milliseconds()), fmt.Sprintf("%.0f", middle(ranks)), each(ranks, "%.0f"),
			verdict(middle(ranks) <= milliseconds(wantedRank)))
	}
	return t
}
