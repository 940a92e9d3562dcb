// Package hot measures what the API server adds to a bare router.
package hot

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

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/bench/peers/cards"
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
	lab.Options

	connections int
	paths       string
}

func (o *hotOptions) flags(f *flag.FlagSet) {
	o.Flags(f)
	o.LoadFlags(f)
	f.IntVar(&o.connections, "connections", 64, "connections that are kept busy")
	f.StringVar(&o.paths, "paths", o.paths, "`PATHS` to measure, separated by spaces")
}

// measurement is the measurement on one database.
type measurement struct {
	*hotOptions

	d   *lab.Database
	dir string
	// api are further flags of the API server's process.
	api []string
}

// Command is the command.
func Command() lab.Command {
	o := &hotOptions{paths: hotPaths, Options: lab.Options{
		Rounds: 5, Duration: 5 * time.Second, WarmUp: time.Second, DB: lab.SQLite, Size: lab.MarketSize{Tokens: 3000, Trades: 100_000, Seed: 1},
	}}
	var card bool
	return lab.Command{
		Name: "hot",
		About: "Answers from memory: the API server, and bare routers that write the same bytes, by turns, each kept busy by a closed loop. " +
			"Any answer but 200 fails it; CPU is that of the server's process alone. See docs/benchmarks.md#answering.",
		Flags: func(f *flag.FlagSet) {
			o.flags(f)
			f.BoolVar(&card, "card", false, "measure a card that the API server has in memory instead, beside the renderer that drew it")
		},
		Run: func(ctx context.Context) error {
			var w *lab.World
			seedling := func() *lab.Seedling {
				w = lab.NewWorld(o.Size)
				return w.Seedling()
			}
			return o.OnEach(ctx, seedling, func(d *lab.Database, dir string) error {
				m := &measurement{hotOptions: o, d: d, dir: dir}
				if card {
					return m.measureCard(ctx, w)
				}
				return m.measure(ctx)
			})
		},
	}
}

// measureCard measures the answer with a card, beside a renderer that drew it.
func (m *measurement) measureCard(ctx context.Context, w *lab.World) error {
	s, own, err := cards.StartOwn(ctx, m.dir, "draw", runtime.NumCPU())
	if err != nil {
		return err
	}
	const token = 10 // one that trades
	m.api, m.WarmUp = []string{"--renderer", filepath.Join(own, cards.Socket)}, 2*time.Second
	m.paths = "/api/pnl-card/token/" + w.Tokens[token].Mint.String() + ".png"
	return errors.Join(m.measure(ctx), s.Stop())
}

func (m *measurement) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s. %d round(s) of %s for each, medians; %d connections, %d clients at a time.", m.d, m.Size, m.Rounds, m.Duration,
		m.connections, m.Clients)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	t := newHotTables()
	for path := range strings.FieldsSeq(m.paths) {
		sample, err := m.sample(ctx, path)
		if err != nil {
			return err
		}
		runs := map[string][]hotRun{}
		for round := range m.Rounds {
			for _, name := range hotContenders {
				r, err := m.run(ctx, name, path, sample)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", path, name, err)
				}
				lab.Say("round %d of %d: %s, %s: %.0f/s, %.1f µs", round+1, m.Rounds, path, name, r.perSecond, microseconds(r))
				runs[name] = append(runs[name], *r)
			}
		}
		t.add(fmt.Sprintf("%s (%d bytes)", path, len(sample.Body)), runs)
	}
	return lab.WriteTables(os.Stdout, t.figures, t.ratios)
}

// sample is the answer that the bare contenders write.
func (m *measurement) sample(ctx context.Context, path string) (*lab.Answer, error) {
	s, err := lab.ServeAPI(ctx, m.dir, m.d.DSN, m.api...)
	if err != nil {
		return nil, err
	}
	a, err := lab.Fetch(ctx, s.Address, path)
	return a, errors.Join(err, s.Stop())
}

