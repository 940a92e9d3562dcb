// Package overload measures what becomes of requests when there are more than the server carries.
package overload

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// mostConnections is how many the overload has at most. Requests beyond wait for one, and their wait counts.
const mostConnections = 2000

// overloadRun is one round.
type overloadRun struct {
	carried float64 // requests/s
	run     *lab.OpenRun
	cpu     float64 // cores that the server used
	rows    float64 // and a database server
	others  float64 // and that others did
	peak    int64
}

// measurement is the measurement on one database.
type measurement struct {
	*lab.Market

	times       float64
	connections int
}

// Command is the command.
func Command() lab.Command {
	o := lab.BigMarket()
	o.Duration, o.Runs = 20*time.Second, 2
	var m measurement
	return lab.Command{
		Name: "overload",
		About: "Requests when there are more than the server carries: a closed loop finds what it carries, an open loop sends a multiple of that. " +
			"Every answer must be 200 or 503; a growing queue shows in the last third's times. See docs/benchmarks.md#answering.",
		Flags: func(f *flag.FlagSet) {
			o.Flags(f)
			o.LoadFlags(f)
			o.ZipfFlag(f)
			f.Float64Var(&m.times, "times", 2, "multiple of what the server carries")
			f.IntVar(&m.connections, "connections", 32, "connections that find what the server carries")
		},
		Run: func(ctx context.Context) error {
			return o.OnMarkets(ctx, func(on *lab.Market) error {
				m.Market = on
				return m.measure(ctx)
			})
		},
	}
}

func (m *measurement) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s. %d round(s), medians; closed loop of %d connections for %s, then open loop at %g times that rate for %s "+
		"over at most %d connections; Zipf %g.", m.Database, m.Size, m.Rounds, m.connections, m.Duration/2, m.times, m.Duration, mostConnections, m.Zipf)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	var runs []overloadRun
	for round := range m.Rounds {
		s, err := m.Serve(ctx)
		if err != nil {
			return err
		}
		r, err := m.round(ctx, s, uint64(round))
		if err := errors.Join(err, s.Stop()); err != nil {
			return err
		}
		lab.Say("%s, round %d of %d: carries %.0f/s; of twice that %s", m.Database, round+1, m.Rounds, r.carried, r.run.Statuses())
		runs = append(runs, *r)
	}
	return lab.EachRound(runs, overloadFigures).Write(os.Stdout)
}

func (m *measurement) round(ctx context.Context, s *lab.Served, round uint64) (*overloadRun, error) {
	c := m.Fresh()
	targets := m.targets(s.Address, round)
	next := func(n uint64) []byte { return targets[n%uint64(len(targets))].head }
	if _, err := lab.ClosedLoop(ctx, s.Address, m.connections, m.WarmUp, c, next); err != nil {
		return nil, err
	}
	carried, err := lab.ClosedLoop(ctx, s.Address, m.connections, m.Duration/2, c, next)
	if err != nil {
		return nil, err
	}
	if err := carried.Statuses.Only(http.StatusOK, lab.Refused); err != nil {
		return nil, err
	}
	r := &overloadRun{carried: float64(carried.Statuses[http.StatusOK]) / carried.Wall.Seconds()}
	loop := lab.OpenLoop{
		Address: s.Address, Rate: r.carried * m.times, Length: m.Duration, Most: mostConnections, Clients: c, Grace: 5 * time.Second,
		Next: func(n int) (int, []byte) {
			t := &targets[n%len(targets)]
			return t.kind, t.head
		},
	}
	used, err := lab.Meter(s, m.Database.Postgres, func() (err error) {
		r.run, err = loop.Run(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.cpu, r.rows = used.Server.Seconds()/m.Duration.Seconds(), used.Database.Seconds()/m.Duration.Seconds()
	r.others, r.peak = used.Others(), used.Ended.Peak
	const unanswered = 0
	return r, r.run.Statuses().Only(http.StatusOK, lab.Refused, unanswered)
}

type overloadTarget struct {
	kind int
	head []byte
}

// targets renders many requests beforehand, so that the load stays light.
func (m *measurement) targets(address string, round uint64) []overloadTarget {
	draw := lab.NewDrawer(m.World, m.Zipf, round)
	out := make([]overloadTarget, 20_000)
	for i := range out {
		e := &lab.PerToken[i%len(lab.PerToken)]
		out[i] = overloadTarget{i % len(lab.PerToken), lab.Render(address, e.Target(m.World, draw.Draw(e.Tokens)))}
	}
	return out
}

// took is the latency that a share of the answers with a status has at most, in one of equal parts of the run.
func took(q float64, status, part, parts int) func(*overloadRun) float64 {
	return func(r *overloadRun) float64 {
		return lab.Milliseconds(lab.Quantile(r.run.Part(part, parts).Of(-1, status), q))
	}
}

// share is how many of a hundred requests were answered with a status.
func share(status int) func(*overloadRun) float64 {
	return func(r *overloadRun) float64 {
		return 100 * float64(r.run.Statuses()[status]) / float64(len(r.run.Shots))
	}
}

var overloadFigures = []lab.Column[overloadRun]{
	{Name: "carried, requests/s", Format: "%.0f", Of: func(r *overloadRun) float64 { return r.carried }},
	{Name: "sent, requests/s", Format: "%.0f", Of: func(r *overloadRun) float64 {
		return float64(len(r.run.Shots)) / (r.run.Shots[len(r.run.Shots)-1].Due + 1).Seconds()
	}},
	{Name: "admitted, %", Format: "%.1f", Of: share(http.StatusOK)},
	{Name: "admitted, p50 ms", Format: "%.1f", Of: took(0.5, http.StatusOK, 0, 1)},
	{Name: "admitted, p99 ms", Format: "%.1f", Of: took(0.99, http.StatusOK, 0, 1)},
	{Name: "refused by 503, %", Format: "%.1f", Of: share(lab.Refused)},
	{Name: "refused, p99 ms", Format: "%.1f", Of: took(0.99, lab.Refused, 0, 1)},
	{Name: "not answered, %", Format: "%.1f", Of: share(0)},
	{Name: "first third, p99 ms", Format: "%.1f", Of: took(0.99, http.StatusOK, 0, 3)},
	{Name: "last third, p99 ms", Format: "%.1f", Of: took(0.99, http.StatusOK, 2, 3)},
	{Name: "most requests that waited for a connection", Format: "%.0f", Of: func(r *overloadRun) float64 { return float64(r.run.Waiting) }},
	{Name: "server's cores", Format: "%.2f", Of: func(r *overloadRun) float64 { return r.cpu }},
	{Name: "database server's cores", Format: "%.2f", Of: func(r *overloadRun) float64 { return r.rows }},
	{Name: "server's peak MB", Format: "%.0f", Of: func(r *overloadRun) float64 { return float64(r.peak) / 1e6 }},
	{Name: "others' cores", Format: "%.2f", Of: func(r *overloadRun) float64 { return r.others }},
}
