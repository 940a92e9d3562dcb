package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const boardUsage = `bench board measures the launch board with 100,000 launches on nine chains while trades arrive.

  go run ./hack/bench board [flags]

Trades arrive from one writer per chain, which commits through the store what its indexer would: a block at a time, at the
chain's block time, with the tokens, pools, launches, candles and quote prices that changed. They are drawn by Zipf's law;
most launches rest. The writers run in this process, the API server in one of its own. On SQLite the two share a file,
which no deployment does, and the API server learns of commits by looking every half second; on PostgreSQL it is told.

Requests: as in bench hot, the API server takes turns with bare routers that write the same body, beside which it keeps on
following the chains; first while trades arrive, then while none do.

CPU: nobody asks. Every 15 s the API server computes all scores anew; where nothing arrives (a rate of 0) what that takes can
be told from the rest.

With --cpuprofile one more round isn't counted: it has a CPU profile of each path and of each rate, and one of the heap.

The database is made once and kept; it is copied before anything is written to it. --seed makes it and ends.

Flags:
`

const (
	// rankEveryS is the pace, in seconds, at which the API server ranks all cards anew.
	rankEveryS = 15
	// wantedRank is the CPU that it may take for that.
	wantedRank = 250 * time.Millisecond
)

// boardPaths are the default board and three filtered ones.
var boardPaths = []string{
	"/api/launch/launches",
	"/api/launch/launches?sort=new",
	"/api/launch/launches?chain=bsc",
	"/api/launch/launches?launchpad=four-meme",
}

type boardOptions struct {
	apiOptions

	connections int
	paths       string
	rates       []float64
	rest        time.Duration
	requests    bool
	cpu         bool
	listed      string // rates as the flag has them
}

func boardCommand(ctx context.Context, args []string) error {
	o := boardOptions{apiOptions: apiOptions{
		command: "board", rounds: 3, duration: 2 * time.Second, warmUp: 500 * time.Millisecond, db: sqliteKind,
		size: marketSize{Launches: 100_000, Trades: 1_000_000},
	}}
	err := o.parse(args, boardUsage, func(f *flag.FlagSet) {
		f.IntVar(&o.connections, "connections", 64, "connections that are kept busy")
		f.StringVar(&o.paths, "paths", strings.Join(boardPaths, " "), "`PATHS` to measure, separated by spaces")
		f.StringVar(&o.listed, "rates", "2000 200 20 0", "trades per second of the measurements of CPU; requests are measured at the first")
		f.DurationVar(&o.rest, "cpu-duration", 45*time.Second, "how long CPU is measured at each rate, in whole rankings of 15 s")
		f.BoolVar(&o.requests, "requests", true, "measure requests")
		f.BoolVar(&o.cpu, "cpu", true, "measure CPU and memory")
	})
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	w := newBoardWorld(o.size)
	for _, kind := range o.kinds {
		if err := o.onKind(ctx, kind, w); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		w = newBoardWorld(o.size) // the writers have moved it on
	}
	return nil
}

// check reads the rates and holds the flags against their bounds.
func (o *boardOptions) check() error {
	for word := range strings.FieldsSeq(o.listed) {
		rate, err := strconv.ParseFloat(word, 64)
		if err != nil || rate < 0 || rate > 1e6 {
			return fmt.Errorf("--rates: %q is no number of trades per second from 0 to 1000000", word)
		}
		o.rates = append(o.rates, rate)
	}
	switch {
	case len(o.rates) == 0:
		return errors.New("--rates must name one at least")
	case o.rest < rankEveryS*time.Second || o.rest%(rankEveryS*time.Second) != 0:
		return fmt.Errorf("--cpu-duration must be a multiple of %d s", rankEveryS)
	case o.rest > longestServed:
		return fmt.Errorf("--cpu-duration must be at most %s: chains on which nothing arrives would be stale", longestServed)
	}
	// While nothing arrives the newest block stays where it is.
	if quiet := time.Duration(len(strings.Fields(o.paths))*len(hotContenders)) * (o.duration + o.warmUp); quiet > longestServed {
		return fmt.Errorf("with --duration %s and --warmup %s chains would be stale before all paths had been asked for", o.duration, o.warmUp)
	}
	return nil
}

