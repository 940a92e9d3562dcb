package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	wantedRatio = 1.5
	wantedP99   = 10 * time.Millisecond
)

// tokensCommand is the command.
func tokensCommand() command {
	o := bigMarket()
	o.runs = len(perToken)
	return command{
		name: "tokens",
		about: "Operations about single tokens on a big database, an open loop, against the database alone. Served series are first compared with " +
			"those made of the database's rows. See docs/benchmarks.md#answering.",
		flags: o.openFlags,
		run: func(ctx context.Context) error {
			return o.onMarkets(ctx, func(m *onMarket) error { return (&tokensRun{m}).run(ctx) })
		},
	}
}

// tokenRun is one endpoint in one round.
type tokenRun struct {
	server, alone, late []time.Duration // sorted
	// refused is how many requests were turned away: more were being worked on than the server lets in.
	refused int
	// serverCPU and aloneCPU are the CPU time per request: of the server or the caller, and of the database's server.
	serverCPU, aloneCPU time.Duration
}

// tokensRun is the measurement on one database.
type tokensRun struct{ *onMarket }

func (m *tokensRun) run(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s. %d round(s), medians; open loop at %g/s for %s per operation after %s of warming up, Zipf %g, %d clients.",
		m.d, m.size, m.rounds, m.rate, m.duration, m.warmUp, m.zipf, m.clients)
	if err := heading(os.Stdout, about); err != nil {
		return err
	}
	if err := m.compare(ctx); err != nil {
		return err
	}
	runs := make([][]tokenRun, len(perToken))
	var rounds []roundRun
	for round := range m.rounds {
		results := make([]tokenRun, len(perToken))
		var r roundRun
		var err error
		if r.server, err = m.serverRound(ctx, uint64(round), results); err != nil {
			return err
		}
		if r.alone, err = m.aloneRound(ctx, uint64(round), results); err != nil {
			return fmt.Errorf("the database alone: %w", err)
		}
		for i := range perToken {
			say("%s, round %d of %d: %s: p99 %.2f ms, the database alone %.2f ms", m.d, round+1, m.rounds, perToken[i].operation,
				milliseconds(quantile(results[i].server, 0.99)), milliseconds(quantile(results[i].alone, 0.99)))
			runs[i] = append(runs[i], results[i])
		}
		rounds = append(rounds, r)
	}
	return tokenReport(runs, rounds)
}

// pass measures every operation once. ask sends the requests of one for a while.
func (m *tokensRun) pass(s *served, round uint64, ask func(e *endpoint, length time.Duration, sequence uint64) error, each func(i int, used *reading),
) (*reading, error) {
	const warm = 1 << 32
	var all []*reading
	for i := range perToken {
		e, sequence := &perToken[i], round<<8|uint64(i)
		err := ask(e, m.warmUp, sequence|warm)
		if err == nil {
			var used *reading
			if used, err = meter(s, m.d, func() error { return ask(e, m.duration, sequence) }); err == nil {
				each(i, used)
				all = append(all, used)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.operation, err)
		}
	}
	return joined(all), nil
}

// serverRound measures a fresh server.
func (m *tokensRun) serverRound(ctx context.Context, round uint64, results []tokenRun) (used *reading, err error) {
	s, err := m.serve(ctx)
	if err != nil {
		return nil, err
	}
	err = s.end(func() (err error) {
		var run *openRun
		used, err = m.pass(s, round, func(e *endpoint, length time.Duration, sequence uint64) (err error) {
			run, err = m.openLoop(ctx, s.address, length, sequence, func(_ int, draw *drawer) (int, string) {
				return 0, e.target(m.world, draw.draw(e.tokens))
			})
			if err != nil {
				return err
			}
			return run.statuses().only(http.StatusOK, refused)
		}, func(i int, used *reading) {
			r := &results[i]
			r.server, r.late, r.refused = run.of(-1, http.StatusOK), run.late(), run.statuses()[refused]
			r.serverCPU = (used.server + used.database) / time.Duration(max(len(r.server), 1))
		})
		return err
	})
	return used, err
}