func (m *measurement) run(ctx context.Context, name, target string, sample *lab.Answer) (r *hotRun, err error) {
	var s *lab.Served
	if name == hotAPI {
		s, err = lab.ServeAPI(ctx, m.dir, m.d.DSN, m.api...)
	} else {
		s, err = serveBare(ctx, m.dir, bareOf(name, target, sample))
	}
	if err != nil {
		return nil, err
	}
	err = s.End(func() (err error) {
		r, err = m.turn(ctx, s, m.d, m.Fresh(), target, sample)
		return err
	})
	return r, err
}

// turn keeps a server busy with one request, and fails unless all answers were the sample, if there is one.
func (o *hotOptions) turn(ctx context.Context, s *lab.Served, d *lab.Database, c *lab.Clients, target string, sample *lab.Answer) (*hotRun, error) {
	head := lab.Render(s.Address, target)
	next := func(uint64) []byte { return head }
	if _, err := lab.ClosedLoop(ctx, s.Address, o.connections, o.WarmUp, c, next); err != nil {
		return nil, err
	}
	var loop *lab.ClosedRun
	used, err := lab.Meter(s, d.Postgres, func() (err error) {
		loop, err = lab.ClosedLoop(ctx, s.Address, o.connections, o.Duration, c, next)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := loop.Statuses.Only(http.StatusOK); err != nil {
		return nil, err
	}
	if sample != nil {
		if err := sameBytes(ctx, s, target, sample, loop); err != nil {
			return nil, err
		}
	}
	return &hotRun{
		perSecond: loop.PerSecond(), cpu: used.Server / time.Duration(loop.Requests), load: used.Load.Seconds() / used.Wall.Seconds(),
		others: used.Others(), peak: used.Ended.Peak,
	}, nil
}

// sameBytes fails unless everybody wrote the same bytes.
func sameBytes(ctx context.Context, s *lab.Served, target string, sample *lab.Answer, loop *lab.ClosedRun) error {
	last, err := lab.Fetch(ctx, s.Address, target)
	if err != nil {
		return err
	}
	if !bytes.Equal(last.Body, sample.Body) {
		return fmt.Errorf("its body has %d bytes that differ from the %d of the sample", len(last.Body), len(sample.Body))
	}
	if len(loop.Lengths) != 1 || loop.Lengths[len(sample.Body)] == 0 {
		return fmt.Errorf("its answers had other lengths than %d: %v", len(sample.Body), slices.Sorted(maps.Keys(loop.Lengths)))
	}
	return nil
}

func perSecond(r *hotRun) float64 { return r.perSecond }

// microseconds are the CPU of a request.
func microseconds(r *hotRun) float64 { return float64(r.cpu) / float64(time.Microsecond) }

var hotFigures = []lab.Column[hotRun]{
	{Name: "requests/s", Format: "%.0f", Of: perSecond},
	{Name: "CPU µs", Format: "%.1f", Of: microseconds},
	{Name: "load's cores", Format: "%.2f", Of: func(r *hotRun) float64 { return r.load }},
	{Name: "others' cores", Format: "%.2f", Of: func(r *hotRun) float64 { return r.others }},
}

// hotTables have a path's figures, and the ratios, each the median over the rounds of the ratio within a round.
type hotTables struct{ figures, ratios *lab.Table }

func newHotTables() hotTables {
	return hotTables{
		lab.Columns([]string{"path", "contender"}, hotFigures),
		lab.NewTable("path", "ratio", ">wanted", ">median", "each round", ""),
	}
}

func (t hotTables) add(path string, runs map[string][]hotRun) {
	for _, name := range hotContenders {
		t.figures.Add(lab.Figures([]string{path, name}, runs[name], hotFigures)...)
	}
	const wanted = 0.8
	add := func(name string, list []float64) {
		t.ratios.Add(path, name, fmt.Sprintf("at least %g", wanted), fmt.Sprintf("%.3f", lab.Middle(list)), lab.Each(list, "%.2f"), lab.Verdict(lab.Middle(list) >= wanted))
	}
	for _, bare := range []string{hotBare, hotHeader} {
		add("requests/s, api / "+bare, lab.Ratios(lab.Values(runs[hotAPI], perSecond), lab.Values(runs[bare], perSecond)))
		add("CPU per request, "+bare+" / api", lab.Ratios(lab.Values(runs[bare], microseconds), lab.Values(runs[hotAPI], microseconds)))
	}
}
