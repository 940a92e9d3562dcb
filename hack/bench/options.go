package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"time"
)

// options are the flags of the measurements of the API server.
type options struct {
	rounds           int
	duration, warmUp time.Duration
	// runs is how many of them one server goes through.
	runs int
	// db is "sqlite", "postgres" or "both".
	db         string
	size       marketSize
	rate, zipf float64
	onlySeed   bool
	clients    int
}

// flags declares those that all measurements of the API have.
func (o *options) flags(f *flag.FlagSet) {
	f.IntVar(&o.rounds, "rounds", o.rounds, "rounds; each has everything once")
	f.StringVar(&o.db, "db", o.db, "database: sqlite, postgres or both")
	if o.size.Launches > 0 {
		f.IntVar(&o.size.Launches, "launches", o.size.Launches, "launches in the database")
	} else {
		f.IntVar(&o.size.Tokens, "tokens", o.size.Tokens, "tokens in the database")
	}
	f.IntVar(&o.size.Trades, "trades", o.size.Trades, "trades in the database")
	f.BoolVar(&o.onlySeed, "seed", false, "make the database if it isn't kept yet, and end")
	f.IntVar(&o.clients, "clients", 1000, "clients that take turns")
	profilesFlag(f)
}

// durationFlag declares how long a run is.
func (o *options) durationFlag(f *flag.FlagSet) {
	f.DurationVar(&o.duration, "duration", o.duration, "how long one run is measured")
}

// zipfFlag declares how tokens are drawn.
func (o *options) zipfFlag(f *flag.FlagSet) {
	f.Float64Var(&o.zipf, "zipf", 1, "exponent of Zipf's law, by which tokens are drawn")
}

// openFlags adds those of an open loop.
func (o *options) openFlags(f *flag.FlagSet) {
	o.flags(f)
	o.durationFlag(f)
	o.zipfFlag(f)
	f.Float64Var(&o.rate, "rate", 200, "requests per second")
}

// longestServed is for how long a server's chains are not stale, less the time that it takes to begin.
const longestServed = 100 * time.Second

// check holds the flags against their bounds.
func (o *options) check() error {
	if o.rounds < 1 || o.duration <= 0 || o.clients < 1 {
		return errors.New("--rounds, --clients and the durations must be positive")
	}
	// The server's clock moves on while the newest block stays where it is.
	if serves := time.Duration(max(o.runs, 1)) * (o.duration + o.warmUp); serves > longestServed {
		return fmt.Errorf("measured for %s at a time one server serves for %s; its chains would be stale after %s", o.duration, serves, longestServed)
	}
	if (o.size.Tokens < 100 && o.size.Launches < 1000) || o.size.Trades < 0 {
		return errors.New("--tokens must be at least 100, --launches at least 1000 and --trades not negative")
	}
	_, err := kindsOf(o.db)
	return err
}

// fresh are as many clients, none of which has sent anything.
func (o *options) fresh() *clients { return &clients{Together: o.clients, Each: 40} }

// onEach runs f on the seeded database of each kind, with a folder of its own, unless the database was all.
func (o *options) onEach(ctx context.Context, s *seedling, f func(d *database, dir string) error) error {
	kinds, err := kindsOf(o.db)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if err := o.on(ctx, kind, s, f); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

func (o *options) on(ctx context.Context, kind string, s *seedling, f func(d *database, dir string) error) error {
	d, err := seededDatabase(ctx, kind, s)
	if err != nil {
		return err
	}
	defer d.close()
	if o.onlySeed {
		return nil
	}
	return scratch(func(dir string) error { return f(d, dir) })
}

// wantedMemory is what a server's process may have at most.
const wantedMemory = 512 << 20

// refused is the status of an answer that turns a request away.
const refused = http.StatusServiceUnavailable

// onMarket is a measurement on one database of a market.
type onMarket struct {
	*options

	world *world
	d     *database
	dir   string
}

// bigMarket are the defaults of the measurements on a big database.
func bigMarket() *options {
	return &options{
		rounds: 3, duration: 15 * time.Second, warmUp: 5 * time.Second, db: "both",
		size: marketSize{Tokens: 100_000, Trades: 5_000_000, Seed: 1},
	}
}

// onMarkets runs f on a market in each kind of database.
func (o *options) onMarkets(ctx context.Context, f func(*onMarket) error) error {
	if err := o.check(); err != nil {
		return err
	}
	w := newWorld(o.size)
	return o.onEach(ctx, w.seedling(), func(d *database, dir string) error { return f(&onMarket{o, w, d, dir}) })
}

// serve starts the API server on the market's database.
func (m *onMarket) serve(ctx context.Context, more ...string) (*served, error) {
	return serveAPI(ctx, m.dir, m.d.dsn, more...)
}

// openLoop sends requests about tokens in an open loop. next makes the n-th, of tokens that it draws, and says of which kind it is.
func (m *onMarket) openLoop(ctx context.Context, address string, length time.Duration, sequence uint64, next func(n int, draw *drawer) (kind int, target string),
) (*openRun, error) {
	draw := newDrawer(m.world, m.zipf, sequence)
	loop := openLoop{
		address: address, rate: m.rate, length: length, most: 512, clients: m.fresh(), grace: 10 * time.Second,
		next: func(n int) (int, []byte) {
			kind, target := next(n, draw)
			return kind, render(address, target)
		},
	}
	return loop.run(ctx)
}

// roundRun is what was used in a round: while the server was measured and, where it is, the database alone.
type roundRun struct{ server, alone *reading }

// roundFigures are of the server's process, and how busy the machine was otherwise.
var roundFigures = []column[roundRun]{
	{name: "server's memory when ready, MB", format: "%.0f", of: func(r *roundRun) float64 { return float64(r.server.begun.Resident) / 1e6 }},
	{name: "at the end, MB", format: "%.0f", of: func(r *roundRun) float64 { return float64(r.server.ended.Resident) / 1e6 }},
	{name: "peak, MB", format: "%.0f", of: func(r *roundRun) float64 { return float64(r.server.ended.Peak) / 1e6 }},
	{name: "of it Go's heap, MB", format: "%.0f", of: func(r *roundRun) float64 { return float64(r.server.ended.Heap) / 1e6 }},
	{name: "server's cores", format: "%.2f", of: func(r *roundRun) float64 { return r.server.server.Seconds() / r.server.wall.Seconds() }},
	{name: "others' cores meanwhile", format: "%.2f", of: func(r *roundRun) float64 { return r.server.others }},
}
