package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const tokensUsage = `bench tokens measures the operations about single tokens on a big database.

  go run ./hack/bench tokens [flags]

The load is an open loop: requests are due at a fixed rate whatever became of those before, and a request's time counts
from when it was due. Tokens are drawn by Zipf's law, the most traded most often. Beside the server, one caller asks the
database alone, without HTTP, at the same pace and for the same tokens, for the rows that each answer is made of; there
the time counts from when it asks. Server and caller take turns on the same database, each warmed up, in rounds.

The database is made once and kept in $BOARDWALK_CACHE or the user's cache directory (under /var/tmp for a PostgreSQL that
root runs and that can't go there). --seed makes it and ends.

Before anything is measured, served series are compared with those made of the database's rows.

Flags:
`

const (
	wantedRatio  = 1.5
	wantedP99    = 10 * time.Millisecond
	wantedMemory = 512 << 20
)

// tokenRun is one endpoint in one round.
type tokenRun struct {
	server, alone, late []time.Duration // sorted
	// refused is how many requests were turned away: more were being worked on than the server lets in.
	refused int
	// serverCPU and aloneCPU are the CPU time per request: of the server or the caller, and of the database's server.
	serverCPU, aloneCPU time.Duration
}

// roundRun is what was used in a whole round: while the server was measured, and, where it is, the database alone.
type roundRun struct{ server, alone *reading }

func tokensCommand(ctx context.Context, args []string) error {
	o := bigMarket("tokens")
	o.runs = len(perToken)
	if err := o.parse(args, tokensUsage, o.openFlags); err != nil {
		return err
	}
	w := newWorld(o.size)
	for _, kind := range o.kinds {
		if err := o.withDatabase(ctx, kind, w, func(d *database) error {
			return scratch(func(dir string) error { return o.tokens(ctx, d, dir, w) })
		}); err != nil {
			return err
		}
	}
	return nil
}

// bigMarket are the defaults of the measurements on a big database.
func bigMarket(command string) *apiOptions {
	return &apiOptions{
		command: command, rounds: 3, duration: 15 * time.Second, warmUp: 5 * time.Second, db: "both",
		size: marketSize{Tokens: 100_000, Trades: 5_000_000},
	}
}

func (o *apiOptions) openFlags(f *flag.FlagSet) {
	f.Float64Var(&o.rate, "rate", 200, "requests per second")
	f.Float64Var(&o.zipf, "zipf", 1, "exponent of Zipf's law, by which tokens are drawn")
}

func (o *apiOptions) tokens(ctx context.Context, d *database, dir string, w *world) error {
	about := fmt.Sprintf("%s with %s. %d round(s), medians; open loop at %g/s for %s per operation after %s of warming up, Zipf %g, %d clients.",
		d, o.size, o.rounds, o.rate, o.duration, o.warmUp, o.zipf, o.clients.Together)
	if err := heading(os.Stdout, o.command, o.args, about); err != nil {
		return err
	}
	list, missing, err := o.whatIsServed(ctx, d, dir, w)
	if err != nil {
		return err
	}
	if err := o.compare(ctx, d, dir, w, list); err != nil {
		return err
	}
	runs := map[string][]tokenRun{}
	var rounds []roundRun
	for round := range o.rounds {
		results := make([]tokenRun, len(list))
		var r roundRun
		if r.server, err = o.serverRound(ctx, d, dir, w, list, uint64(round), results); err != nil {
			return err
		}
		if r.alone, err = o.aloneRound(ctx, d, w, list, uint64(round), results); err != nil {
			return err
		}
		for i := range list {
			say("%s, round %d of %d: %s: p99 %.2f ms, the database alone %.2f ms", d, round+1, o.rounds, list[i].operation,
				milliseconds(quantile(results[i].server, 0.99)), milliseconds(quantile(results[i].alone, 0.99)))
			runs[list[i].operation] = append(runs[list[i].operation], results[i])
		}
		rounds = append(rounds, r)
	}
	if err := tokenReport(list, runs, rounds); err != nil {
		return err
	}
	if len(missing) > 0 {
		if _, err := fmt.Fprintf(os.Stdout, "Not measured, because the server has no such route: %s\n\n", strings.Join(missing, ", ")); err != nil {
			return err
		}
	}
	return o.profileEach(ctx, d, dir, w, list)
}

// profileEach takes a CPU profile of the server for each operation.
func (o *apiOptions) profileEach(ctx context.Context, d *database, dir string, w *world, list []endpoint) error {
	if o.cpuProfile == "" {
		return nil
	}
	s, err := serveAPI(ctx, dir, d.dsn)
	if err != nil {
		return err
	}
	for i := range list {
		path := o.cpuProfile + "." + d.kind + "." + list[i].operation
		if err := s.profiled(path, func() error {
			_, err := o.shoot(ctx, s.address, w, &list[i], o.duration, uint64(1000+i))
			return err
		}); err != nil {
			return err
		}
	}
	return s.stop()
}

