package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// cpuRun is what the API server used at one rate of trades while nobody asked it.
type cpuRun struct {
	arrived *arrived
	wall    time.Duration
	// all is its CPU in all.
	all time.Duration
	// rank is that of one ranking; it can be told from the rest where nothing arrives, and is 0 elsewhere.
	rank  time.Duration
	ended usageNow
	// database is what a server of the database used.
	database time.Duration
	others   float64
}

// sampledEvery is how often the server's CPU is read: the server looks at the database twice as often.
const sampledEvery = time.Second

// cpuRound measures every rate, on one server.
func (m *boardMeasurement) cpuRound(ctx context.Context, round int, profile string) error {
	return m.served(ctx, func(api *served) error {
		for _, rate := range m.rates {
			file := profile
			if profile != "" {
				file = fmt.Sprintf("%s.%g", profile, rate)
			}
			r, err := m.cpuAt(ctx, api, rate, file)
			if err != nil {
				return err
			}
			say("%s, round %d of %d: %g trades/s: %.0f ms of CPU per %d s; %s", m.d, round+1, m.rounds, rate, milliseconds(r.per(rankEveryS)),
				rankEveryS, r.arrived)
			if m.peak = max(m.peak, r.ended.Peak); profile == "" {
				m.cpuRuns[rate] = append(m.cpuRuns[rate], *r)
			}
		}
		if profile != "" {
			return api.heap(profile + ".heap")
		}
		return nil
	})
}

func (m *boardMeasurement) cpuAt(ctx context.Context, api *served, rate float64, profile string) (*cpuRun, error) {
	r := &cpuRun{}
	sum, err := m.arrivals.during(ctx, rate, func() error {
		wait.For(ctx, settling)
		var samples []time.Duration
		used, err := meter(api, m.d, api.maybeProfiled(profile, func() (err error) {
			samples, err = sampled(ctx, api, m.rest)
			return err
		}))
		if err != nil {
			return err
		}
		r.wall, r.all, r.ended, r.database, r.others = used.wall, used.server, used.ended, used.database, used.others
		if rate == 0 {
			r.rank = outstanding(samples, rankEveryS*time.Second)
		}
		return nil
	})
	r.arrived = sum
	return r, err
}

// per is the CPU in so many seconds.
func (r *cpuRun) per(seconds float64) time.Duration {
	return time.Duration(float64(r.all) * seconds / r.wall.Seconds())
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

func (a *arrived) String() string {
	if a.wall == 0 {
		return "nothing arrived"
	}
	return fmt.Sprintf("%.0f trades/s arrived in %.1f commits/s of %.1f blocks/s, with %.0f pools/s, %d launches and %d graduations; at most %s late",
		a.perSecond(a.trades), a.perSecond(a.commits), a.perSecond(a.blocks), a.perSecond(a.pools), a.launches, a.graduated,
		a.late.Round(time.Millisecond))
}

func (a *arrived) perSecond(n int) float64 {
	if a.wall == 0 {
		return 0
	}
	return float64(n) / a.wall.Seconds()
}

// report writes the tables.
func (m *boardMeasurement) report() error {
	if m.requests {
		if err := m.reportRequests(); err != nil {
			return err
		}
	}
	if m.cpu {
		if err := m.reportCPU(); err != nil {
			return err
		}
	}
	return m.judge()
}

func (m *boardMeasurement) reportRequests() error {
	figures := newTable("path", "contender", ">requests/s", ">CPU µs", ">p50 ms", ">p99 ms", ">peak MB", ">clients", ">load's cores", ">others' cores")
	ratios := newTable("path", "ratio", ">wanted", ">median", "each round", "")
	var labels []string
	for label := range m.requestRuns {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for _, label := range labels {
		hotRows(figures, ratios, label, m.requestRuns[label])
	}
	if err := figures.write(os.Stdout); err != nil {
		return err
	}
	if err := ratios.write(os.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(os.Stdout, "While trades arrived beside requests: %s.\n\n", &m.beside)
	if len(m.missing) > 0 && err == nil {
		_, err = fmt.Fprintf(os.Stdout, "Not measured, because the server has no such route: %v\n\n", m.missing)
	}
	return err
}

func (m *boardMeasurement) reportCPU() error {
	t := newTable(">trades/s", ">arrived/s", ">commits/s", ">pools changed/s", ">CPU ms per 15 s", "each round", ">µs per changed pool",
		">database CPU ms per 15 s", ">resident MB", ">peak MB", ">late ms", ">others' cores")
	rest := -1.0
	for _, rate := range slices.Sorted(slices.Values(m.rates)) {
		runs := m.cpuRuns[rate]
		of := func(f func(*cpuRun) float64) []float64 {
			var out []float64
			for i := range runs {
				out = append(out, f(&runs[i]))
			}
			return out
		}
		all := of(func(r *cpuRun) float64 { return milliseconds(r.per(rankEveryS)) })
		pools := middle(of(func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.pools) }))
		each15, perPool := middle(all), "–"
		switch {
		case rate == 0:
			rest = each15
		case rest >= 0 && pools > 0:
			perPool = fmt.Sprintf("%.0f", (each15-rest)*1000/(pools*rankEveryS))
		}
		text := func(f func(*cpuRun) float64) string { return fmt.Sprintf("%.0f", middle(of(f))) }
		t.add(fmt.Sprintf("%g", rate), text(func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.trades) }),
			text(func(r *cpuRun) float64 { return r.arrived.perSecond(r.arrived.commits) }), fmt.Sprintf("%.0f", pools),
			fmt.Sprintf("%.0f", each15), each(all, "%.0f"), perPool,
			text(func(r *cpuRun) float64 { return milliseconds(r.database) * rankEveryS / r.wall.Seconds() }),
			text(func(r *cpuRun) float64 { return float64(r.ended.Resident) / 1e6 }), text(func(r *cpuRun) float64 { return float64(r.ended.Peak) / 1e6 }),
			text(func(r *cpuRun) float64 { return milliseconds(r.arrived.late) }),
			fmt.Sprintf("%.2f", middle(of(func(r *cpuRun) float64 { return r.others }))))
	}
	return t.write(os.Stdout)
}

// judge holds what there are bounds for against them.
func (m *boardMeasurement) judge() error {
	t := newTable("", ">wanted", ">measured", "each round", "")
	var ranks []float64
	for _, r := range m.cpuRuns[0] {
		ranks = append(ranks, milliseconds(r.rank))
	}
	if len(ranks) > 0 {
		t.add("CPU of a ranking, ms", fmt.Sprintf("at most %d", wantedRank.Milliseconds()), fmt.Sprintf("%.0f", middle(ranks)), each(ranks, "%.0f"),
			verdict(middle(ranks) <= milliseconds(wantedRank)))
	}
	t.add("peak memory, MB", fmt.Sprintf("below %.0f (%d MiB)", wantedMemory/1e6, wantedMemory>>20), fmt.Sprintf("%.0f", float64(m.peak)/1e6), "",
		verdict(m.peak < wantedMemory))
	t.add("ready after, s", "", fmt.Sprintf("%.1f", middle(inSeconds(m.ready))), each(inSeconds(m.ready), "%.1f"), "")
	return t.write(os.Stdout)
}

func inSeconds(list []time.Duration) []float64 {
	out := make([]float64, len(list))
	for i, d := range list {
		out[i] = d.Seconds()
	}
	return out
}
