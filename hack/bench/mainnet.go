package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/provider/chain"
	"github.com/boardwalkhq/boardwalk/hack/provider/mainnet"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const mainnetUsage = `bench mainnet has the indexer follow a stand-in of a mainnet, at its block time and with its volume, into PostgreSQL. It says how long a
block takes from its announcement until it is committed, and what the indexer and the database use for it.

  go run ./hack/bench mainnet --chain base                                    400 transactions and 1,600 logs every 2 s
  go run ./hack/bench mainnet --chain bsc --txs 200 --logs 800                 as large as BNB Chain's, every 450 ms
  go run ./hack/bench mainnet --chain base --past 2h                           catch up with two hours instead
  go run ./hack/bench mainnet --chain base --profile alchemy                   with a provider's limits and latency

The stand-in is a part of this program and of anvil: neither is measured. Take --for long enough: a p99 needs some hundred blocks.

Flags:
`

// What is wanted of the head and of the past.
const (
	wantedCommit    = 300 * time.Millisecond
	wantedHeadCores = 0.5
	wantedPastCPU   = 200 * time.Second // of CPU for two hours of Base
	wantedIndexer   = 512 << 20
)

// mainnetSettings are the flags of bench mainnet.
type mainnetSettings struct {
	mainnet.Options

	// endpoint is the profile of the stand-in's endpoint, bare has it answer at once.
	endpoint, binary string
	bare             bool
	during           time.Duration
	// cpuProfile and statements are files to write.
	cpuProfile, statements string
}

func parseMainnet(args []string) (*mainnetSettings, error) {
	s := &mainnetSettings{}
	flags := flag.NewFlagSet("bench mainnet", flag.ContinueOnError)
	flags.StringVar(&s.Chain, "chain", "base", "id of a chain of the samples")
	flags.StringVar(&s.Samples, "samples", filepath.Join("config", "samples"), "folder of the samples")
	flags.StringVar(&s.endpoint, "profile", "plain", "how the endpoint behaves; see go run ./hack/provider profiles")
	flags.BoolVar(&s.bare, "no-latency", false, "answer at once, whatever the profile says")
	flags.DurationVar(&s.BlockTime, "block-time", 0, "100ms to 12s; the sample's by default")
	flags.Uint64Var(&s.Seed, "seed", 1, "seed of names, prices and trades")
	flags.IntVar(&s.Txs, "txs", 400, "about how many transactions a block has")
	flags.IntVar(&s.Logs, "logs", 1600, "about how many logs they have together")
	flags.DurationVar(&s.during, "for", 5*time.Minute, "how long the head is followed")
	flags.DurationVar(&s.PastSpan, "past", 0, "catch up with so much of the chain's time instead of following the head")
	flags.StringVar(&s.binary, "boardwalk", "", "boardwalk's binary `FILE`; else it is built from this checkout")
	flags.StringVar(&s.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the indexer's first 30 s at the head, or of the past")
	flags.StringVar(&s.statements, "statements", "", "`FILE` for the statements that the database spent most time on")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), mainnetUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w (see bench mainnet --help)", err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is no argument of bench mainnet (see its --help)", flags.Arg(0))
	}
	if s.during <= 0 || s.PastSpan < 0 || s.Txs < 0 || s.Logs < 0 {
		return nil, errors.New("--for must be positive; --past, --txs and --logs must not be negative")
	}
	return s, nil
}

func mainnetCommand(ctx context.Context, args []string) error {
	s, err := parseMainnet(args)
	if err != nil {
		return err
	}
	return scratch(func(dir string) error {
		if s.binary == "" {
			if s.binary, err = buildBoardwalk(ctx, dir); err != nil {
				return err
			}
		}
		f, err := newFollowed(ctx, s, dir)
		if err != nil {
			return err
		}
		defer f.close(ctx)
		if s.PastSpan > 0 {
			return f.catchUp(ctx, args)
		}
		return f.follow(ctx, args)
	})
}

// followed is a stand-in, a database, and the indexer between them.
type followed struct {
	*mainnetSettings

	net      *mainnet.Mainnet
	node     *node.Node
	postgres *postgres
	conn     *pgx.Conn
	indexer  *exec.Cmd
	ended    chan error
	peak     chan int64
	watched  context.CancelFunc
	output   string
	// latency is the endpoint's median.
	latency time.Duration
	// operations is where the indexer answers for its profile.
	operations string
}

