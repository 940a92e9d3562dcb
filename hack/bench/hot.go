package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// hotRun is one run of one contender.
type hotRun struct {
	perSecond    float64
	cpu          time.Duration // of the server, per request
	load, others float64       // cores that the load took, and that others did
	peak         int64         // the server's memory
}

const (
	hotAPI    = "api"
	hotBare   = "bare"
	hotHeader = "bare+headers"
)

// hotContenders are the API server with all of its middleware; a gorilla/mux router with the one route, which writes the same
// body, with Content-Type and Content-Length; and one that also writes the headers of the API server's answer, made beforehand.
var hotContenders = []string{hotAPI, hotBare, hotHeader}

// hotPaths are the answers that the server has in memory, but for those of the launch board.
const hotPaths = "/api/market/live /api/majors /api/majors?chain=base"

// hotOptions are those of a closed loop on a list of paths.
type hotOptions struct {
	options

	connections int
	paths       string
}

func (o *hotOptions) flags(f *flag.FlagSet) {
	o.options.flags(f)
	o.durationFlag(f)
	f.IntVar(&o.connections, "connections", 64, "connections that are kept busy")
	f.StringVar(&o.paths, "paths", o.paths, "`PATHS` to measure, separated by spaces")
}

// hotMeasurement is the measurement on one database.
type hotMeasurement struct {
	*hotOptions

	d   *database
	dir string
	// api are further flags of the API server's process.
	api []string
}

// hotCommand is the command.
func hotCommand() command {
	o := &hotOptions{paths: hotPaths, options: options{
		rounds: 5, duration: 5 * time.Second, warmUp: time.Second, db: sqliteKind, size: marketSize{Tokens: 3000, Trades: 100_000, Seed: 1},
	}}
	var card bool
	return command{
		name: "hot",
		about: "Answers from memory: the API server, and bare routers that write the same bytes, by turns, each kept busy by a closed loop. " +
			"Any answer but 200 fails it; CPU is that of the server's process alone. See docs/benchmarks.md#answering.",
		flags: func(f *flag.FlagSet) {
			o.flags(f)
			f.BoolVar(&card, "card", false, "measure a card that the API server has in memory instead, beside the renderer that drew it")
		},
		run: func(ctx context.Context) error {
			if err := o.check(); err != nil {
				return err
			}
			w := newWorld(o.size)
			return o.onEach(ctx, w.seedling(), func(d *database, dir string) error {
				m := &hotMeasurement{hotOptions: o, d: d, dir: dir}
				if card {
					return m.measureCard(ctx, w)
				}
				return m.measure(ctx)
			})
		},
	}
}

// measureCard measures the answer with a card, beside a renderer that drew it.
func (m *hotMeasurement) measureCard(ctx context.Context, w *world) error {
	s, own, err := startOwnPainter(ctx, m.dir, cardsRenderer, runtime.NumCPU())
	if err != nil {
		return err
	}
	const token = 10 // one that trades
	m.api, m.warmUp = []string{"--renderer", filepath.Join(own, rendererSocket)}, 2*time.Second
	m.paths = "/api/pnl-card/token/" + w.tokens[token].mint.String() + ".png"
	return errors.Join(m.measure(ctx), s.stop())
}

func (m *hotMeasurement) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s. %d round(s) of %s for each, medians; %d connections, %d clients at a time.", m.d, m.size, m.rounds, m.duration,
		m.connections, m.clients)
	if err := heading(os.Stdout, about); err != nil {
		return err
	}
	t := newHotTables()
	for path := range strings.FieldsSeq(m.paths) {
		sample, err := m.sample(ctx, path)
		if err != nil {
			return err
		}
		runs := map[string][]hotRun{}
		for round := range m.rounds {
			for _, name := range hotContenders {
				r, err := m.run(ctx, name, path, sample)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", path, name, err)
				}
				say("round %d of %d: %s, %s: %.0f/s, %.1f µs", round+1, m.rounds, path, name, r.perSecond, microseconds(r))
				runs[name] = append(runs[name], *r)
			}
		}
		t.add(fmt.Sprintf("%s (%d bytes)", path, len(sample.body)), runs)
	}
	return writeTables(os.Stdout, t.figures, t.ratios)
}