// onKind measures on a copy of the kept database.
func (o *boardOptions) onKind(ctx context.Context, kind string, w *boardWorld) error {
	kept, err := seededDatabase(ctx, kind, w.seedling(), o.again)
	if err != nil {
		return err
	}
	defer kept.close()
	if o.onlySeed {
		return nil
	}
	return scratch(func(dir string) (err error) {
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
		a, err := newArrivals(ctx, w, st, clock)
		if err != nil {
			return err
		}
		m := &boardMeasurement{boardOptions: o, d: d, dir: dir, clock: clock, arrivals: a}
		return m.run(ctx)
	})
}

// boardMeasurement is bench board on one database.
type boardMeasurement struct {
	*boardOptions

	d        *database
	dir      string
	clock    *boardClock
	arrivals *arrivals

	missing []string
	// requestRuns are by phase and path, then by contender.
	requestRuns map[string]map[string][]hotRun
	cpuRuns     map[float64][]cpuRun
	ready       []time.Duration // from a server's start until it answers
	beside      arrived         // while requests were measured
	peak        int64           // of any of the servers, in bytes
}

const (
	arriving = "arriving "
	quiet    = "quiet "
)

func (m *boardMeasurement) run(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s on %d chains. %d round(s), medians. Requests: %s for each, %d connections, %d clients at a time, each replaced "+
		"after %d requests, %g trades/s. CPU: %s at each rate.", m.d, m.size, len(boardChains), m.rounds, m.duration, m.connections,
		m.clients.Together, m.clients.Each, m.rates[0], m.rest)
	if err := heading(os.Stdout, m.command, m.args, about); err != nil {
		return err
	}
	m.requestRuns, m.cpuRuns = map[string]map[string][]hotRun{}, map[float64][]cpuRun{}
	for round := range m.rounds {
		if m.requests {
			if err := m.requestRound(ctx, round, ""); err != nil {
				return err
			}
		}
		if m.cpu {
			if err := m.cpuRound(ctx, round, ""); err != nil {
				return err
			}
		}
	}
	if err := m.report(); err != nil || m.cpuProfile == "" {
		return err
	}
	profile := m.cpuProfile + "." + m.d.kind
	if m.requests {
		if err := m.requestRound(ctx, m.rounds, profile); err != nil {
			return err
		}
	}
	if m.cpu {
		return m.cpuRound(ctx, m.rounds, profile)
	}
	return nil
}

// served runs f beside an API server of its own.
func (m *boardMeasurement) served(ctx context.Context, f func(api *served) error) error {
	began := now()
	api, err := serveBoard(ctx, m.dir, m.d.reader, m.clock)
	if err != nil {
		return err
	}
	defer m.clock.stop()
	m.ready = append(m.ready, now().Sub(began))
	say("%s: the API server is ready after %s", m.d, now().Sub(began).Round(10*time.Millisecond))
	if err := f(api); err != nil {
		return errors.Join(err, api.stop())
	}
	return errors.Join(api.silent(), api.stop())
}

// requestRound measures each path with each contender, while trades arrive and then while none do. With a profile it takes
// those of the API server, and counts nothing.
func (m *boardMeasurement) requestRound(ctx context.Context, round int, profile string) error {
	return m.served(ctx, func(api *served) error {
		c := m.fresh() // the limiter remembers those that have asked
		sum, err := m.arrivals.during(ctx, m.rates[0], func() error {
			wait.For(ctx, settling)
			return m.eachPath(ctx, api, c, arriving, round, profile)
		})
		if err != nil {
			return err
		}
		say("%s, round %d of %d: %s", m.d, round+1, m.rounds, sum)
		m.beside.add(sum)
		m.beside.wall += sum.wall
		wait.For(ctx, settling)
		return m.eachPath(ctx, api, c, quiet, round, profile)
	})
}

