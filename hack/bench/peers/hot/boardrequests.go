package hot

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/board"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// boardPaths are the default board and three filtered ones.
const boardPaths = "/api/launch/launches /api/launch/launches?sort=new /api/launch/launches?chain=bsc /api/launch/launches?launchpad=four-meme"

// requestsMeasurement is the measurement of the launch board on one database.
type requestsMeasurement struct {
	*hotOptions
	*board.Measurement

	// runs are by phase and path, then by contender; bytes are the lengths of the bodies.
	runs   map[string]map[string][]hotRun
	bytes  map[string]int
	beside board.Arrived // while requests were measured
	peak   int64         // of any of the API servers, in bytes
}

const (
	arriving = "arriving "
	quiet    = "quiet "
)

// BoardRequests is the command.
func BoardRequests() lab.Command {
	o := &hotOptions{paths: boardPaths, Options: lab.Options{
		Rounds: 3, Duration: 2 * time.Second, WarmUp: 500 * time.Millisecond, DB: lab.SQLite, Size: board.Size,
	}}
	return lab.Command{
		Name: "board-requests",
		About: "Requests for the launch board, while trades arrive and then while none do: the API server by turns with bare routers, beside which it " +
			"goes on following the chains. See docs/benchmarks.md#the-launch-board.",
		Flags: func(f *flag.FlagSet) {
			o.flags(f)
			f.Float64Var(&o.Rate, "rate", 2000, "trades per second")
		},
		Run: func(ctx context.Context) error {
			// While nothing arrives the newest block stays where it is.
			o.Runs = len(strings.Fields(o.paths)) * len(hotContenders)
			return board.On(ctx, &o.Options, func(on *board.Measurement) error {
				m := &requestsMeasurement{hotOptions: o, Measurement: on, runs: map[string]map[string][]hotRun{}, bytes: map[string]int{}}
				return m.measure(ctx)
			})
		},
	}
}

func (m *requestsMeasurement) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s. %d round(s), medians: %s for each, %d connections, %d clients at a time, %g trades/s.", m.Measurement, m.Rounds, m.Duration,
		m.connections, m.Clients, m.Rate)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	for round := range m.Rounds {
		if err := m.round(ctx, round); err != nil {
			return err
		}
	}
	t := newHotTables()
	for _, path := range slices.Sorted(maps.Keys(m.runs)) {
		t.add(fmt.Sprintf("%s (%d KB)", path, (m.bytes[path]+512)/1024), m.runs[path])
	}
	if err := lab.WriteTables(os.Stdout, t.figures, t.ratios); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(os.Stdout, "While trades arrived beside requests: %s.\n\n", &m.beside); err != nil {
		return err
	}
	return m.Judged(m.peak).Write(os.Stdout)
}

// round measures each path with each contender, while trades arrive and then while none do.
func (m *requestsMeasurement) round(ctx context.Context, round int) error {
	return m.Served(ctx, func(api *lab.Served) error {
		c := m.Fresh() // the limiter remembers those that have asked
		sum, err := m.Arrivals.During(ctx, m.Rate, func() error {
			wait.For(ctx, board.Settling)
			return m.eachPath(ctx, api, c, arriving, round)
		})
		if err != nil {
			return err
		}
		lab.Say("round %d of %d: %s", round+1, m.Rounds, sum)
		m.beside.Add(sum)
		m.beside.Wall += sum.Wall
		wait.For(ctx, board.Settling)
		return m.eachPath(ctx, api, c, quiet, round)
	})
}

func (m *requestsMeasurement) eachPath(ctx context.Context, api *lab.Served, c *lab.Clients, phase string, round int) error {
	for path := range strings.FieldsSeq(m.paths) {
		sample, err := lab.Fetch(ctx, api.Address, path)
		if err != nil {
			return err
		}
		label := phase + path
		if m.runs[label] == nil {
			m.runs[label], m.bytes[label] = map[string][]hotRun{}, len(sample.Body)
		}
		for turn := range hotContenders {
			name := hotContenders[(turn+round)%len(hotContenders)]
			r, err := m.request(ctx, api, c, name, path, sample)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", path, name, err)
			}
			lab.Say("round %d of %d: %s, %s: %.0f/s, %.1f µs", round+1, m.Rounds, label, name, r.perSecond, microseconds(r))
			m.runs[label][name] = append(m.runs[label][name], *r)
		}
	}
	return nil
}

// request is one run of one contender. The API server goes on following the chains beside the bare ones, so that its answers
// change.
func (m *requestsMeasurement) request(ctx context.Context, api *lab.Served, c *lab.Clients, name, target string, sample *lab.Answer) (r *hotRun, err error) {
	if name == hotAPI {
		if r, err = m.turn(ctx, api, m.Database, c, target, nil); err == nil {
			m.peak = max(m.peak, r.peak)
		}
		return r, err
	}
	s, err := serveBare(ctx, m.Dir, bareOf(name, target, sample))
	if err != nil {
		return nil, err
	}
	err = s.End(func() (err error) {
		r, err = m.turn(ctx, s, m.Database, c, target, sample)
		return err
	})
	return r, err
}