// aloneRound measures the database alone.
func (m *tokensRun) aloneRound(ctx context.Context, round uint64, results []tokenRun) (used *reading, err error) {
	st, err := store.Open(ctx, m.d.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	var took []time.Duration
	return m.pass(nil, round, func(e *endpoint, length time.Duration, sequence uint64) (err error) {
		took, err = m.alone(ctx, st, e, length, sequence)
		return err
	}, func(i int, used *reading) {
		results[i].alone, results[i].aloneCPU = took, (used.load+used.database)/time.Duration(len(took))
	})
}

// alone asks the database for the same, by one caller, and gives the sorted times that it took. The caller begins when a
// request is due, or when it has the rows of the one before.
func (m *tokensRun) alone(ctx context.Context, st *store.Store, e *endpoint, length time.Duration, sequence uint64) (took []time.Duration, err error) {
	draw := newDrawer(m.world, m.zipf, sequence)
	began := now()
	for n := range int(m.rate * length.Seconds()) {
		due := began.Add(time.Duration(float64(n) / m.rate * float64(time.Second)))
		if !wait.For(ctx, due.Sub(now())) {
			return nil, ctx.Err()
		}
		tokens := draw.draw(e.tokens)
		from := now()
		if _, err := e.alone(ctx, st, m.world, tokens); err != nil {
			return nil, err
		}
		took = append(took, now().Sub(from))
	}
	slices.Sort(took)
	return took, nil
}

func p99Ratio(r *tokenRun) float64 {
	return float64(quantile(r.server, 0.99)) / float64(max(quantile(r.alone, 0.99), 1))
}

var tokenFigures = []column[tokenRun]{
	{name: "p50 ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(quantile(r.server, 0.5)) }},
	{name: "p99 ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(quantile(r.server, 0.99)) }},
	{name: "alone p50 ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(quantile(r.alone, 0.5)) }},
	{name: "alone p99 ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(quantile(r.alone, 0.99)) }},
	{name: "p99 / alone's", format: "%.2f", of: p99Ratio},
	{name: "each round", format: "%.2f", of: p99Ratio, each: true},
	{name: "CPU ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(r.serverCPU) }},
	{name: "alone CPU ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(r.aloneCPU) }},
	{name: "late p99 ms", format: "%.2f", of: func(r *tokenRun) float64 { return milliseconds(quantile(r.late, 0.99)) }},
}

func tokenReport(runs [][]tokenRun, rounds []roundRun) error {
	t := columns([]string{"operation"}, tokenFigures, ">refused", fmt.Sprintf("at most %g, and below %s", wantedRatio, wantedP99))
	for i, of := range runs {
		turnedAway := 0
		for j := range of {
			turnedAway += of[j].refused
		}
		p99 := middle(values(of, func(r *tokenRun) float64 { return milliseconds(quantile(r.server, 0.99)) }))
		met := middle(values(of, p99Ratio)) <= wantedRatio && p99 < milliseconds(wantedP99) && turnedAway == 0
		t.add(figures([]string{perToken[i].operation}, of, tokenFigures, strconv.Itoa(turnedAway), verdict(met))...)
	}
	process := eachRound(rounds, append(slices.Clone(roundFigures), column[roundRun]{
		name: "others' cores beside the database alone", format: "%.2f", of: func(r *roundRun) float64 { return r.alone.others },
	}))
	for _, judged := range []struct {
		row int
		of  func(*roundRun) float64
	}{
		{1, func(r *roundRun) float64 { return float64(r.server.ended.Resident) }},
		{2, func(r *roundRun) float64 { return float64(r.server.ended.Peak) }},
	} {
		process.rows[judged.row][3] = fmt.Sprintf("below %d MiB: %s", wantedMemory>>20, verdict(middle(values(rounds, judged.of)) < wantedMemory))
	}
	return writeTables(os.Stdout, t, process)
}