func newFollowed(ctx context.Context, s *mainnetSettings, dir string) (_ *followed, err error) {
	f := &followed{mainnetSettings: s, ended: make(chan error, 1), peak: make(chan int64, 1), output: filepath.Join(dir, "output")}
	defer func() {
		if err != nil {
			f.close(ctx)
		}
	}()
	profile, err := node.ProfileOf(s.endpoint)
	if err != nil {
		return nil, err
	}
	if s.bare {
		profile.Latency = node.Latency{}
	}
	f.latency = profile.Latency.Median
	if f.postgres, err = startPostgres(ctx, dir, s.statements != ""); err != nil {
		return nil, err
	}
	if f.net, err = f.makeChain(ctx); err != nil {
		return nil, err
	}
	if f.node, err = node.Start(ctx, f.net.Chain, node.Options{Profile: profile, Seed: s.Seed}); err != nil {
		return nil, err
	}
	dsn, _, err := f.postgres.create(ctx)
	if err != nil {
		return nil, err
	}
	if f.conn, err = pgx.Connect(ctx, dsn); err != nil {
		return nil, err
	}
	document, err := f.document(dir)
	if err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	f.operations = fmt.Sprintf("127.0.0.1:%d", port)
	f.indexer = exec.CommandContext(ctx, s.binary, "indexer", "--config", document, "--operations", f.operations, "--pprof")
	f.indexer.Env = append(os.Environ(), "BOARDWALK_DB="+dsn)
	f.indexer.SysProcAttr = dieWithParent()
	f.indexer.Cancel = func() error { return f.indexer.Process.Signal(syscall.SIGTERM) }
	return f, nil
}

func (f *followed) makeChain(ctx context.Context) (*mainnet.Mainnet, error) {
	o := f.Options
	shown := 0
	o.Said = func(done float64) {
		if percent := int(done*10) * 10; percent > shown {
			shown = percent
			say("chain: made %d%% of the past", percent)
		}
	}
	say("chain: placing the contracts of %s", o.Chain)
	return mainnet.Start(ctx, o)
}

// document writes what the indexer runs on: the sample as it is, but for its endpoints and where it begins.
func (f *followed) document(dir string) (string, error) {
	start := int64(-1)
	if f.PastSpan > 0 {
		start = int64(f.net.Chain.Genesis())
	}
	manifests := filepath.Join(dir, "manifests")
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
	path := filepath.Join(dir, "chain.json")
	return path, os.WriteFile(path, raw, 0o600)
}

func (f *followed) start(ctx context.Context) error {
	output, err := os.Create(f.output)
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }()
	f.indexer.Stdout, f.indexer.Stderr = output, output
	if err := f.indexer.Start(); err != nil {
		return fmt.Errorf("start the indexer: %w", err)
	}
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.watched = stop
	go func() { f.ended <- f.indexer.Wait() }()
	go func() { f.peak <- watchPeak(watching, f.indexer.Process.Pid) }()
	return nil
}

func (f *followed) close(ctx context.Context) {
	if f.watched != nil {
		_ = f.indexer.Process.Signal(syscall.SIGTERM)
		<-f.ended //nolint:errcheck // it was told to end
		f.watched()
	}
	if f.conn != nil {
		_ = f.conn.Close(context.WithoutCancel(ctx))
	}
	if f.node != nil {
		_ = f.node.Close()
	}
	if f.net != nil {
		_ = f.net.Close()
	}
	if f.postgres != nil {
		f.postgres.stop()
	}
}

// indexed is the newest committed block's number.
func (f *followed) indexed(ctx context.Context) (uint64, error) {
	var number int64
	if err := f.conn.QueryRow(ctx, "SELECT number FROM chains").Scan(&number); err != nil {
		return 0, notYet(err)
	}
	select {
	case err := <-f.ended:
		f.ended <- err
		return 0, fmt.Errorf("the indexer ended: %w; it said last:\n%s", err, tail(f.output))
	default:
	}
	return uint64(number), nil
}

// usage is what the indexer and the database have used so far.
func (f *followed) usage() (indexer, database time.Duration) {
	s := readStat(f.indexer.Process.Pid)
	return time.Duration(s.user+s.system) * time.Second / ticksPerSecond, f.postgres.cpu()
}

