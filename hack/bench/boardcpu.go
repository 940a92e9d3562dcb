package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// cpuRun is what the API server used at one rate of trades while nobody asked it.
type cpuRun struct {
	arrived *arrived
	used    *reading
	// rank is the CPU of one ranking; it can be told from the rest where nothing arrives, and is 0 elsewhere.
	rank time.Duration
}

// sampledEvery is how often the server's CPU is read: the server looks at the database twice as often.
const sampledEvery = time.Second

// round measures every rate, on one server.
func (m *cpuMeasurement) round(ctx context.Context, round int) error {
	return m.served(ctx, func(api *served) error {
		for _, rate := range m.rates {
			r := &cpuRun{}
			var err error
			if r.arrived, err = m.arrivals.during(ctx, rate, func() error { return m.sample(ctx, api, rate, r) }); err != nil {
				return err
			}
			say("%s, round %d of %d: %g trades/s: %.0f ms of CPU per %s; %s", m.d, round+1, m.rounds, rate, cpuPerRanking(r), rankEvery, r.arrived)
			m.peak = max(m.peak, r.used.ended.Peak)
			m.runs[rate] = append(m.runs[rate], *r)
		}
		return nil
	})
}

func (m *cpuMeasurement) sample(ctx context.Context, api *served, rate float64, r *cpuRun) error {
	wait.For(ctx, settling)
	var samples []time.Duration
	used, err := meter(api, m.d, func() (err error) {
		samples, err = sampled(ctx, api, m.duration)
		return err
	})
	if r.used = used; rate == 0 {
		r.rank = outstanding(samples, rankEvery)
	}
	return err
}

// perRanking is an amount of CPU in milliseconds per 15 s.
func (r *cpuRun) perRanking(cpu time.Duration) float64 {
	return milliseconds(cpu) * rankEvery.Seconds() / r.used.wall.Seconds()
}

// sampled reads a server's CPU again and again for a while, and gives what it used from one time to the next.
func sampled(ctx context.Context, s *served, d time.Duration) (out []time.Duration, err error) {
	last, err := s.usage()
	if err != nil {
		return nil, err
	}
	began := now()
	for n := 1; n <= int(d/sampledEvery); n++ {
		if !wait.For(ctx, time.Until(began.Add(time.Duration(n)*sampledEvery))) {
			return nil, ctx.Err()
		}
		u, err := s.usage()
		if err != nil {
			return nil, err
		}
		out = append(out, u.CPU-last.CPU)
		last = u
	}
	return out, nil
}

// outstanding is the CPU of what recurs with a period: what the samples have above their median, per period. That holds where
// the rest is about the same from one sample to the next.
func outstanding(samples []time.Duration, period time.Duration) time.Duration {
	usual := quantile(slices.Sorted(slices.Values(samples)), 0.5)
	var sum time.Duration
	for _, s := range samples {
		sum += s - usual
	}
	periods := float64(len(samples)) * sampledEvery.Seconds() / period.Seconds()
	if periods == 0 {
		return 0
	}
	return max(time.Duration(float64(sum)/periods), 0)
}

func cpuPerRanking(r *cpuRun) float64 { return r.perRanking(r.used.server) }

func poolsPerSecond(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.pools) }

var cpuFigures = []column[cpuRun]{
	{name: "arrived/s", format: "%.0f", of: func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.trades) }},
	{name: "commits/s", format: "%.0f", of: func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.commits) }},
	{name: "pools changed/s", format: "%.0f", of: poolsPerSecond},
	{name: "CPU ms per 15 s", format: "%.0f", of: cpuPerRanking},
	{name: "each round", format: "%.0f", of: cpuPerRanking, each: true},
	{name: "database CPU ms per 15 s", format: "%.0f", of: func(r *cpuRun) float64 { return r.perRanking(r.used.database) }},
	{name: "resident MB", format: "%.0f", of: func(r *cpuRun) float64 { return float64(r.used.ended.Resident) / 1e6 }},
	{name: "peak MB", format: "%.0f", of: func(r *cpuRun) float64 { return float64(r.used.ended.Peak) / 1e6 }},
	{name: "late ms", format: "%.0f", of: func(r *cpuRun) float64 { return milliseconds(r.arrived.late) }},
	{name: "others' cores", format: "%.2f", of: func(r *cpuRun) float64 { return r.used.others }},
}

// report has a row for each rate, the lowest first. What a changed pool takes is told where nothing arrived at the lowest.
func (m *cpuMeasurement) report(rates []float64) *table {
	t := columns([]string{">trades/s"}, cpuFigures, ">µs per changed pool")
	rest := middle(values(m.runs[0], cpuPerRanking))
	for _, rate := range rates {
		runs, perPool := m.runs[rate], "–"
		if pools := middle(values(runs, poolsPerSecond)); rates[0] == 0 && pools > 0 {
			perPool = fmt.Sprintf("%.0f", (middle(values(runs, cpuPerRanking))-rest)*1000/(pools*rankEvery.Seconds()))
		}
		t.add(figures([]string{fmt.Sprintf("%g", rate)}, runs, cpuFigures, perPool)...)
	}
	return t
}
