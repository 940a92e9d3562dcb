// Package mainnet measures how the indexer follows the head of a stand-in of a mainnet, or catches up with its past.
package mainnet

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/mainnet"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// lookEvery is how often the database is asked for what is waited for, where nothing is measured.
const lookEvery = 50 * time.Millisecond

// The limits that a run is held to.
const (
	wantedCommit    = 300 * time.Millisecond // of 99 % of blocks, from announced to committed, beside the endpoint's latency
	wantedHeadCores = 0.5                    // of the indexer and the database at the head
	wantedPastCPU   = 200 * time.Second      // of CPU for two hours of Base
	wantedIndexer   = 512 << 20              // bytes of memory at most
)

// settings are the flags.
type settings struct {
	mainnet.Options

	// endpoint is the profile of the stand-in's endpoint.
	endpoint, binary string
	during           time.Duration
	// known is how many tokens the index knows before it is measured; 0 is none but those of the stand-in.
	known int
	// anew has the past indexed anew once it is caught up with, beside the head.
	anew bool
	// cpuProfile and statements are files to write.
	cpuProfile, statements string
}

// Command is the command.
func Command() lab.Command {
	s := &settings{Options: mainnet.Options{Samples: filepath.Join("config", "samples")}}
	return lab.Command{
		Name: "mainnet",
		About: "The head of a stand-in of a mainnet, at its block time and with its volume, followed by the indexer into PostgreSQL, or its past caught " +
			"up with. Take --for long enough: a p99 needs some hundred blocks. See docs/benchmarks.md#a-mainnets-head.",
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&s.Chain, "chain", "base", "id of a chain of the samples")
			f.StringVar(&s.endpoint, "profile", "plain", "how the endpoint behaves; see go run ./hack/provider profiles")
			f.Uint64Var(&s.Seed, "seed", 1, "seed of names, prices and trades")
			f.IntVar(&s.Txs, "txs", 400, "about how many transactions a block has")
			f.IntVar(&s.Logs, "logs", 1600, "about how many logs they have together")
			f.DurationVar(&s.during, "for", 5*time.Minute, "how long the head is followed")
			f.DurationVar(&s.PastSpan, "past", 0, "catch up with so much of the chain's time instead of following the head")
			f.IntVar(&s.known, "known", 0, "how many tokens, each with a pool, the index knows before it follows the head")
			f.BoolVar(&s.anew, "anew", false, "with --past: then follow the head and have the past indexed anew beside it, and hold the memory of both against that of one")
			f.StringVar(&s.binary, "boardwalk", "", "boardwalk's binary `FILE`; else it is built from this checkout")
			f.StringVar(&s.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the indexer's first 30 s at the head, or of the past")
			f.StringVar(&s.statements, "statements", "", "`FILE` for the statements that the database spent most time on")
		},
		Run: func(ctx context.Context) error {
			if s.during <= 0 || s.PastSpan < 0 || s.Txs < 0 || s.Logs < 0 || s.known < 0 {
				return errors.New("--for must be positive; --past, --txs, --logs and --known must not be negative")
			}
			if s.known > 0 && s.PastSpan > 0 {
				return errors.New("--known is for the head: give it without --past")
			}
			if s.anew && s.PastSpan == 0 {
				return errors.New("--anew takes --past")
			}
			return lab.Scratch(func(dir string) error { return s.measure(ctx, dir) })
		},
	}
}

func (s *settings) measure(ctx context.Context, dir string) (err error) {
	if s.binary == "" {
		if s.binary, err = lab.BuildBoardwalk(ctx, dir); err != nil {
			return err
		}
	}
	profile, err := profiles.Named(s.endpoint)
	if err != nil {
		return err
	}
	f := &followed{settings: s, dir: dir, latency: profile.Latency.Median}
	if f.postgres, err = lab.StartPostgres(ctx, dir, s.statements != ""); err != nil {
		return err
	}
	defer f.postgres.Stop()
	if f.net, err = f.makeChain(ctx); err != nil {
		return err
	}
	defer func() { _ = f.net.Close() }()
	if f.node, err = node.Start(ctx, f.net.Chain, node.Options{Profile: profile, Seed: s.Seed}); err != nil {
		return err
	}
	defer func() { _ = f.node.Close() }()
	dsn, _, err := f.postgres.Create(ctx)
	if err != nil {
		return err
	}
	if f.conn, err = pgx.Connect(ctx, dsn); err != nil {
		return err
	}
	defer func() { _ = f.conn.Close(context.WithoutCancel(ctx)) }()
	f.dsn = dsn
	if f.config, err = f.document(); err != nil {
		return err
	}
	if err := f.prepare(ctx); err != nil {
		return err
	}
	defer func() {
		if f.indexer != nil {
			f.indexer.Stop()
		}
	}()
	run := f.follow
	if s.PastSpan > 0 {
		run = f.catchUp
	}
	if err := run(ctx); err != nil || s.statements == "" {
		return err
	}
	return f.postgres.Slowest(ctx, f.conn, s.statements)
}

// followed is a stand-in, a database, and the indexer between them.
type followed struct {
	*settings

	// dir has what the run writes, dsn names its database, config is the indexer's document.
	dir, dsn, config string

	net      *mainnet.Mainnet
	node     *node.Node
	postgres *lab.Postgres
	conn     *pgx.Conn
	command  *exec.Cmd
	indexer  *lab.Watched // once it is started
	// latency is the endpoint's median.
	latency time.Duration
	// operations is where the indexer answers for its profile.
	operations string
}

func (f *followed) makeChain(ctx context.Context) (*mainnet.Mainnet, error) {
	o := f.Options
	lab.Say("chain: placing the contracts of %s", o.Chain)
	p := lab.NewProgress("chain", 1000)
	o.Said = func(done float64) { p.At(int64(done * 1000)) }
	return mainnet.Start(ctx, o)
}

