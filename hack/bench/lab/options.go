package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"time"
)

// Options are the flags of the measurements of the API server.
type Options struct {
	Rounds           int
	Duration, WarmUp time.Duration
	// Quiet is how many cores other programs may use in a round that counts; 0 is any number.
	Quiet float64
	// Runs is how many of them one server goes through.
	Runs int
	// DB is "sqlite", "postgres" or "both".
	DB         string
	Size       MarketSize
	Rate, Zipf float64
	onlySeed   bool
	Clients    int
}

// Flags declares those that all measurements of the API have.
func (o *Options) Flags(f *flag.FlagSet) {
	f.IntVar(&o.Rounds, "rounds", o.Rounds, "rounds; each has everything once")
	f.StringVar(&o.DB, "db", o.DB, "database: sqlite, postgres or both")
	if o.Size.Launches > 0 {
		f.IntVar(&o.Size.Launches, "launches", o.Size.Launches, "launches in the database")
	} else {
		f.IntVar(&o.Size.Tokens, "tokens", o.Size.Tokens, "tokens in the database")
	}
	f.IntVar(&o.Size.Trades, "trades", o.Size.Trades, "trades in the database")
	f.BoolVar(&o.onlySeed, "seed", false, "make the database if it isn't kept yet, and end")
	ProfilesFlag(f)
}

// LoadFlags declares how long a run is, and who asks.
func (o *Options) LoadFlags(f *flag.FlagSet) {
	f.IntVar(&o.Clients, "clients", 1000, "clients that take turns")
	f.DurationVar(&o.Duration, "duration", o.Duration, "how long one run is measured")
}

// ZipfFlag declares how tokens are drawn.
func (o *Options) ZipfFlag(f *flag.FlagSet) {
	f.Float64Var(&o.Zipf, "zipf", 1, "exponent of Zipf's law, by which tokens are drawn")
}

// OpenFlags adds those of an open loop.
func (o *Options) OpenFlags(f *flag.FlagSet) {
	o.Flags(f)
	o.LoadFlags(f)
	o.ZipfFlag(f)
	f.Float64Var(&o.Rate, "rate", 200, "requests per second")
}

// longestServed is for how long a server's chains are not stale, less the time that it takes to begin.
const longestServed = 100 * time.Second

// check holds the flags against their bounds, and gives the kinds of databases.
func (o *Options) check() ([]string, error) {
	// The server's clock moves on while the newest block stays where it is.
	serves := time.Duration(max(o.Runs, 1)) * (o.Duration + o.WarmUp)
	switch {
	case o.Rounds < 1 || o.Duration <= 0 || o.Clients < 1:
		return nil, errors.New("--rounds, --clients and the durations must be positive")
	case o.Quiet < 0:
		return nil, errors.New("--quiet must not be negative")
	case serves > longestServed:
		return nil, fmt.Errorf("measured for %s at a time one server serves for %s; its chains would be stale after %s", o.Duration, serves, longestServed)
	case o.Size.Tokens < 100 && o.Size.Launches < 1000 || o.Size.Trades < 0:
		return nil, errors.New("--tokens must be at least 100, --launches at least 1000 and --trades not negative")
	case o.DB == "both":
		return []string{SQLite, pgKind}, nil
	case o.DB != SQLite && o.DB != pgKind:
		return nil, fmt.Errorf("--db: %q is no kind of database; they are sqlite, postgres, both", o.DB)
	}
	return []string{o.DB}, nil
}

// Fresh are as many clients, none of which has sent anything.
func (o *Options) Fresh() *Clients { return &Clients{Together: o.Clients, Each: 40} }

// OnEach runs f on the seeded database of each kind, with a folder of its own, unless the database was all.
func (o *Options) OnEach(ctx context.Context, seedling func() *Seedling, f func(d *Database, dir string) error) error {
	kinds, err := o.check()
	if err != nil {
		return err
	}
	s := seedling()
	for _, kind := range kinds {
		if err := o.on(ctx, kind, s, f); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

func (o *Options) on(ctx context.Context, kind string, s *Seedling, f func(d *Database, dir string) error) error {
	d, err := seededDatabase(ctx, kind, s)
	if err != nil {
		return err
	}
	defer d.close()
	if o.onlySeed {
		return nil
	}
	return Scratch(func(dir string) error { return f(d, dir) })
}

// WantedMemory is what a server's process may have at most.
const WantedMemory = 512 << 20

// Refused is the status of an answer that turns a request away.
const Refused = http.StatusServiceUnavailable

// Market is a measurement on one database of a market.
type Market struct {
	*Options

	World    *World
	Database *Database
	dir      string
}

// BigMarket are the defaults of the measurements on a big database.
func BigMarket() *Options {
	return &Options{
		Rounds: 3, Duration: 15 * time.Second, WarmUp: 5 * time.Second, DB: "both",
		Size: MarketSize{Tokens: 100_000, Trades: 5_000_000, Seed: 1},
	}
}

// OnMarkets runs f on a market in each kind of database.
func (o *Options) OnMarkets(ctx context.Context, f func(*Market) error) error {
	var w *World
	seedling := func() *Seedling {
		w = NewWorld(o.Size)
		return w.Seedling()
	}
	return o.OnEach(ctx, seedling, func(d *Database, dir string) error { return f(&Market{o, w, d, dir}) })
}

// Serve starts the API server on the market's database.
func (m *Market) Serve(ctx context.Context) (*Served, error) {
	return ServeAPI(ctx, m.dir, m.Database.DSN)
}

// OpenLoop sends requests about tokens in an open loop. next makes the n-th, of tokens that it draws, and says of which kind it is.
func (m *Market) OpenLoop(ctx context.Context, address string, length time.Duration, sequence uint64, next func(n int, draw *Drawer) (kind int, target string),
) (*OpenRun, error) {
	draw := NewDrawer(m.World, m.Zipf, sequence)
	loop := OpenLoop{
		Address: address, Rate: m.Rate, Length: length, Most: 512, Clients: m.Fresh(), Grace: 10 * time.Second,
		Next: func(n int) (int, []byte) {
			kind, target := next(n, draw)
			return kind, Render(address, target)
		},
	}
	return loop.Run(ctx)
}

// RoundRun is what was used in a round: while the server was measured and, where it is, the database alone.
type RoundRun struct{ Server, Alone *Reading }

// RoundFigures are of the server's process, and how busy the machine was otherwise.
var RoundFigures = []Column[RoundRun]{
	{Name: "server's memory when ready, MB", Format: "%.0f", Of: func(r *RoundRun) float64 { return float64(r.Server.Begun.Resident) / 1e6 }},
	{Name: "at the end, MB", Format: "%.0f", Of: func(r *RoundRun) float64 { return float64(r.Server.Ended.Resident) / 1e6 }},
	{Name: "peak, MB", Format: "%.0f", Of: func(r *RoundRun) float64 { return float64(r.Server.Ended.Peak) / 1e6 }},
	{Name: "of it Go's heap, MB", Format: "%.0f", Of: func(r *RoundRun) float64 { return float64(r.Server.Ended.Heap) / 1e6 }},
	{Name: "server's cores", Format: "%.2f", Of: func(r *RoundRun) float64 { return r.Server.Cores(r.Server.Server) }},
	{Name: "others' cores meanwhile", Format: "%.2f", Of: func(r *RoundRun) float64 { return r.Server.Others() }},
}
