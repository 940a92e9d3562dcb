package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

const hotUsage = `bench hot measures what the API server adds to writing an answer that it has in memory.

  go run ./hack/bench hot [flags]

Contenders, one after the other, each a process of its own, in rounds:

  api           the API server, all of its middleware
  bare          a gorilla/mux router with the one route, which writes the same body, with Content-Type and Content-Length
  bare+headers  the same, which also writes the headers of the API server's answer, made beforehand

A fixed number of connections is kept busy. Requests claim to come from many clients, by X-Forwarded-For; clients are
replaced by others before they reach their limit. Any answer but 200 fails the measurement. CPU is user and system time
of the server's process alone.

  go run ./hack/bench hot --rounds 1 --cpuprofile cpu.out

Flags:
`

// hotPaths are the answers that the server has in memory, but for those of the launch board: see bench board. Those that it
// has no route for are left out, and named.
var hotPaths = []string{
	"/api/market/live",
	"/api/majors",
	"/api/majors?chain=base",
}

// hotRun is one run of one contender.
type hotRun struct {
	perSecond    float64
	cpu          time.Duration // of the server, per request
	p50, p99     time.Duration
	load, others float64 // cores that the load took, and that others did
	clients      int
	peak         int64
}

const (
	hotAPI    = "api"
	hotBare   = "bare"
	hotHeader = "bare+headers"
)

var hotContenders = []string{hotAPI, hotBare, hotHeader}

type hotOptions struct {
	apiOptions

	connections int
	paths       string
	// api are further flags of the API server's process.
	api []string
}

func hotCommand(ctx context.Context, args []string) error {
	o := hotOptions{apiOptions: apiOptions{
		command: "hot", rounds: 5, duration: 5 * time.Second, warmUp: time.Second, db: sqliteKind,
		size: marketSize{Tokens: 3000, Trades: 100_000},
	}}
	err := o.parse(args, hotUsage, func(f *flag.FlagSet) {
		f.IntVar(&o.connections, "connections", 64, "connections that are kept busy")
		f.StringVar(&o.paths, "paths", strings.Join(hotPaths, " "), "`PATHS` to measure, separated by spaces")
	})
	if err != nil {
		return err
	}
	w := newWorld(o.size)
	for _, kind := range o.kinds {
		if err := o.withDatabase(ctx, kind, w, func(d *database) error {
			return scratch(func(dir string) error { return o.measure(ctx, d, dir) })
		}); err != nil {
			return err
		}
	}
	return nil
}

func (o *hotOptions) measure(ctx context.Context, d *database, dir string) error {
	about := fmt.Sprintf("%s with %s. %d round(s) of %s for each, medians; %d connections, %d clients at a time, each replaced after %d requests.",
		d, o.size, o.rounds, o.duration, o.connections, o.clients.Together, o.clients.Each)
	if err := heading(os.Stdout, o.command, o.args, about); err != nil {
		return err
	}
	figures := newTable("path", "contender", ">requests/s", ">CPU µs", ">p50 ms", ">p99 ms", ">peak MB", ">clients", ">load's cores", ">others' cores")
	ratios := newTable("path", "ratio", ">wanted", ">median", "each round", "")
	var missing []string
	for path := range strings.FieldsSeq(o.paths) {
		sample, err := o.sample(ctx, d, dir, path)
		if err != nil {
			return err
		}
		if sample.notRouted() {
			missing = append(missing, path)
			continue
		}
		runs := map[string][]hotRun{}
		for round := range o.rounds {
			for _, name := range hotContenders {
				r, err := o.run(ctx, d, dir, name, path, sample, "")
				if err != nil {
					return fmt.Errorf("%s, %s: %w", path, name, err)
				}
				say("round %d of %d: %s, %s: %.0f/s, %.1f µs", round+1, o.rounds, path, name, r.perSecond, microseconds(r.cpu))
				runs[name] = append(runs[name], *r)
			}
		}
		hotRows(figures, ratios, fmt.Sprintf("%s (%d bytes)", path, len(sample.body)), runs)
		if o.cpuProfile != "" {
			if _, err := o.run(ctx, d, dir, hotAPI, path, sample, o.cpuProfile); err != nil {
				return err
			}
		}
	}
	if err := figures.write(os.Stdout); err != nil {
		return err
	}
	if err := ratios.write(os.Stdout); err != nil {
		return err
	}
	if len(missing) > 0 {
		_, err := fmt.Fprintf(os.Stdout, "Not measured, because the server has no such route: %s\n\n", strings.Join(missing, ", "))
		return err
	}
	return nil
}