// document writes what the indexer runs on: the sample as it is, but for its endpoints and where it begins.
func (f *followed) document() (string, error) {
	start := int64(-1)
	if f.PastSpan > 0 {
		start = int64(f.net.Chain.Genesis())
	}
	manifests := filepath.Join(f.dir, "manifests")
	if _, err := f.net.WriteManifest(manifests, []string{f.node.URL()}, start); err != nil {
		return "", err
	}
	all, err := files.Load(manifests)
	if err != nil {
		return "", err
	}
	declared, err := all.Resolve()
	if err != nil {
		return "", err
	}
	raw, _, err := declared.Running[0].Encode()
	if err != nil {
		return "", err
	}
	path := filepath.Join(f.dir, "chain.json")
	return path, os.WriteFile(path, raw, 0o600)
}

// prepare makes the command of an indexer that isn't started yet.
func (f *followed) prepare(ctx context.Context) (err error) {
	f.command, f.operations, err = lab.IndexerOn(ctx, f.binary, f.config, f.dsn)
	return err
}

func (f *followed) start() (err error) {
	f.indexer, err = lab.StartWatched(f.command, f.dir)
	return err
}

// until asks for the newest committed block again and again until that is enough.
func (f *followed) until(ctx context.Context, every time.Duration, enough func(number uint64) bool) error {
	for {
		number, err := lab.Indexed(ctx, f.conn)
		if err == nil {
			err = f.indexer.Running()
		}
		if err != nil || enough(number) {
			return err
		}
		if !wait.For(ctx, every) {
			return ctx.Err()
		}
	}
}

// Usage is the CPU of the indexer so far.
func (f *followed) Usage() (u lab.UsageNow, err error) {
	if f.indexer != nil {
		u.CPU, err = lab.TreeCPU(f.indexer.Cmd.Process.Pid)
	}
	return u, err
}

// catchUp measures how the past is read. The chain stands still.
func (f *followed) catchUp(ctx context.Context) error {
	first, head := f.net.Chain.Genesis(), f.net.Chain.Head().Number
	used, err := lab.Meter(f, f.postgres, func() error {
		if err := f.start(); err != nil {
			return err
		}
		f.writeProfile(ctx)
		p := lab.NewProgress("past", int64(head-first))
		return f.until(ctx, 100*time.Millisecond, func(number uint64) bool {
			p.At(int64(number) - int64(first))
			return number >= head
		})
	})
	if err != nil {
		return err
	}
	if err := f.reportPast(used); err != nil || !f.anew {
		return err
	}
	return f.beside(ctx)
}

// atHead is what was measured at the head.
type atHead struct {
	*lab.Reading

	took   []time.Duration // from a block's announcement until it was committed, sorted
	before node.Counts
	behind uint64
}

// grow lets the chain grow until end is called. alive ends with it.
func (f *followed) grow(ctx context.Context) (alive context.Context, end func()) {
	alive, cancel := context.WithCancel(ctx)
	lives := make(chan error, 1)
	go func() { lives <- f.net.Live(alive) }()
	return alive, func() {
		cancel()
		<-lives //nolint:errcheck // a chain that ended shows in what is measured
	}
}

// follow measures how the head is followed.
func (f *followed) follow(ctx context.Context) error {
	alive, end := f.grow(ctx)
	defer end()
	var made sync.Map
	go announced(alive, f.net.Chain, &made)
	if f.known > 0 {
		if err := f.knowTokens(ctx); err != nil {
			return err
		}
	}
	if err := f.start(); err != nil {
		return err
	}
	lab.Say("head: coming to it")
	if err := f.until(ctx, lookEvery, func(number uint64) bool {
		return number > 0 && number+1 >= f.net.Chain.Head().Number
	}); err != nil {
		return err
	}
	wait.For(ctx, 5*time.Second) // what a start does besides
	f.writeProfile(ctx)
	lab.Say("head: following it for %s", f.during)
	m, err := f.measureHead(ctx, &made)
	if err != nil {
		return err
	}
	return f.reportHead(m)
}

func (f *followed) measureHead(ctx context.Context, made *sync.Map) (m *atHead, err error) {
	m = &atHead{before: f.node.Counts()}
	number, err := lab.Indexed(ctx, f.conn)
	if err != nil {
		return nil, err
	}
	p := lab.NewProgress("head", int64(f.during))
	// How often the database is asked for the newest block is how coarse the measurement is.
	const pollEvery = 5 * time.Millisecond
	m.Reading, err = lab.Meter(f, f.postgres, func() error {
		began := lab.Now()
		return f.until(ctx, pollEvery, func(newest uint64) bool {
			for ; number < newest; number++ {
				at, _ := made.Load(number + 1)
				if at, ok := at.(time.Time); ok && at.After(began) {
					m.took = append(m.took, lab.Now().Sub(at))
				}
			}
			p.At(int64(lab.Now().Sub(began)))
			return lab.Now().Sub(began) >= f.during
		})
	})
	m.behind = f.net.Chain.Head().Number - number
	slices.Sort(m.took)
	return m, err
}

func (f *followed) writeProfile(ctx context.Context) {
	if f.cpuProfile == "" {
		return
	}
	go func() {
		if err := lab.CPUProfile(ctx, f.operations, 30, f.cpuProfile); err != nil {
			lab.Say("profile: %v", err)
		}
	}()
}

// announced notes when each block is made, by its number, until ctx ends.
func announced(ctx context.Context, c *chain.Chain, made *sync.Map) {
	newest := c.Head().Number
	for {
		grown := c.Grown()
		at := lab.Now()
		for head := c.Head().Number; newest < head; {
			newest++
			made.Store(newest, at)
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}