// catchUp measures how the past is read. The chain stands still.
func (f *followed) catchUp(ctx context.Context, args []string) error {
	head := f.net.Chain.Head().Number
	before, began, all := f.postgres.cpu(), now(), machineBusy()
	if err := f.start(ctx); err != nil {
		return err
	}
	f.writeProfile(ctx)
	said := now()
	for {
		number, err := f.indexed(ctx)
		if err != nil {
			return err
		}
		if number >= head {
			break
		}
		if first := f.net.Chain.Genesis(); number > first && now().Sub(said) > 10*time.Second {
			said = now()
			done := float64(number-first) / float64(head-first)
			say("past: %.0f%%, %s left", 100*done, time.Duration(float64(now().Sub(began))*(1-done)/done).Round(time.Second))
		}
		if !wait.For(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	wall := now().Sub(began)
	indexer, after := f.usage()
	database := after - before
	if err := f.writeStatements(ctx); err != nil {
		return err
	}
	return f.reportPast(args, spent{indexer, database, wall, machineBusy() - all})
}

// atHead is what was measured at the head.
type atHead struct {
	took              []time.Duration // from a block's announcement until it was committed, sorted
	wall              time.Duration
	indexer, database time.Duration // of CPU
	before            node.Counts
	behind            uint64
}

// follow measures how the head is followed.
func (f *followed) follow(ctx context.Context, args []string) error {
	alive, end := context.WithCancel(ctx)
	lives := make(chan error, 1)
	go func() { lives <- f.net.Live(alive) }()
	defer func() {
		end()
		<-lives //nolint:errcheck // a chain that ended shows in what is measured
	}()
	seen := &announcements{at: map[uint64]time.Time{}}
	go seen.watch(alive, f.net.Chain)
	if err := f.start(ctx); err != nil {
		return err
	}
	say("head: coming to it")
	for {
		number, err := f.indexed(ctx)
		if err != nil {
			return err
		}
		if number > 0 && number+1 >= f.net.Chain.Head().Number {
			break
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
	wait.For(ctx, 5*time.Second) // what a start does besides
	f.writeProfile(ctx)
	say("head: following it for %s", f.during)
	m, err := f.measureHead(ctx, seen)
	if err != nil {
		return err
	}
	if err := f.writeStatements(ctx); err != nil {
		return err
	}
	return f.reportHead(m, args)
}

func (f *followed) measureHead(ctx context.Context, seen *announcements) (m atHead, err error) {
	number, err := f.indexed(ctx)
	if err != nil {
		return m, err
	}
	m.before = f.node.Counts()
	indexer, database := f.usage()
	began := now()
	for said := began; now().Sub(began) < f.during; {
		newest, err := f.indexed(ctx)
		if err != nil {
			return m, err
		}
		for ; number < newest; number++ {
			if at, ok := seen.of(number + 1); ok && at.After(began) {
				m.took = append(m.took, now().Sub(at))
			}
		}
		if now().Sub(said) > 30*time.Second {
			said = now()
			say("head: %.0f%%, %d blocks", 100*now().Sub(began).Seconds()/f.during.Seconds(), len(m.took))
		}
		if !wait.For(ctx, pollEvery) {
			return m, ctx.Err()
		}
	}
	m.wall = now().Sub(began)
	m.indexer, m.database = f.usage()
	m.indexer, m.database = m.indexer-indexer, m.database-database
	m.behind = f.net.Chain.Head().Number - number
	slices.Sort(m.took)
	return m, nil
}

// pollEvery is how often the database is asked for the newest block: what is measured is as coarse.
const pollEvery = 5 * time.Millisecond

// memory ends the watching of the indexer's memory and gives its peak.
func (f *followed) memory() int64 {
	f.watched()
	peak := <-f.peak
	f.peak <- peak
	return peak
}

func (f *followed) writeProfile(ctx context.Context) {
	if f.cpuProfile == "" {
		return
	}
	go func() {
		if err := profile(ctx, "http://"+f.operations+"/debug/pprof/profile?seconds=30", f.cpuProfile); err != nil {
			say("profile: %v", err)
		}
	}()
}

func (f *followed) writeStatements(ctx context.Context) error {
	if f.statements == "" {
		return nil
	}
	return f.postgres.slowest(ctx, f.conn, f.statements)
}

// announcements are when each block was made.
type announcements struct {
	mu sync.Mutex
	at map[uint64]time.Time
}

func (a *announcements) watch(ctx context.Context, c *chain.Chain) {
	newest := c.Head().Number
	for {
		grown := c.Grown()
		at := now()
		a.mu.Lock()
		for head := c.Head().Number; newest < head; {
			newest++
			a.at[newest] = at
		}
		a.mu.Unlock()
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

func (a *announcements) of(number uint64) (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.at[number]
	return at, ok
}
