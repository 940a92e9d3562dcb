package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"
)

const overloadUsage = `bench overload measures what becomes of requests when there are more than the server carries.

  go run ./hack/bench overload [flags]

First a closed loop finds the rate that the server carries, with the operations about single tokens in turn. Then an open
loop sends a multiple of that. Every answer must be 200 or 503. A request that finds no connection free waits for one, and
its wait counts; one that is not answered a few seconds after the end is not answered. That the queue grows shows in the
last third's times being above the first third's.

The database is that of bench tokens.

Flags:
`

// refused is the status of an answer that turns a request away.
const refused = http.StatusServiceUnavailable

type overloadOptions struct {
	*apiOptions

	times       float64
	connections int
	most        int
}

// overloadRun is one round.
type overloadRun struct {
	carried float64 // requests/s
	run     *openRun
	cpu     float64 // cores that the server used
	rows    float64 // and a database server
	others  float64 // and that others did
	peak    int64
}

func overloadCommand(ctx context.Context, args []string) error {
	o := overloadOptions{apiOptions: bigMarket("overload")}
	o.duration, o.runs = 20*time.Second, 2
	if err := o.parse(args, overloadUsage, func(f *flag.FlagSet) {
		f.Float64Var(&o.zipf, "zipf", 1, "exponent of Zipf's law, by which tokens are drawn")
		f.Float64Var(&o.times, "times", 2, "multiple of what the server carries")
		f.IntVar(&o.connections, "connections", 32, "connections that find what the server carries")
		f.IntVar(&o.most, "most", 2000, "the most connections of the overload")
	}); err != nil {
		return err
	}
	w := newWorld(o.size)
	for _, kind := range o.kinds {
		if err := o.withDatabase(ctx, kind, w, func(d *database) error {
			return scratch(func(dir string) error { return o.measure(ctx, d, dir, w) })
		}); err != nil {
			return err
		}
	}
	return nil
}

func (o *overloadOptions) measure(ctx context.Context, d *database, dir string, w *world) error {
	about := fmt.Sprintf("%s with %s. %d round(s), medians; closed loop of %d connections for %s, then open loop at %g times that rate for %s "+
		"over at most %d connections; Zipf %g.", d, o.size, o.rounds, o.connections, o.duration/2, o.times, o.duration, o.most, o.zipf)
	if err := heading(os.Stdout, o.command, o.args, about); err != nil {
		return err
	}
	var runs []overloadRun
	for round := range o.rounds {
		r, err := o.round(ctx, d, dir, w, uint64(round), "")
		if err != nil {
			return err
		}
		say("%s, round %d of %d: carries %.0f/s; of twice that %s", d, round+1, o.rounds, r.carried, r.run.statuses())
		runs = append(runs, *r)
	}
	if err := overloadReport(runs); err != nil || o.cpuProfile == "" {
		return err
	}
	_, err := o.round(ctx, d, dir, w, 1000, o.cpuProfile+"."+d.kind)
	return err
}

func (o *overloadOptions) round(ctx context.Context, d *database, dir string, w *world, round uint64, profile string) (*overloadRun, error) {
	s, err := serveAPI(ctx, dir, d.dsn)
	if err != nil {
		return nil, err
	}
	list, _, err := servedOf(ctx, s.address, w, perToken)
	if err != nil {
		return nil, err
	}
	c := o.fresh()
	targets := o.targets(s.address, w, list, round)
	next := func(n uint64) []byte { return targets[n%uint64(len(targets))].head }
	if _, err := closedLoop(ctx, s.address, o.connections, o.warmUp, c, next); err != nil {
		return nil, err
	}
	carried, err := closedLoop(ctx, s.address, o.connections, o.duration/2, c, next)
	if err != nil {
		return nil, err
	}
	if err := carried.statuses.only(http.StatusOK, refused); err != nil {
		return nil, err
	}
	r := &overloadRun{carried: float64(carried.statuses[http.StatusOK]) / carried.wall.Seconds()}
	loop := openLoop{
		address: s.address, rate: r.carried * o.times, length: o.duration, most: o.most, clients: c, grace: 5 * time.Second,
		next: func(n int) (int, []byte) {
			t := &targets[n%len(targets)]
			return t.kind, t.head
		},
	}
	used, err := meter(s, d, s.maybeProfiled(profile, func() (err error) {
		r.run, err = loop.run(ctx)
		return err
	}))
	if err != nil {
		return nil, err
	}
	r.cpu, r.rows = used.server.Seconds()/o.duration.Seconds(), used.database.Seconds()/o.duration.Seconds()
	r.peak, r.others = used.ended.Peak, used.others
	const unanswered = 0
	if err := r.run.statuses().only(http.StatusOK, refused, unanswered); err != nil {
		return nil, err
	}
	return r, s.stop()
}

type overloadTarget struct {
	kind int
	head []byte
}

// targets renders many requests beforehand, so that the load stays light.
func (o *overloadOptions) targets(address string, w *world, list []endpoint, round uint64) []overloadTarget {
	draw := newDrawer(w, o.zipf, round)
	out := make([]overloadTarget, 20_000)
	for i := range out {
		kind := i % len(list)
		out[i] = overloadTarget{kind, render(address, list[kind].target(w, draw.draw(list[kind].tokens)))}
	}
	return out
}

func overloadReport(runs []overloadRun) error {
	t := newTable("", ">median", "each round")
	row := func(name, format string, f func(*overloadRun) float64) {
		var values []float64
		for i := range runs {
			values = append(values, f(&runs[i]))
		}
		t.add(name, fmt.Sprintf(format, middle(values)), each(values, format))
	}
	at := func(q float64, status int, part, parts int) func(*overloadRun) float64 {
		return func(r *overloadRun) float64 { return milliseconds(quantile(r.run.part(part, parts).of(-1, status), q)) }
	}
	share := func(status int) func(*overloadRun) float64 {
		return func(r *overloadRun) float64 {
			return 100 * float64(r.run.statuses()[status]) / float64(len(r.run.shots))
		}
	}
	row("carried, requests/s", "%.0f", func(r *overloadRun) float64 { return r.carried })
	row("sent, requests/s", "%.0f", func(r *overloadRun) float64 {
		return float64(len(r.run.shots)) / (r.run.shots[len(r.run.shots)-1].due + 1).Seconds()
	})
	row("admitted, %", "%.1f", share(http.StatusOK))
	row("admitted, p50 ms", "%.1f", at(0.5, http.StatusOK, 0, 1))
	row("admitted, p99 ms", "%.1f", at(0.99, http.StatusOK, 0, 1))
	row("refused by 503, %", "%.1f", share(refused))
	row("refused, p99 ms", "%.1f", at(0.99, refused, 0, 1))
	row("not answered, %", "%.1f", share(0))
	row("first third, p99 ms", "%.1f", at(0.99, http.StatusOK, 0, 3))
	row("last third, p99 ms", "%.1f", at(0.99, http.StatusOK, 2, 3))
	row("most requests that waited for a connection", "%.0f", func(r *overloadRun) float64 { return float64(r.run.waiting) })
	row("server's cores", "%.2f", func(r *overloadRun) float64 { return r.cpu })
	row("database server's cores", "%.2f", func(r *overloadRun) float64 { return r.rows })
	row("server's peak MB", "%.0f", func(r *overloadRun) float64 { return float64(r.peak) / 1e6 })
	row("others' cores", "%.2f", func(r *overloadRun) float64 { return r.others })
	return t.write(os.Stdout)
}
