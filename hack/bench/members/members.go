// Package members measures the answers about members: what they trade, what is new, who leads, who is in a token.
package members

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/board"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/members/running"
)

const (
	// wantedTime is what 99 in a hundred answers may take at most.
	wantedTime = 10 * time.Millisecond
	// wantedNamed is for how long answers may name a member who left.
	wantedNamed = time.Second
)

// The kinds of requests.
const (
	feed = iota
	since
	leaders
	inTokens
)

var kinds = []string{feed: "the feed's first page", since: "live/since, two seconds later", leaders: "the leaderboard", inTokens: "who is in 20 tokens"}

// measurement is the measurement on one database.
type measurement struct {
	*board.Measurement
	*lab.Options

	people   *people
	arriving float64
	runs     []run
}

// run is one round.
type run struct {
	of      *lab.OpenRun
	arrived *board.Arrived
	used    *lab.Reading
	// left is how long answers named each of some members who left.
	left []time.Duration
}

// Command is the command.
func Command() lab.Command {
	o := &lab.Options{Rounds: 3, Duration: 30 * time.Second, DB: "postgres", Size: board.Size, Clients: 1000, Rate: 200}
	s := size{members: 100_000, entries: 2_000_000}
	arriving := 500.0
	return lab.Command{
		Name: "members",
		About: "Answers about members in an open loop while trades arrive, of which members make one in ten: how long they take, and the API server's memory. " +
			"The launch board's world with members in it. See docs/benchmarks.md#members.",
		Flags: func(f *flag.FlagSet) {
			o.Flags(f)
			o.LoadFlags(f)
			o.QuietFlag(f)
			f.Float64Var(&o.Rate, "rate", o.Rate, "requests per second")
			f.Float64Var(&arriving, "arriving", arriving, "trades per second that arrive")
			f.IntVar(&s.members, "members", s.members, "members, every second one with two wallets")
			f.IntVar(&s.entries, "entries", s.entries, "entries of their wallets in the last seven days")
		},
		Run: func(ctx context.Context) error {
			return on(ctx, o, s, func(m *measurement) error {
				m.arriving = arriving
				return m.measure(ctx)
			})
		},
	}
}

// on runs f on a copy of the kept database of each kind, in which members trade.
func on(ctx context.Context, o *lab.Options, s size, f func(*measurement) error) error {
	more := &board.More{
		Name: fmt.Sprintf("members-%d-%d", s.members, s.entries), Version: 2,
		Write: func(ctx context.Context, on *board.Measurement) error { return newPeople(on, s).write(ctx) },
	}
	return board.OnMore(ctx, o, more, func(on *board.Measurement) error {
		p := newPeople(on, s)
		if err := p.read(ctx); err != nil {
			return err
		}
		p.follow()
		return f(&measurement{Measurement: on, Options: o, people: p})
	})
}

func (m *measurement) measure(ctx context.Context) error {
	about := fmt.Sprintf("%s, %d members and %d entries. %d round(s), medians: %g requests/s for %s, a quarter of each kind, while %g trades/s arrive.", m.Measurement, m.people.members,
		m.people.entries, m.Rounds, m.Rate, m.Duration, m.arriving)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	kept, err := m.QuietRounds(os.Stdout, func(round int) (others float64, err error) {
		err = m.Served(ctx, func(api *lab.Served) error {
			r, err := m.round(ctx, api, uint64(round))
			if err != nil {
				return err
			}
			others = r.used.Others()
			m.runs = append(m.runs, *r)
			for kind, name := range kinds {
				lab.Say("%s, round %d: %s: %d of 200, %d of 503", m.Database, round+1, name, len(r.of.Of(kind, http.StatusOK)), len(r.of.Of(kind, lab.Refused)))
			}
			lab.Say("%s", r.arrived)
			return nil
		})
		return others, err
	})
	if err != nil {
		return err
	}
	peak := slices.MaxFunc(m.runs, func(a, b run) int { return cmp.Compare(a.used.Ended.Peak, b.used.Ended.Peak) }).used.Ended.Peak
	m.Keep(kept)
	m.runs = lab.Pick(m.runs, kept)
	return lab.WriteTables(os.Stdout, m.report(), m.judged(peak), lab.EachRound(m.runs, machine))
}

func (m *measurement) round(ctx context.Context, api *lab.Served, round uint64) (*run, error) {
	out := &run{}
	var err error
	out.arrived, err = m.Arrivals.During(ctx, m.arriving, func() error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		heads := &heads{}
		followed := make(chan error, 1)
		go func() { followed <- heads.follow(ctx, api.Address) }()
		wait.For(ctx, board.Settling)
		if err := m.tellLaunches(ctx, api.Address); err != nil {
			return err
		}
		loop := m.loop(api.Address, heads, round)
		if _, err := loop(ctx, 5*time.Second); err != nil { // warms the caches up
			return err
		}
		used, err := lab.Meter(api, m.Database.Postgres, func() (err error) {
			out.of, err = loop(ctx, m.Duration)
			return err
		})
		if err != nil {
			return err
		}
		out.used = used
		if out.left, err = m.leave(ctx, api.Address); err != nil {
			return err
		}
		stop()
		if err := <-followed; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return out.of.Statuses().Only(http.StatusOK, lab.Refused)
	})
	return out, err
}

