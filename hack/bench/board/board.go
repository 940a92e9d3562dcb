// Package board measures the API server's CPU and memory while it follows chains with many launches, and has their world and writers.
package board

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

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// rankEvery is the pace at which the API server ranks all cards anew.
	rankEvery = 15 * time.Second
	// wantedRank is the CPU that it may take for that.
	wantedRank = 250 * time.Millisecond
	// Settling is for how long a server follows the chains before it is measured.
	Settling = 3 * time.Second
)

// Size is what the board's database has.
var Size = lab.MarketSize{Launches: 100_000, Trades: 1_000_000, Seed: 1}

// Measurement is a measurement of the launch board on one database, to which writers go on writing.
type Measurement struct {
	size     lab.MarketSize
	Database *lab.Database
	Dir      string
	clock    *boardClock
	Arrivals *arrivals
	ready    []time.Duration // from a server's start until it answers
}

// More is what a world has beside the board's.
type More struct {
	// Name tells it from other worlds, and Version changes with what Write makes.
	Name    string
	Version int
	// Write adds to a database that has the board's world.
	Write func(context.Context, *Measurement) error
}

// On runs f on a copy of the kept database of each kind.
func On(ctx context.Context, o *lab.Options, f func(*Measurement) error) error {
	return OnMore(ctx, o, nil, f)
}

// OnMore is On for a database with more in it; nil is no more.
func OnMore(ctx context.Context, o *lab.Options, more *More, f func(*Measurement) error) error {
	seedling := func() *lab.Seedling {
		s := newBoardWorld(o.Size).seedling()
		if more != nil {
			more.addTo(s)
		}
		return s
	}
	return o.OnEach(ctx, seedling, func(kept *lab.Database, dir string) (err error) {
		d, drop, err := kept.Copied(ctx, dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx))) }()
		st, err := store.Open(ctx, d.DSN)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, st.Close()) }()
		clock := newBoardClock()
		a, err := newArrivals(ctx, newBoardWorld(o.Size), st, clock) // seeding has moved the first one on
		if err != nil {
			return err
		}
		return f(&Measurement{size: o.Size, Database: d, Dir: dir, clock: clock, Arrivals: a})
	})
}

// addTo has a database filled with more.
func (x *More) addTo(s *lab.Seedling) {
	fill := s.Fill
	s.Name, s.Version = s.Name+"-"+x.Name, 100*s.Version+x.Version
	s.Fill = func(ctx context.Context, st *store.Store, byTime bool, what string) error {
		if err := fill(ctx, st, byTime, what); err != nil {
			return err
		}
		a, err := newArrivals(ctx, newBoardWorld(s.Size), st, newBoardClock())
		if err != nil {
			return err
		}
		err = x.Write(ctx, &Measurement{size: s.Size, Arrivals: a})
		for _, c := range a.writers {
			err = errors.Join(err, st.Leases.Release(ctx, c.lease))
		}
		return err
	}
}

// String names what it is about.
func (m *Measurement) String() string {
	return fmt.Sprintf("%s with %s on %d chains", m.Database, m.size, len(boardChains))
}

// Served runs f beside an API server of its own, whose clock begins with the chains'.
func (m *Measurement) Served(ctx context.Context, f func(api *lab.Served) error) error {
	began := lab.Now()
	m.clock.start()
	defer m.clock.stop()
	api, err := lab.ServeAPI(ctx, m.Dir, m.Database.Reader, "--world", Name, "--now", strconv.FormatInt(m.clock.now().Unix(), 10))
	if err != nil {
		return err
	}
	m.ready = append(m.ready, lab.Now().Sub(began))
	lab.Say("%s: the API server is ready after %s", m.Database, lab.Now().Sub(began).Round(10*time.Millisecond))
	return api.End(func() error { return f(api) })
}

// Keep has the start-ups of these rounds count alone.
func (m *Measurement) Keep(rounds []int) { m.ready = lab.Pick(m.ready, rounds) }