// sample is the answer that the bare contenders write.
func (o *hotOptions) sample(ctx context.Context, d *database, dir, path string) (*answerOf, error) {
	s, err := serveAPI(ctx, dir, d.dsn, o.api...)
	if err != nil {
		return nil, err
	}
	a, err := fetch(ctx, s.address, path)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK && !a.notRouted() {
		return nil, fmt.Errorf("%s answers %d: %s", path, a.status, a.body)
	}
	return a, s.stop()
}

// bareOf is what a bare contender writes.
func bareOf(name, target string, sample *answerOf) *bareAnswer {
	path, _, _ := strings.Cut(target, "?")
	a := &bareAnswer{Path: path, Header: http.Header{"Content-Type": sample.header["Content-Type"]}, Body: sample.body}
	if name == hotHeader {
		a.Header = maps.Clone(sample.header)
		for _, ofTheConnection := range []string{"Connection", "Date", "Content-Length"} {
			a.Header.Del(ofTheConnection)
		}
	}
	return a
}

func (o *hotOptions) run(ctx context.Context, d *database, dir, name, target string, sample *answerOf, profile string) (_ *hotRun, err error) {
	var s *served
	if name == hotAPI {
		s, err = serveAPI(ctx, dir, d.dsn, o.api...)
	} else {
		s, err = serveBare(ctx, dir, bareOf(name, target, sample))
	}
	if err != nil {
		return nil, err
	}
	c := o.fresh()
	head := render(s.address, target)
	next := func(uint64) []byte { return head }
	if _, err := closedLoop(ctx, s.address, o.connections, o.warmUp, c, next); err != nil {
		return nil, err
	}
	var loop *closedRun
	used, err := meter(s, d, s.maybeProfiled(profile, func() (err error) {
		loop, err = closedLoop(ctx, s.address, o.connections, o.duration, c, next)
		return err
	}))
	if err != nil {
		return nil, err
	}
	if err := loop.statuses.only(http.StatusOK); err != nil {
		return nil, err
	}
	if err := sameBytes(ctx, s, target, sample, loop); err != nil {
		return nil, err
	}
	r := &hotRun{
		perSecond: loop.perSecond(), cpu: used.server / time.Duration(loop.requests), clients: c.used(), peak: used.ended.Peak,
		p50: quantile(loop.took, 0.5), p99: quantile(loop.took, 0.99), load: used.load.Seconds() / used.wall.Seconds(), others: used.others,
	}
	return r, s.stop()
}

// sameBytes fails unless everybody wrote the same bytes.
func sameBytes(ctx context.Context, s *served, target string, sample *answerOf, loop *closedRun) error {
	if err := s.silent(); err != nil {
		return err
	}
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

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// hotRows adds a path's medians, and the ratios, each the median over the rounds of the ratio within a round.
func hotRows(figures, ratios *table, path string, runs map[string][]hotRun) {
	of := func(name string, f func(*hotRun) float64) []float64 {
		var out []float64
		for i := range runs[name] {
			out = append(out, f(&runs[name][i]))
		}
		return out
	}
	perSecond := func(r *hotRun) float64 { return r.perSecond }
	cpu := func(r *hotRun) float64 { return microseconds(r.cpu) }
	for _, name := range hotContenders {
		m := func(format string, f func(*hotRun) float64) string { return fmt.Sprintf(format, middle(of(name, f))) }
		figures.add(path, name, m("%.0f", perSecond), m("%.1f", cpu),
			m("%.2f", func(r *hotRun) float64 { return milliseconds(r.p50) }), m("%.2f", func(r *hotRun) float64 { return milliseconds(r.p99) }),
			m("%.0f", func(r *hotRun) float64 { return float64(r.peak) / 1e6 }), m("%.0f", func(r *hotRun) float64 { return float64(r.clients) }),
			m("%.2f", func(r *hotRun) float64 { return r.load }), m("%.2f", func(r *hotRun) float64 { return r.others }))
	}
	const wanted = 0.8
	for _, bare := range []string{hotBare, hotHeader} {
		for _, measure := range []struct {
			name        string
			over, under []float64
		}{
			{"requests/s, api / " + bare, of(hotAPI, perSecond), of(bare, perSecond)},
			{"CPU per request, " + bare + " / api", of(bare, cpu), of(hotAPI, cpu)},
		} {
			var ratio []float64
			for i := range measure.over {
				ratio = append(ratio, measure.over[i]/measure.under[i])
			}
			ratios.add(path, measure.name, fmt.Sprintf("at least %g", wanted), fmt.Sprintf("%.3f", middle(ratio)), each(ratio, "%.2f"),
				verdict(middle(ratio) >= wanted))
		}
	}
}