// tellLaunches has the stream tell which launches pass the quality bar, as the members program does.
func (m *measurement) tellLaunches(ctx context.Context, address string) error {
	f, err := running.New("http://"+address, m.Store().Social.Running, func() time.Time { return time.Unix(lab.WorldEnd, 0) })
	if err != nil {
		return err
	}
	l, err := m.Store().Social.Leases.Acquire(ctx, "bench", time.Hour.Milliseconds())
	if err != nil {
		return err
	}
	return f.Look(ctx, l)
}

// loop makes the open loop, of a length.
func (m *measurement) loop(address string, h *heads, round uint64) func(context.Context, time.Duration) (*lab.OpenRun, error) {
	rng, drawn := rand.New(rand.NewPCG(3, round)), map[string]*lab.Zipf{}
	return func(ctx context.Context, length time.Duration) (*lab.OpenRun, error) {
		o := lab.OpenLoop{
			Address: address, Rate: m.Rate, Length: length, Most: 512, Clients: m.Fresh(), Grace: 10 * time.Second,
			Next: func(n int) (kind int, head []byte) {
				target := ""
				switch kind = n % len(kinds); kind {
				case feed:
					target = "/api/feed/trades?launches=1"
				case since:
					at := h.before.Load()
					target = fmt.Sprintf("/api/live/since?trade=%d&launch=%d&call=%d", at, at, at)
				case leaders:
					target = "/api/leaderboard"
				default:
					target = m.people.inTokens(rng, drawn)
				}
				return kind, lab.Render(address, target)
			},
		}
		return o.Run(ctx)
	}
}

// heads is where the stream was, for clients who come back after two seconds.
type heads struct{ before atomic.Int64 }

const comesBack = 2

// follow asks once a second where the stream is, until ctx ends.
func (h *heads) follow(ctx context.Context, address string) error {
	var last []int64
	for wait.For(ctx, time.Second) {
		a, err := lab.Fetch(ctx, address, "/api/live/since")
		if err != nil {
			return err
		}
		var start struct{ Cursor struct{ Trade int64 } }
		if err := json.Unmarshal(a.Body, &start); err != nil {
			return fmt.Errorf("where the stream is: %w", err)
		}
		if last = append(last, start.Cursor.Trade); len(last) > comesBack {
			last = last[1:]
		}
		h.before.Store(last[0])
	}
	return nil
}

// report has a row for each kind of request.
func (m *measurement) report() *lab.Table {
	t := lab.NewTable("", ">p50, ms", ">p99, ms", "each round's p99", ">since it was sent, p99, ms", ">wanted, p99", "")
	for kind, name := range kinds {
		took := func(q float64) []float64 {
			return lab.Values(m.runs, func(r *run) float64 { return lab.Milliseconds(lab.Quantile(r.of.Of(kind, http.StatusOK), q)) })
		}
		p99 := took(0.99)
		sent := lab.Values(m.runs, func(r *run) float64 { return lab.Milliseconds(lab.Quantile(r.of.SinceSent(kind, http.StatusOK), 0.99)) })
		t.Add(name, fmt.Sprintf("%.2f", lab.Middle(took(0.5))), fmt.Sprintf("%.2f", lab.Middle(p99)), lab.Each(p99, "%.2f"), fmt.Sprintf("%.2f", lab.Middle(sent)), fmt.Sprint("below ", wantedTime),
			lab.Verdict(lab.Middle(p99) < lab.Milliseconds(wantedTime)))
	}
	return t
}

// judged has the other figures that there are bounds for.
func (m *measurement) judged(peak int64) *lab.Table {
	t := m.Judged(peak)
	var all []float64
	for i := range m.runs {
		for _, d := range m.runs[i].left {
			all = append(all, d.Seconds())
		}
	}
	slowest := slices.Max(all)
	t.Add(fmt.Sprintf("named after leaving, the longest of %d members, s", len(all)), fmt.Sprint("below ", wantedNamed.Seconds()), fmt.Sprintf("%.2f", slowest),
		fmt.Sprintf("the median is %.2f", lab.Middle(all)), lab.Verdict(slowest < wantedNamed.Seconds()))
	return t
}

var machine = []lab.Column[run]{
	{Name: "trades that arrived, a second", Format: "%.0f", Of: func(r *run) float64 { return r.arrived.PerSecond() }},
	{Name: "API server's cores", Format: "%.2f", Of: func(r *run) float64 { return r.used.Cores(r.used.Server) }},
	{Name: "database's cores", Format: "%.2f", Of: func(r *run) float64 { return r.used.Cores(r.used.Database) }},
	{Name: "others' cores", Format: "%.2f", Of: func(r *run) float64 { return r.used.Others() }},
	{Name: "resident MB", Format: "%.0f", Of: func(r *run) float64 { return float64(r.used.Ended.Resident) / 1e6 }},
	{Name: "peak MB", Format: "%.0f", Of: func(r *run) float64 { return float64(r.used.Ended.Peak) / 1e6 }},
}