// Judged begins a table of what there are bounds for.
func (m *Measurement) Judged(peak int64) *lab.Table {
	t := lab.NewTable("", ">wanted", ">measured", "each round", "")
	t.Add("peak memory, MB", fmt.Sprintf("below %.0f (%d MiB)", lab.WantedMemory/1e6, lab.WantedMemory>>20), fmt.Sprintf("%.0f", float64(peak)/1e6), "",
		lab.Verdict(peak < lab.WantedMemory))
	ready := lab.Values(m.ready, func(d *time.Duration) float64 { return d.Seconds() })
	t.Add("ready after, s", "", fmt.Sprintf("%.1f", lab.Middle(ready)), lab.Each(ready, "%.1f"), "")
	return t
}

// cpuMeasurement is the measurement of the API server's CPU.
type cpuMeasurement struct {
	*Measurement
	*lab.Options

	rates []float64
	runs  map[float64][]cpuRun
}

// Command is the command.
func Command() lab.Command {
	o := &lab.Options{Rounds: 3, Duration: 45 * time.Second, DB: lab.SQLite, Size: Size, Clients: 1}
	rates := []float64{2000, 200, 20, 0}
	return lab.Command{
		Name: "board",
		About: "The launch board while trades arrive and nobody asks: CPU by what changed, and memory. Every 15 s all scores are computed anew; where " +
			"nothing arrives what that takes can be told from the rest. See docs/benchmarks.md#the-launch-board.",
		Flags: func(f *flag.FlagSet) {
			o.Flags(f)
			o.QuietFlag(f)
			f.DurationVar(&o.Duration, "cpu-duration", o.Duration, "how long CPU is measured at each rate, in whole rankings of 15 s")
			f.Func("rates", "trades per second, separated by spaces (default 2000 200 20 0)", func(list string) (err error) {
				rates, err = parseRates(list)
				return err
			})
		},
		Run: func(ctx context.Context) error {
			if o.Duration < rankEvery || o.Duration%rankEvery != 0 {
				return fmt.Errorf("--cpu-duration must be a multiple of %s", rankEvery)
			}
			return On(ctx, o, func(on *Measurement) error {
				m := &cpuMeasurement{Measurement: on, Options: o, rates: rates, runs: map[float64][]cpuRun{}}
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
		if !slices.Contains(out, rate) {
			out = append(out, rate)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("name one at least")
	}
	return out, nil
}

func (m *cpuMeasurement) measure(ctx context.Context) error {
	if err := lab.Heading(os.Stdout, fmt.Sprintf("%s. %d round(s), medians: %s at each rate.", m.Measurement, m.Rounds, m.Duration)); err != nil {
		return err
	}
	kept, err := m.QuietRounds(os.Stdout, func(round int) (float64, error) { return m.round(ctx, round) })
	if err != nil {
		return err
	}
	m.Keep(kept)
	return lab.WriteTables(os.Stdout, m.report(slices.Sorted(slices.Values(m.rates))), m.judge())
}

// Keep has these rounds count alone.
func (m *cpuMeasurement) Keep(rounds []int) {
	m.Measurement.Keep(rounds)
	for rate, runs := range m.runs {
		m.runs[rate] = lab.Pick(runs, rounds)
	}
}

// peak is the most memory that any of the servers had, in bytes.
func (m *cpuMeasurement) peak() (most int64) {
	for _, runs := range m.runs {
		for i := range runs {
			most = max(most, runs[i].used.Ended.Peak)
		}
	}
	return most
}

// judge holds what there are bounds for against them.
func (m *cpuMeasurement) judge() *lab.Table {
	t := m.Judged(m.peak())
	if ranks := lab.Values(m.runs[0], func(r *cpuRun) float64 { return lab.Milliseconds(r.rank) }); len(ranks) > 0 {
		t.Add("CPU of a ranking, ms", fmt.Sprintf("at most %d", wantedRank.Milliseconds()), fmt.Sprintf("%.0f", lab.Middle(ranks)), lab.Each(ranks, "%.0f"),
			lab.Verdict(lab.Middle(ranks) <= lab.Milliseconds(wantedRank)))
	}
	return t
}