// settling is for how long a server follows the chains before it is measured.
const settling = 3 * time.Second

func (m *boardMeasurement) eachPath(ctx context.Context, api *served, c *clients, phase string, round int, profile string) error {
	for i, path := range strings.Fields(m.paths) {
		sample, err := fetch(ctx, api.address, path)
		if err != nil {
			return err
		}
		if sample.notRouted() {
			m.missing = append(m.missing, path)
			continue
		}
		if sample.status != http.StatusOK {
			return fmt.Errorf("%s answers %d: %s", path, sample.status, sample.body)
		}
		if profile != "" {
			file := fmt.Sprintf("%s.%s.%d", profile, strings.Fields(phase)[0], i)
			if _, err := m.request(ctx, api, c, hotAPI, path, sample, file); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		label := fmt.Sprintf("%s%s (%d KB)", phase, path, (len(sample.body)+512)/1024)
		if round > 0 {
			label = m.labelled(phase + path)
		}
		if m.requestRuns[label] == nil {
			m.requestRuns[label] = map[string][]hotRun{}
		}
		for turn := range hotContenders {
			name := hotContenders[(turn+round)%len(hotContenders)]
			r, err := m.request(ctx, api, c, name, path, sample, "")
			if err != nil {
				return fmt.Errorf("%s, %s: %w", path, name, err)
			}
			say("round %d of %d: %s%s, %s: %.0f/s, %.1f µs", round+1, m.rounds, phase, path, name, r.perSecond, microseconds(r.cpu))
			m.requestRuns[label][name] = append(m.requestRuns[label][name], *r)
		}
	}
	return nil
}

// labelled is how the first round called a path, with the size of its body.
func (m *boardMeasurement) labelled(path string) string {
	for label := range m.requestRuns {
		if strings.HasPrefix(label, path+" (") {
			return label
		}
	}
	return path
}

// request is one run of one contender. The API server goes on following the chains beside the bare ones.
func (m *boardMeasurement) request(ctx context.Context, api *served, c *clients, name, target string, sample *answerOf, profile string,
) (*hotRun, error) {
	s := api
	if name != hotAPI {
		var err error
		if s, err = serveBare(ctx, m.dir, bareOf(name, target, sample)); err != nil {
			return nil, err
		}
	}
	head := render(s.address, target)
	next := func(uint64) []byte { return head }
	if _, err := closedLoop(ctx, s.address, m.connections, m.warmUp, c, next); err != nil {
		return nil, err
	}
	beside, err := api.usage()
	if err != nil {
		return nil, err
	}
	var loop *closedRun
	used, err := meter(s, m.d, s.maybeProfiled(profile, func() (err error) {
		loop, err = closedLoop(ctx, s.address, m.connections, m.duration, c, next)
		return err
	}))
	if err != nil {
		return nil, err
	}
	if err := loop.statuses.only(http.StatusOK); err != nil {
		return nil, err
	}
	if name != hotAPI {
		if err := sameBytes(ctx, s, target, sample, loop); err != nil {
			return nil, err
		}
	}
	r := &hotRun{
		perSecond: loop.perSecond(), cpu: used.server / time.Duration(loop.requests), clients: c.used(), peak: used.ended.Peak,
		p50: quantile(loop.took, 0.5), p99: quantile(loop.took, 0.99), load: used.load.Seconds() / used.wall.Seconds(), others: used.others,
	}
	if name == hotAPI {
		m.peak = max(m.peak, r.peak)
		return r, nil
	}
	after, err := api.usage()
	r.others = max(0, r.others-(after.CPU-beside.CPU).Seconds()/used.wall.Seconds())
	return r, errors.Join(err, s.stop())
}
