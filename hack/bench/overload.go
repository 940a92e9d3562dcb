package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"
)

// mostConnections is how many the overload has at most. Requests beyond wait for one, and their wait counts.
const mostConnections = 2000

// overloadRun is one round.
type overloadRun struct {
	carried float64 // requests/s
	run     *openRun
	cpu     float64 // cores that the server used
	rows    float64 // and a database server
	others  float64 // and that others did
	peak    int64
}

// overloadsRun is the measurement on one database.
type overloadsRun struct {
	*onMarket

	times       float64
	connections int
}

// overloadCommand is the command.
func overloadCommand() command {
	o := bigMarket()
	o.duration, o.runs = 20*time.Second, 2
	var m overloadsRun
	return command{
		name: "overload",
		about: "Requests when there are more than the server carries: a closed loop finds what it carries, an open loop sends a multiple of that. " +
			"Every answer must be 200 or 503; a growing queue shows in the last third's times. See docs/benchmarks.md#answering.",
		flags: func(f *flag.FlagSet) {
			o.flags(f)
			o.durationFlag(f)
			o.zipfFlag(f)
			f.Float64Var(&m.times, "times", 2, "multiple of what the server carries")
			f.IntVar(&m.connections, "connections", 32, "connections that find what the server carries")
		},
		run: func(ctx context.Context) error {
			return o.onMarkets(ctx, func(on *onMarket) error {
				m.onMarket = on
				return m.measure(ctx)
			})
		},
	}
}

func (m *overloadsRun) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s. %d round(s), medians; closed loop of %d connections for %s, then open loop at %g times that rate for %s "+
		"over at most %d connections; Zipf %g.", m.d, m.size, m.rounds, m.connections, m.duration/2, m.times, m.duration, mostConnections, m.zipf)
	if err := heading(os.Stdout, about); err != nil {
		return err
	}
	var runs []overloadRun
	for round := range m.rounds {
		s, err := m.serve(ctx)
		if err != nil {
			return err
		}
		r, err := m.round(ctx, s, uint64(round))
		if err := errors.Join(err, s.stop()); err != nil {
			return err
		}
		say("%s, round %d of %d: carries %.0f/s; of twice that %s", m.d, round+1, m.rounds, r.carried, r.run.statuses())
		runs = append(runs, *r)
	}
	return eachRound(runs, overloadFigures).write(os.Stdout)
}

func (m *overloadsRun) round(ctx context.Context, s *served, round uint64) (*overloadRun, error) {
	c := m.fresh()
	targets := m.targets(s.address, round)
	next := func(n uint64) []byte { return targets[n%uint64(len(targets))].head }
	if _, err := closedLoop(ctx, s.address, m.connections, m.warmUp, c, next); err != nil {
		return nil, err
	}
	carried, err := closedLoop(ctx, s.address, m.connections, m.duration/2, c, next)
	if err != nil {
		return nil, err
	}
	if err := carried.statuses.only(http.StatusOK, refused); err != nil {
		return nil, err
	}
	r := &overloadRun{carried: float64(carried.statuses[http.StatusOK]) / carried.wall.Seconds()}
	loop := openLoop{
		address: s.address, rate: r.carried * m.times, length: m.duration, most: mostConnections, clients: c, grace: 5 * time.Second,
		next: func(n int) (int, []byte) {
			t := &targets[n%len(targets)]
			return t.kind, t.head
		},
	}
	used, err := meter(s, m.d, func() (err error) {
		r.run, err = loop.run(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.cpu, r.rows = used.server.Seconds()/m.duration.Seconds(), used.database.Seconds()/m.duration.Seconds()
	r.others, r.peak = used.others, used.ended.Peak
	const unanswered = 0
	return r, r.run.statuses().only(http.StatusOK, refused, unanswered)
}

type overloadTarget struct {
	kind int
	head []byte
}

// targets renders many requests beforehand, so that the load stays light.
func (m *overloadsRun) targets(address string, round uint64) []overloadTarget {
	draw := newDrawer(m.world, m.zipf, round)
	out := make([]overloadTarget, 20_000)
	for i := range out {
		e := &perToken[i%len(perToken)]
		out[i] = overloadTarget{i % len(perToken), render(address, e.target(m.world, draw.draw(e.tokens)))}
	}
	return out
}

// took is the latency that a share of the answers with a status has at most, in one of equal parts of the run.
func took(q float64, status, part, parts int) func(*overloadRun) float64 {
	return func(r *overloadRun) float64 { return milliseconds(quantile(r.run.part(part, parts).of(-1, status), q)) }
}

// share is how many of a hundred requests were answered with a status.
func share(status int) func(*overloadRun) float64 {
	return func(r *overloadRun) float64 {
		return 100 * float64(r.run.statuses()[status]) / float64(len(r.run.shots))
	}
}

var overloadFigures = []column[overloadRun]{
	{name: "carried, requests/s", format: "%.0f", of: func(r *overloadRun) float64 { return r.carried }},
	{name: "sent, requests/s", format: "%.0f", of: func(r *overloadRun) float64 {
		return float64(len(r.run.shots)) / (r.run.shots[len(r.run.shots)-1].due + 1).Seconds()
	}},
	{name: "admitted, %", format: "%.1f", of: share(http.StatusOK)},
	{name: "admitted, p50 ms", format: "%.1f", of: took(0.5, http.StatusOK, 0, 1)},
	{name: "admitted, p99 ms", format: "%.1f", of: took(0.99, http.StatusOK, 0, 1)},
	{name: "refused by 503, %", format: "%.1f", of: share(refused)},
	{name: "refused, p99 ms", format: "%.1f", of: took(0.99, refused, 0, 1)},
	{name: "not answered, %", format: "%.1f", of: share(0)},
	{name: "first third, p99 ms", format: "%.1f", of: took(0.99, http.StatusOK, 0, 3)},
	{name: "last third, p99 ms", format: "%.1f", of: took(0.99, http.StatusOK, 2, 3)},
	{name: "most requests that waited for a connection", format: "%.0f", of: func(r *overloadRun) float64 { return float64(r.run.waiting) }},
	{name: "server's cores", format: "%.2f", of: func(r *overloadRun) float64 { return r.cpu }},
	{name: "database server's cores", format: "%.2f", of: func(r *overloadRun) float64 { return r.rows }},
	{name: "server's peak MB", format: "%.0f", of: func(r *overloadRun) float64 { return float64(r.peak) / 1e6 }},
	{name: "others' cores", format: "%.2f", of: func(r *overloadRun) float64 { return r.others }},
}
