package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// boardPaths are the default board and three filtered ones.
const boardPaths = "/api/launch/launches /api/launch/launches?sort=new /api/launch/launches?chain=bsc /api/launch/launches?launchpad=four-meme"

// requestsMeasurement is the measurement of the launch board on one database.
type requestsMeasurement struct {
	*hotOptions
	*boardMeasurement

	// runs are by phase and path, then by contender; bytes are the lengths of the bodies.
	runs   map[string]map[string][]hotRun
	bytes  map[string]int
	beside arrived // while requests were measured
	peak   int64   // of any of the API servers, in bytes
}

const (
	arriving = "arriving "
	quiet    = "quiet "
)

// boardRequestsCommand is the command.
func boardRequestsCommand() command {
	o := &hotOptions{paths: boardPaths, options: options{
		rounds: 3, duration: 2 * time.Second, warmUp: 500 * time.Millisecond, db: sqliteKind, size: boardSize,
	}}
	return command{
		name: "board-requests",
		about: "Requests for the launch board, while trades arrive and then while none do: the API server by turns with bare routers, beside which it " +
			"goes on following the chains. See docs/benchmarks.md#the-launch-board.",
		flags: func(f *flag.FlagSet) {
			o.flags(f)
			f.Float64Var(&o.rate, "rate", 2000, "trades per second")
		},
		run: func(ctx context.Context) error {
			// While nothing arrives the newest block stays where it is.
			o.runs = len(strings.Fields(o.paths)) * len(hotContenders)
			return onBoards(ctx, &o.options, func(on *boardMeasurement) error {
				m := &requestsMeasurement{hotOptions: o, boardMeasurement: on, runs: map[string]map[string][]hotRun{}, bytes: map[string]int{}}
				return m.measure(ctx)
			})
		},
	}
}

func (m *requestsMeasurement) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s. %d round(s), medians: %s for each, %d connections, %d clients at a time, %g trades/s.", m.boardMeasurement, m.rounds, m.duration,
		m.connections, m.clients, m.rate)
	if err := heading(os.Stdout, about); err != nil {
		return err
	}
	for round := range m.rounds {
		if err := m.round(ctx, round); err != nil {
			return err
		}
	}
	t := newHotTables()
	for _, path := range slices.Sorted(maps.Keys(m.runs)) {
		t.add(fmt.Sprintf("%s (%d KB)", path, (m.bytes[path]+512)/1024), m.runs[path])
	}
	if err := writeTables(os.Stdout, t.figures, t.ratios); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(os.Stdout, "While trades arrived beside requests: %s.\n\n", &m.beside); err != nil {
		return err
	}
	return m.judged(m.peak).write(os.Stdout)
}

// round measures each path with each contender, while trades arrive and then while none do.
func (m *requestsMeasurement) round(ctx context.Context, round int) error {
	return m.served(ctx, func(api *served) error {
		c := m.fresh() // the limiter remembers those that have asked
		sum, err := m.arrivals.during(ctx, m.rate, func() error {
			wait.For(ctx, settling)
			return m.eachPath(ctx, api, c, arriving, round)
		})
		if err != nil {
			return err
		}
		say("round %d of %d: %s", round+1, m.rounds, sum)
		m.beside.add(sum)
		m.beside.wall += sum.wall
		wait.For(ctx, settling)
		return m.eachPath(ctx, api, c, quiet, round)
	})
}

func (m *requestsMeasurement) eachPath(ctx context.Context, api *served, c *clients, phase string, round int) error {
	for path := range strings.FieldsSeq(m.paths) {
		sample, err := fetch(ctx, api.address, path)
		if err != nil {
			return err
		}
		label := phase + path
		if m.runs[label] == nil {
			m.runs[label], m.bytes[label] = map[string][]hotRun{}, len(sample.body)
		}
		for turn := range hotContenders {
			name := hotContenders[(turn+round)%len(hotContenders)]
			r, err := m.request(ctx, api, c, name, path, sample)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", path, name, err)
			}
			say("round %d of %d: %s, %s: %.0f/s, %.1f µs", round+1, m.rounds, label, name, r.perSecond, microseconds(r))
			m.runs[label][name] = append(m.runs[label][name], *r)
		}
	}
	return nil
}

// request is one run of one contender. The API server goes on following the chains beside the bare ones, so that its answers
// change.
func (m *requestsMeasurement) request(ctx context.Context, api *served, c *clients, name, target string, sample *answer) (r *hotRun, err error) {
	if name == hotAPI {
		if r, err = m.turn(ctx, api, m.d, c, target, nil); err == nil {
			m.peak = max(m.peak, r.peak)
		}
		return r, err
	}
	s, err := serveBare(ctx, m.dir, bareOf(name, target, sample))
	if err != nil {
		return nil, err
	}
	err = s.end(func() (err error) {
		r, err = m.turn(ctx, s, m.d, c, target, sample)
		return err
	})
	return r, err
}
