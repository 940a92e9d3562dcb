package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// apiOptions are the flags of the measurements of the API server.
type apiOptions struct {
	command          string
	rounds           int
	duration, warmUp time.Duration
	// runs is how many of them one server goes through.
	runs       int
	cpuProfile string
	// db is "sqlite", "postgres" or "both".
	db       string
	kinds    []string
	size     marketSize
	rate     float64
	zipf     float64
	onlySeed bool
	again    bool
	clients  clients
	args     []string
}

// parse reads the flags that measurements of the API share, beside those that more adds.
func (o *apiOptions) parse(args []string, usage string, more func(*flag.FlagSet)) error {
	flags := flag.NewFlagSet("bench "+o.command, flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", o.rounds, "rounds; each has everything once")
	flags.DurationVar(&o.duration, "duration", o.duration, "how long one run is measured")
	flags.DurationVar(&o.warmUp, "warmup", o.warmUp, "how long it runs before that")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the server, of one more run that isn't counted")
	flags.StringVar(&o.db, "db", o.db, "database: sqlite, postgres or both")
	if o.size.Launches > 0 {
		flags.IntVar(&o.size.Launches, "launches", o.size.Launches, "launches in the database")
	} else {
		flags.IntVar(&o.size.Tokens, "tokens", o.size.Tokens, "tokens in the database")
	}
	flags.IntVar(&o.size.Trades, "trades", o.size.Trades, "trades in the database")
	flags.Uint64Var(&o.size.Seed, "world", 1, "seed of what is in the database")
	flags.BoolVar(&o.onlySeed, "seed", false, "make the database if it isn't kept yet, and end")
	flags.BoolVar(&o.again, "reseed", false, "make the database even if it is kept")
	flags.IntVar(&o.clients.Together, "clients", 1000, "clients that take turns")
	flags.IntVar(&o.clients.Each, "per-client", 40, "requests after which all of them are replaced by others")
	if more != nil {
		more(flags)
	}
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (see bench %s --help)", err, o.command)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no argument of bench %s (see its --help)", flags.Arg(0), o.command)
	}
	if o.rounds < 1 || o.duration <= 0 || o.warmUp < 0 {
		return errors.New("--rounds and --duration must be positive")
	}
	// The server's clock moves on while the newest block stays where it is.
	if serves := time.Duration(max(o.runs, 1)) * (o.duration + o.warmUp); serves > longestServed {
		return fmt.Errorf("with --duration %s and --warmup %s one server serves for %s; its chains would be stale after %s",
			o.duration, o.warmUp, serves, longestServed)
	}
	if (o.size.Tokens < 100 && o.size.Launches < 1000) || o.size.Trades < 0 {
		return errors.New("--tokens must be at least 100, --launches at least 1000 and --trades not negative")
	}
	if o.clients.Together < 1 || o.clients.Each < 1 {
		return errors.New("--clients and --per-client must be positive")
	}
	var err error
	o.kinds, err = kindsOf(o.db)
	o.args = args
	return err
}

// longestServed is for how long a server's chains are not stale, less the time that it takes to begin.
const longestServed = 100 * time.Second

// fresh is the same number of clients, none of which has sent anything.
func (o *apiOptions) fresh() *clients {
	return &clients{Together: o.clients.Together, Each: o.clients.Each}
}

// scratch is a folder for the time of a measurement.
func scratch(f func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "boardwalk-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return f(dir)
}

// withDatabase runs f on the seeded database of a kind, unless that was all.
func (o *apiOptions) withDatabase(ctx context.Context, kind string, w *world, f func(*database) error) error {
	d, err := seededDatabase(ctx, kind, w.seedling(), o.again)
	if err != nil {
		return err
	}
	defer d.close()
	if o.onlySeed {
		return nil
	}
	return f(d)
}