// sample is the answer that the bare contenders write.
func (m *hotMeasurement) sample(ctx context.Context, path string) (*answer, error) {
	s, err := serveAPI(ctx, m.dir, m.d.dsn, m.api...)
	if err != nil {
		return nil, err
	}
	a, err := fetch(ctx, s.address, path)
	return a, errors.Join(err, s.stop())
}

func (m *hotMeasurement) run(ctx context.Context, name, target string, sample *answer) (r *hotRun, err error) {
	var s *served
	if name == hotAPI {
		s, err = serveAPI(ctx, m.dir, m.d.dsn, m.api...)
	} else {
		s, err = serveBare(ctx, m.dir, bareOf(name, target, sample))
	}
	if err != nil {
		return nil, err
	}
	err = s.end(func() (err error) {
		r, err = m.turn(ctx, s, m.d, m.fresh(), target, sample)
		return err
	})
	return r, err
}

// turn keeps a server busy with one request, and fails unless all answers were the sample, if there is one.
func (o *hotOptions) turn(ctx context.Context, s *served, d *database, c *clients, target string, sample *answer) (*hotRun, error) {
	head := render(s.address, target)
	next := func(uint64) []byte { return head }
	if _, err := closedLoop(ctx, s.address, o.connections, o.warmUp, c, next); err != nil {
		return nil, err
	}
	var loop *closedRun
	used, err := meter(s, d, func() (err error) {
		loop, err = closedLoop(ctx, s.address, o.connections, o.duration, c, next)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := loop.statuses.only(http.StatusOK); err != nil {
		return nil, err
	}
	if sample != nil {
		if err := sameBytes(ctx, s, target, sample, loop); err != nil {
			return nil, err
		}
	}
	return &hotRun{
		perSecond: loop.perSecond(), cpu: used.server / time.Duration(loop.requests), load: used.load.Seconds() / used.wall.Seconds(),
		others: used.others, peak: used.ended.Peak,
	}, nil
}

// sameBytes fails unless everybody wrote the same bytes.
func sameBytes(ctx context.Context, s *served, target string, sample *answer, loop *closedRun) error {
	last, err := fetch(ctx, s.address, target)
	if err != nil {
		return err
	}
	if !bytes.Equal(last.body, sample.body) {
		return fmt.Errorf("its body has %d bytes that differ from the %d of the sample", len(last.body), len(sample.body))
	}
	if len(loop.lengths) != 1 || loop.lengths[len(sample.body)] == 0 {
		return fmt.Errorf("its answers had other lengths than %d: %v", len(sample.body), slices.Sorted(maps.Keys(loop.lengths)))
	}
	return nil
}

func perSecond(r *hotRun) float64 { return r.perSecond }

// microseconds are the CPU of a request.
func microseconds(r *hotRun) float64 { return float64(r.cpu) / float64(time.Microsecond) }

var hotFigures = []column[hotRun]{
	{name: "requests/s", format: "%.0f", of: perSecond},
	{name: "CPU µs", format: "%.1f", of: microseconds},
	{name: "load's cores", format: "%.2f", of: func(r *hotRun) float64 { return r.load }},
	{name: "others' cores", format: "%.2f", of: func(r *hotRun) float64 { return r.others }},
}

// hotTables have a path's figures, and the ratios, each the median over the rounds of the ratio within a round.
type hotTables struct{ figures, ratios *table }

func newHotTables() hotTables {
	return hotTables{
		columns([]string{"path", "contender"}, hotFigures),
		newTable("path", "ratio", ">wanted", ">median", "each round", ""),
	}
}

func (t hotTables) add(path string, runs map[string][]hotRun) {
	for _, name := range hotContenders {
		t.figures.add(figures([]string{path, name}, runs[name], hotFigures)...)
	}
	const wanted = 0.8
	add := func(name string, list []float64) {
		t.ratios.add(path, name, fmt.Sprintf("at least %g", wanted), fmt.Sprintf("%.3f", middle(list)), each(list, "%.2f"), verdict(middle(list) >= wanted))
	}
	for _, bare := range []string{hotBare, hotHeader} {
		add("requests/s, api / "+bare, ratios(values(runs[hotAPI], perSecond), values(runs[bare], perSecond)))
		add("CPU per request, "+bare+" / api", ratios(values(runs[bare], microseconds), values(runs[hotAPI], microseconds)))
	}
}
