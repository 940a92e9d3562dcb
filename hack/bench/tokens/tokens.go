// Package tokens measures the operations about single tokens on a big database.
package tokens

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	wantedRatio = 1.5
	wantedP99   = 10 * time.Millisecond
)

// Command is the command.
func Command() lab.Command {
	o := lab.BigMarket()
	o.Runs = len(lab.PerToken)
	return lab.Command{
		Name: "tokens",
		About: "Operations about single tokens on a big database, an open loop, against the database alone. Served series are first compared with " +
			"those made of the database's rows. See docs/benchmarks.md#answering.",
		Flags: o.OpenFlags,
		Run: func(ctx context.Context) error {
			return o.OnMarkets(ctx, func(m *lab.Market) error { return (&measurement{m}).run(ctx) })
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

// measurement is the measurement on one database.
type measurement struct{ *lab.Market }

func (m *measurement) run(ctx context.Context) error {
	about := fmt.Sprintf("%s with %s. %d round(s), medians; open loop at %g/s for %s per operation after %s of warming up, Zipf %g, %d clients.",
		m.Database, m.Size, m.Rounds, m.Rate, m.Duration, m.WarmUp, m.Zipf, m.Clients)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	if err := m.compare(ctx); err != nil {
		return err
	}
	runs := make([][]tokenRun, len(lab.PerToken))
	var rounds []lab.RoundRun
	for round := range m.Rounds {
		results := make([]tokenRun, len(lab.PerToken))
		var r lab.RoundRun
		var err error
		if r.Server, err = m.serverRound(ctx, uint64(round), results); err != nil {
			return err
		}
		if r.Alone, err = m.aloneRound(ctx, uint64(round), results); err != nil {
			return fmt.Errorf("the database alone: %w", err)
		}
		for i := range lab.PerToken {
			lab.Say("%s, round %d of %d: %s: p99 %.2f ms, the database alone %.2f ms", m.Database, round+1, m.Rounds, lab.PerToken[i].Operation,
				lab.Milliseconds(lab.Quantile(results[i].server, 0.99)), lab.Milliseconds(lab.Quantile(results[i].alone, 0.99)))
			runs[i] = append(runs[i], results[i])
		}
		rounds = append(rounds, r)
	}
	return tokenReport(runs, rounds)
}

// pass measures every operation once. ask sends the requests of one for a while.
func (m *measurement) pass(p lab.Process, round uint64, ask func(e *lab.Endpoint, length time.Duration, sequence uint64) error, each func(i int, used *lab.Reading),
) (*lab.Reading, error) {
	const warm = 1 << 32
	var all []*lab.Reading
	for i := range lab.PerToken {
		e, sequence := &lab.PerToken[i], round<<8|uint64(i)
		err := ask(e, m.WarmUp, sequence|warm)
		if err == nil {
			var used *lab.Reading
			if used, err = lab.Meter(p, m.Database.Postgres, func() error { return ask(e, m.Duration, sequence) }); err == nil {
				each(i, used)
				all = append(all, used)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Operation, err)
		}
	}
	return lab.Joined(all), nil
}

// serverRound measures a fresh server.
func (m *measurement) serverRound(ctx context.Context, round uint64, results []tokenRun) (used *lab.Reading, err error) {
	s, err := m.Serve(ctx)
	if err != nil {
		return nil, err
	}
	err = s.End(func() (err error) {
		var run *lab.OpenRun
		used, err = m.pass(s, round, func(e *lab.Endpoint, length time.Duration, sequence uint64) (err error) {
			run, err = m.OpenLoop(ctx, s.Address, length, sequence, func(_ int, draw *lab.Drawer) (int, string) {
				return 0, e.Target(m.World, draw.Draw(e.Tokens))
			})
			if err != nil {
				return err
			}
			return run.Statuses().Only(http.StatusOK, lab.Refused)
		}, func(i int, used *lab.Reading) {
			r := &results[i]
			r.server, r.late, r.refused = run.Of(-1, http.StatusOK), run.Late(), run.Statuses()[lab.Refused]
			r.serverCPU = (used.Server + used.Database) / time.Duration(max(len(r.server), 1))
		})
		return err
	})
	return used, err
}

// aloneRound measures the database alone.
func (m *measurement) aloneRound(ctx context.Context, round uint64, results []tokenRun) (used *lab.Reading, err error) {
	st, err := store.Open(ctx, m.Database.DSN)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	var took []time.Duration
	return m.pass(nil, round, func(e *lab.Endpoint, length time.Duration, sequence uint64) (err error) {
		took, err = m.alone(ctx, st, e, length, sequence)
		return err
	}, func(i int, used *lab.Reading) {
		results[i].alone, results[i].aloneCPU = took, (used.Load+used.Database)/time.Duration(len(took))
	})
}

// alone asks the database for the same, by one caller, and gives the sorted times that it took. The caller begins when a
// request is due, or when it has the rows of the one before.
func (m *measurement) alone(ctx context.Context, st *store.Store, e *lab.Endpoint, length time.Duration, sequence uint64) (took []time.Duration, err error) {
	draw := lab.NewDrawer(m.World, m.Zipf, sequence)
	began := lab.Now()
	for n := range int(m.Rate * length.Seconds()) {
		due := began.Add(time.Duration(float64(n) / m.Rate * float64(time.Second)))
		if !wait.For(ctx, due.Sub(lab.Now())) {
			return nil, ctx.Err()
		}
		tokens := draw.Draw(e.Tokens)
		from := lab.Now()
		if _, err := e.Alone(ctx, st, m.World, tokens); err != nil {
			return nil, err
		}
		took = append(took, lab.Now().Sub(from))
	}
	slices.Sort(took)
	return took, nil
}

func p99Ratio(r *tokenRun) float64 {
	return float64(lab.Quantile(r.server, 0.99)) / float64(max(lab.Quantile(r.alone, 0.99), 1))
}

var tokenFigures = []lab.Column[tokenRun]{
	{Name: "p50 ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(lab.Quantile(r.server, 0.5)) }},
	{Name: "p99 ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(lab.Quantile(r.server, 0.99)) }},
	{Name: "alone p50 ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(lab.Quantile(r.alone, 0.5)) }},
	{Name: "alone p99 ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(lab.Quantile(r.alone, 0.99)) }},
	{Name: "p99 / alone's", Format: "%.2f", Of: p99Ratio},
	{Name: "each round", Format: "%.2f", Of: p99Ratio, Each: true},
	{Name: "CPU ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(r.serverCPU) }},
	{Name: "alone CPU ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(r.aloneCPU) }},
	{Name: "late p99 ms", Format: "%.2f", Of: func(r *tokenRun) float64 { return lab.Milliseconds(lab.Quantile(r.late, 0.99)) }},
}

func tokenReport(runs [][]tokenRun, rounds []lab.RoundRun) error {
	t := lab.Columns([]string{"operation"}, tokenFigures, ">refused", fmt.Sprintf("at most %g, and below %s", wantedRatio, wantedP99))
	for i, of := range runs {
		turnedAway := 0
		for j := range of {
			turnedAway += of[j].refused
		}
		p99 := lab.Middle(lab.Values(of, func(r *tokenRun) float64 { return lab.Milliseconds(lab.Quantile(r.server, 0.99)) }))
		met := lab.Middle(lab.Values(of, p99Ratio)) <= wantedRatio && p99 < lab.Milliseconds(wantedP99) && turnedAway == 0
		t.Add(lab.Figures([]string{lab.PerToken[i].Operation}, of, tokenFigures, strconv.Itoa(turnedAway), lab.Verdict(met))...)
	}
	process := lab.EachRound(rounds, append(slices.Clone(lab.RoundFigures), lab.Column[lab.RoundRun]{
		Name: "others' cores beside the database alone", Format: "%.2f", Of: func(r *lab.RoundRun) float64 { return r.Alone.Others() },
	}))
	for _, judged := range []struct {
		row int
		of  func(*lab.RoundRun) float64
	}{
		{1, func(r *lab.RoundRun) float64 { return float64(r.Server.Ended.Resident) }},
		{2, func(r *lab.RoundRun) float64 { return float64(r.Server.Ended.Peak) }},
	} {
		process.Rows[judged.row][3] = fmt.Sprintf("below %d MiB: %s", lab.WantedMemory>>20, lab.Verdict(lab.Middle(lab.Values(rounds, judged.of)) < lab.WantedMemory))
	}
	return lab.WriteTables(os.Stdout, t, process)
}
