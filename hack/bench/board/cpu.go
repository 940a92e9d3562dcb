package board

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// cpuRun is what the API server used at one rate of trades while nobody asked it.
type cpuRun struct {
	arrived *Arrived
	used    *lab.Reading
	// rank is the CPU of one ranking; it can be told from the rest where nothing arrives, and is 0 elsewhere.
	rank time.Duration
}

// sampledEvery is how often the server's CPU is read: the server looks at the database twice as often.
const sampledEvery = time.Second

// round measures every rate, on one server. It gives the most cores that other programs used meanwhile.
func (m *cpuMeasurement) round(ctx context.Context, round int) (others float64, err error) {
	err = m.Served(ctx, func(api *lab.Served) error {
		for _, rate := range m.rates {
			r := &cpuRun{}
			var err error
			if r.arrived, err = m.Arrivals.During(ctx, rate, func() error { return m.sample(ctx, api, rate, r) }); err != nil {
				return err
			}
			lab.Say("%s, round %d: %g trades/s: %.0f ms of CPU per %s; %s", m.Database, round+1, rate, cpuPerRanking(r), rankEvery, r.arrived)
			others = max(others, r.used.Others())
			m.runs[rate] = append(m.runs[rate], *r)
		}
		return nil
	})
	return others, err
}

func (m *cpuMeasurement) sample(ctx context.Context, api *lab.Served, rate float64, r *cpuRun) error {
	wait.For(ctx, Settling)
	var samples []time.Duration
	used, err := lab.Meter(api, m.Database.Postgres, func() (err error) {
		samples, err = sampled(ctx, api, m.Duration)
		return err
	})
	if r.used = used; rate == 0 {
		r.rank = outstanding(samples, rankEvery)
	}
	return err
}

// perRanking is an amount of CPU in milliseconds per 15 s.
func (r *cpuRun) perRanking(cpu time.Duration) float64 {
	return lab.Milliseconds(cpu) * rankEvery.Seconds() / r.used.Wall.Seconds()
}

// sampled reads a server's CPU again and again for a while, and gives what it used from one time to the next.
func sampled(ctx context.Context, s *lab.Served, d time.Duration) (out []time.Duration, err error) {
	last, err := s.Usage()
	if err != nil {
		return nil, err
	}
	began := lab.Now()
	for n := 1; n <= int(d/sampledEvery); n++ {
		if !wait.For(ctx, time.Until(began.Add(time.Duration(n)*sampledEvery))) {
			return nil, ctx.Err()
		}
		u, err := s.Usage()
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
	usual := lab.Quantile(slices.Sorted(slices.Values(samples)), 0.5)
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

func cpuPerRanking(r *cpuRun) float64 { return r.perRanking(r.used.Server) }

func poolsPerSecond(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.pools) }

var cpuFigures = []lab.Column[cpuRun]{
	{Name: "arrived/s", Format: "%.0f", Of: func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.trades) }},
	{Name: "commits/s", Format: "%.0f", Of: func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.commits) }},
	{Name: "pools changed/s", Format: "%.0f", Of: poolsPerSecond},
	{Name: "CPU ms per 15 s", Format: "%.0f", Of: cpuPerRanking},
	{Name: "each round", Format: "%.0f", Of: cpuPerRanking, Each: true},
	{Name: "database CPU ms per 15 s", Format: "%.0f", Of: func(r *cpuRun) float64 { return r.perRanking(r.used.Database) }},
	{Name: "resident MB", Format: "%.0f", Of: func(r *cpuRun) float64 { return float64(r.used.Ended.Resident) / 1e6 }},
	{Name: "peak MB", Format: "%.0f", Of: func(r *cpuRun) float64 { return float64(r.used.Ended.Peak) / 1e6 }},
	{Name: "late ms", Format: "%.0f", Of: func(r *cpuRun) float64 { return lab.Milliseconds(r.arrived.late) }},
	{Name: "others' cores", Format: "%.2f", Of: func(r *cpuRun) float64 { return r.used.Others() }},
}

// report has a row for each rate, the lowest first. What a changed pool takes is told where nothing arrived at the lowest.
func (m *cpuMeasurement) report(rates []float64) *lab.Table {
	t := lab.Columns([]string{">trades/s"}, cpuFigures, ">µs per changed pool")
	rest := lab.Middle(lab.Values(m.runs[0], cpuPerRanking))
	for _, rate := range rates {
		runs, perPool := m.runs[rate], "–"
		if pools := lab.Middle(lab.Values(runs, poolsPerSecond)); rates[0] == 0 && pools > 0 {
			perPool = fmt.Sprintf("%.0f", (lab.Middle(lab.Values(runs, cpuPerRanking))-rest)*1000/(pools*rankEvery.Seconds()))
		}
		t.Add(lab.Figures([]string{fmt.Sprintf("%g", rate)}, runs, cpuFigures, perPool)...)
	}
	return t
}