// whatIsServed leaves out the operations that the server doesn't have.
func (o *apiOptions) whatIsServed(ctx context.Context, d *database, dir string, w *world) (list []endpoint, missing []string, err error) {
	s, err := serveAPI(ctx, dir, d.dsn)
	if err != nil {
		return nil, nil, err
	}
	if list, missing, err = servedOf(ctx, s.address, w, perToken); err != nil {
		return nil, nil, err
	}
	return list, missing, s.stop()
}

const warmSequence = 1 << 32

// serverRound measures every operation of a fresh server.
func (o *apiOptions) serverRound(ctx context.Context, d *database, dir string, w *world, list []endpoint, round uint64, results []tokenRun,
) (*reading, error) {
	s, err := serveAPI(ctx, dir, d.dsn)
	if err != nil {
		return nil, err
	}
	var readings []*reading
	for i := range list {
		sequence := round<<8 | uint64(i)
		if _, err := o.shoot(ctx, s.address, w, &list[i], o.warmUp, sequence|warmSequence); err != nil {
			return nil, fmt.Errorf("%s: %w", list[i].operation, err)
		}
		var run *openRun
		used, err := meter(s, d, func() (err error) {
			run, err = o.shoot(ctx, s.address, w, &list[i], o.duration, sequence)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", list[i].operation, err)
		}
		r := &results[i]
		r.server, r.late = run.of(-1, http.StatusOK), run.late()
		r.refused = run.statuses()[refused]
		r.serverCPU = (used.server + used.database) / time.Duration(max(len(r.server), 1))
		readings = append(readings, used)
	}
	return joined(readings), errors.Join(s.silent(), s.stop())
}

// aloneRound measures the database alone.
func (o *apiOptions) aloneRound(ctx context.Context, d *database, w *world, list []endpoint, round uint64, results []tokenRun,
) (used *reading, err error) {
	st, err := store.Open(ctx, d.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	var readings []*reading
	for i := range list {
		sequence := round<<8 | uint64(i)
		if _, err := o.alone(ctx, st, w, &list[i], o.warmUp, sequence|warmSequence); err != nil {
			return nil, fmt.Errorf("%s, the database alone: %w", list[i].operation, err)
		}
		r := &results[i]
		used, err := meter(nil, d, func() (err error) {
			r.alone, err = o.alone(ctx, st, w, &list[i], o.duration, sequence)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s, the database alone: %w", list[i].operation, err)
		}
		r.aloneCPU = (used.load + used.database) / time.Duration(len(r.alone))
		readings = append(readings, used)
	}
	return joined(readings), nil
}

// shoot sends the requests of one endpoint. Those that the server turns away are counted by whoever judges.
func (o *apiOptions) shoot(ctx context.Context, address string, w *world, e *endpoint, length time.Duration, sequence uint64) (*openRun, error) {
	draw := newDrawer(w, o.zipf, sequence)
	loop := openLoop{
		address: address, rate: o.rate, length: length, most: 512, clients: o.fresh(), grace: 10 * time.Second,
		next: func(int) (int, []byte) { return 0, render(address, e.target(w, draw.draw(e.tokens))) },
	}
	r, err := loop.run(ctx)
	if err != nil {
		return nil, err
	}
	return r, r.statuses().only(http.StatusOK, refused)
}

// alone asks the database for the same, by one caller, and gives the sorted times that it took. The caller begins when a
// request is due, or when it has the rows of the one before.
func (o *apiOptions) alone(ctx context.Context, st *store.Store, w *world, e *endpoint, length time.Duration, sequence uint64,
) (took []time.Duration, err error) {
	draw := newDrawer(w, o.zipf, sequence)
	p := pace{
		lazy: true, began: now(), interval: time.Duration(float64(time.Second) / o.rate), count: int(o.rate * length.Seconds()), now: now,
		sleep: func(d time.Duration) bool { return err == nil && wait.For(ctx, d) },
	}
	p.run(func(int, time.Time) {
		if err != nil {
			return
		}
		tokens := draw.draw(e.tokens)
		from := now()
		_, err = e.alone(ctx, st, w, tokens)
		took = append(took, now().Sub(from))
	})
	slices.Sort(took)
	return took, err
}

// compare holds served series against the database's rows.
func (o *apiOptions) compare(ctx context.Context, d *database, dir string, w *world, list []endpoint) error {
	draw := newDrawer(w, 0.5, 99)
	tokens := draw.draw(checkedTokens)
	for i := range list {
		e := &list[i]
		if !strings.HasPrefix(e.operation, "getChart") && !strings.HasSuffix(e.operation, "Candles") {
			continue
		}
		s, err := serveAPI(ctx, dir, d.dsn)
		if err != nil {
			return err
		}
		got, err := seriesOf(ctx, s.address, w, e, tokens)
		if err != nil {
			return err
		}
		if err := s.stop(); err != nil {
			return err
		}
		st, err := store.Open(ctx, d.dsn)
		if err != nil {
			return err
		}
		for j, t := range tokens {
			want, err := e.alone(ctx, st, w, []int{t})
			if err == nil {
				err = sameBars(got[j], want)
			}
			if err != nil {
				_ = st.Close()
				return fmt.Errorf("%s of %s: %w", e.operation, w.tokens[t].mint, err)
			}
		}
		if err := st.Close(); err != nil {
			return err
		}
		say("%s: %s of %d tokens are what the rows make", d, e.operation, len(tokens))
	}
	return nil
}

func tokenReport(list []endpoint, runs map[string][]tokenRun, rounds []roundRun) error {
	t := newTable("operation", ">p50 ms", ">p99 ms", ">alone p50 ms", ">alone p99 ms", ">p99 / alone's", "each round", ">CPU ms", ">alone CPU ms", ">late p99 ms", ">refused",
		fmt.Sprintf("at most %g, and below %s", wantedRatio, wantedP99))
	for i := range list {
		of := runs[list[i].operation]
		turnedAway := 0
		for j := range of {
			turnedAway += of[j].refused
		}
		column := func(f func(*tokenRun) float64) []float64 {
			var out []float64
			for j := range of {
				out = append(out, f(&of[j]))
			}
			return out
		}
		at := func(q float64, pick func(*tokenRun) []time.Duration) string {
			return fmt.Sprintf("%.2f", middle(column(func(r *tokenRun) float64 { return milliseconds(quantile(pick(r), q)) })))
		}
		cpu := func(pick func(*tokenRun) time.Duration) string {
			return fmt.Sprintf("%.2f", middle(column(func(r *tokenRun) float64 { return milliseconds(pick(r)) })))
		}
		server := func(r *tokenRun) []time.Duration { return r.server }
		alone := func(r *tokenRun) []time.Duration { return r.alone }
		ratios := column(func(r *tokenRun) float64 {
			return float64(quantile(r.server, 0.99)) / float64(max(quantile(r.alone, 0.99), 1))
		})
		p99 := middle(column(func(r *tokenRun) float64 { return milliseconds(quantile(r.server, 0.99)) }))
		t.add(list[i].operation, at(0.5, server), at(0.99, server), at(0.5, alone), at(0.99, alone), fmt.Sprintf("%.2f", middle(ratios)),
			each(ratios, "%.2f"), cpu(func(r *tokenRun) time.Duration { return r.serverCPU }),
			cpu(func(r *tokenRun) time.Duration { return r.aloneCPU }), at(0.99, func(r *tokenRun) []time.Duration { return r.late }),
			strconv.Itoa(turnedAway), verdict(middle(ratios) <= wantedRatio && p99 < milliseconds(wantedP99) && turnedAway == 0))
	}
	if err := t.write(os.Stdout); err != nil {
		return err
	}
	return roundReport(rounds, true)
}

// roundReport writes what the server's process had in memory, and how busy the machine was otherwise.
func roundReport(rounds []roundRun, judge bool) error {
	t := newTable("", ">median", "each round", "")
	row := func(name, format string, pick func(*roundRun) float64) float64 {
		var values []float64
		for i := range rounds {
			values = append(values, pick(&rounds[i]))
		}
		t.add(name, fmt.Sprintf(format, middle(values)), each(values, format), "")
		return middle(values)
	}
	memory := func(name string, judged bool, pick func(*reading) int64) {
		m := row(name, "%.0f", func(r *roundRun) float64 { return float64(pick(r.server)) / 1e6 })
		if judge && judged {
			t.rows[len(t.rows)-1][3] = fmt.Sprintf("below %d MiB: %s", wantedMemory>>20, verdict(m*1e6 < wantedMemory))
		}
	}
	memory("server's memory when ready, MB", false, func(r *reading) int64 { return r.begun.Resident })
	memory("at the end, MB", true, func(r *reading) int64 { return r.ended.Resident })
	memory("peak, MB", true, func(r *reading) int64 { return r.ended.Peak })
	memory("of it Go's heap, MB", false, func(r *reading) int64 { return r.ended.Heap })
	row("server's cores", "%.2f", func(r *roundRun) float64 { return r.server.server.Seconds() / r.server.wall.Seconds() })
	row("others' cores meanwhile", "%.2f", func(r *roundRun) float64 { return r.server.others })
	if rounds[0].alone != nil {
		row("others' cores beside the database alone", "%.2f", func(r *roundRun) float64 { return r.alone.others })
	}
	return t.write(os.Stdout)
}
