// Command simnet runs two local chains of the EVM with real exchange contracts and a local Solana, with launch venues, a day of history
// and traders who never stop.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/desk"
	"github.com/boardwalkhq/boardwalk/hack/simnet/history"
	"github.com/boardwalkhq/boardwalk/hack/simnet/launch"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/hack/simnet/toolchain"
	"github.com/boardwalkhq/boardwalk/hack/simnet/traffic"
	"github.com/boardwalkhq/boardwalk/hack/simnet/venues"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

const usage = `simnet runs a local world: two anvil chains with the real contracts of Uniswap and PancakeSwap,
Boardwalk's own launch venue and contracts that stand in for other launchpads, tokens that misbehave in
the ways tokens do, a day of history, and traders who go on until it is told to end. Tokens are
launched all the time; some graduate after six to eight minutes, some fade, a few are traps. Beside
them runs a local Solana: its own runtime and token programs, and stand-ins of pump.fun's, Meteora's
and Raydium's programs. It is there on Linux with an x64 processor alone; --tx-per-block and
--pool-every don't change it.

With --intake-token-file 50 of the traders are members of a platform, 34 where there is no local
Solana: they join through its intake, call tokens, write posts and notes on their trades, and a few
of them leave, come back, take another handle or hide a wallet in every hour.

  simnet --dir DIR [flags]
  simnet bench --dump FILE [flags]

It writes DIR/base.yaml, DIR/bsc.yaml and DIR/solana.yaml, a Chain resource each, and DIR/venues.yaml
with the LaunchVenue resources, prints "simnet ready" when all chains have caught up with the clock, and
ends on SIGINT or SIGTERM. Nothing is kept: the next run
starts a new world. It needs Node.js 20 or newer with npm; the first run downloads the chain node,
the compiler and the contracts into $BOARDWALK_CACHE or the user's cache directory. simnet bench
makes a large chain for measurements instead, see simnet bench --help.

Flags:
`

type settings struct {
	dir               string
	basePort, bscPort int
	solanaPort        int
	span              time.Duration
	blocks            int
	txPerBlock        float64
	seed              uint64
	launchEvery       time.Duration
	poolEvery         time.Duration
	keepStates        int
	keepBlocks        int
	logs              bool
	// intake and tokenFile are where the world's members join; without them there are none.
	intake, tokenFile string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "simnet:", strings.TrimPrefix(err.Error(), "simnet: "))
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == "bench" {
		return runBench(args[1:])
	}
	var s settings
	flags := flag.NewFlagSet("simnet", flag.ContinueOnError)
	flags.StringVar(&s.dir, "dir", "", "directory for the Chain resources (required)")
	flags.IntVar(&s.basePort, "base-port", 18545, "port of the chain base")
	flags.IntVar(&s.bscPort, "bsc-port", 18546, "port of the chain bsc")
	flags.IntVar(&s.solanaPort, "solana-port", 18899, "port of the chain solana; -1 is no Solana")
	flags.DurationVar(&s.span, "span", 26*time.Hour, "how far history reaches back")
	flags.IntVar(&s.blocks, "blocks", 1500, "blocks of history on each chain")
	flags.Float64Var(&s.txPerBlock, "tx-per-block", 5, "mean number of transactions in a block")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of names, prices and trades")
	flags.DurationVar(&s.launchEvery, "launch-every", 40*time.Second, "about how often a token is launched on each chain's venues; 0 is no venues, and no Solana")
	flags.DurationVar(&s.poolEvery, "pool-every", 2*time.Minute, "about how often a new token with a pool appears on each chain besides; 0 is never")
	flags.IntVar(&s.keepBlocks, "keep-blocks", 0, "for how many blocks back transactions, receipts and logs are kept; 0 keeps all")
	flags.IntVar(&s.keepStates, "keep-states", 1000, "for how many blocks back eth_call works, nearly 1 MB of memory each;\n0 is some 4,000 blocks, mostly on disk at 2 MB each")
	flags.StringVar(&s.intake, "intake", "http://127.0.0.1:8090", "address of the intake that the world's members join through")
	flags.StringVar(&s.tokenFile, "intake-token-file", "", "file with a token of the intake; without it nobody is a member")
	flags.BoolVar(&s.logs, "logs", false, "write what the chain nodes print to DIR/<chain>.log")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no argument of simnet, see simnet --help", flags.Arg(0))
	}
	if s.dir == "" {
		return errors.New("say where the Chain resources go: simnet --dir DIR (see simnet --help)")
	}
	if s.blocks < 1 || s.span <= 0 || s.txPerBlock < 0 || s.launchEvery < 0 {
		return errors.New("--blocks and --span must be positive, --tx-per-block and --launch-every not negative")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runChains(ctx, s); err != nil && ctx.Err() == nil {
		return err
	}
	fmt.Println("simnet ended")
	return nil
}

type chain struct {
	manifest world.ManifestOptions
	chainID  uint64
	port     int
	flag     string
	seed     uint64

	world  *world.World
	trader *traffic.Trader
	desk   *desk.Desk // nil without venues
}

func runChains(ctx context.Context, s settings) error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	fmt.Println("tools: installing if needed")
	if _, err := toolchain.Install(ctx); err != nil {
		return err
	}
	fmt.Println("tools: ready")
	chains := []*chain{
		{manifest: world.ManifestOptions{ID: "base", Label: "Base", BlockTime: 2 * time.Second}, chainID: 8453, port: s.basePort, flag: "--base-port", seed: 2 * s.seed},
		{manifest: world.ManifestOptions{ID: "bsc", Label: "BNB Chain", BlockTime: time.Second}, chainID: 56, port: s.bscPort, flag: "--bsc-port", seed: 2*s.seed + 1},
	}
	// The nodes outlive the signal, so that they end after the traders do.
	nodes, endNodes := context.WithCancel(context.WithoutCancel(ctx))
	defer endNodes()
	var all []local
	for _, c := range chains {
		if err := c.start(nodes, s); err != nil {
			return fmt.Errorf("chain %s (%s %d): %w", c.manifest.ID, c.flag, c.port, err)
		}
		defer c.world.Node.Close()
		all = append(all, c)
	}
	var solana *solanaChain
	if s.solanaPort >= 0 && s.launchEvery > 0 {
		switch c, err := startSolana(nodes, s); {
		case errors.Is(err, svm.ErrNoRuntime):
			fmt.Printf("solana: left out: %v\n", err)
		case err != nil:
			return fmt.Errorf("chain solana (--solana-port %d): %w", s.solanaPort, err)
		default:
			defer c.world.Chain.Close()
			all, solana = append(all, c), c
		}
	}

	err := together(ctx, all, func(ctx context.Context, c local) error { return c.past(ctx, s) })
	if err != nil {
		return err
	}
	worlds := make(map[string]*world.World)
	for _, c := range chains {
		worlds[c.manifest.ID] = c.world
	}
	for _, c := range all {
		path, err := c.write(ctx, s.dir)
		if err != nil {
			return err
		}
		fmt.Printf("wrote %s\n", path)
	}
	if path, err := launch.WriteVenueManifests(s.dir, worlds); err != nil {
		return err
	} else if path != "" {
		fmt.Printf("venues: wrote %s\n", path)
	}
	fmt.Println("simnet ready")
	members, err := s.members(chains, solana)
	if err != nil {
		return err
	}
	if members != nil {
		go members(ctx)
	}
	return together(ctx, all, func(ctx context.Context, c local) error { return c.live(ctx, s) })
}

// local is a chain of the local world.
type local interface {
	// past makes the chain's past.
	past(ctx context.Context, s settings) error
	// write writes its Chain resource, and gives the file's path.
	write(ctx context.Context, dir string) (path string, err error)
	// live goes on with the chain until ctx ends.
	live(ctx context.Context, s settings) error
}

func (c *chain) write(_ context.Context, dir string) (path string, err error) {
	return c.world.WriteManifest(dir, c.manifest)
}

func (c *chain) live(ctx context.Context, s settings) error {
	return history.Live(ctx, c.world, c.trader, history.LiveOptions{
		BlockTime: c.manifest.BlockTime, TxPerBlock: s.txPerBlock, Seed: c.seed, LaunchEvery: s.poolEvery, Desk: c.desk,
		OnLaunch: func(token world.Token, pool world.Pool) {
			fmt.Printf("%s: new token %s (%s) on %s\n", c.manifest.ID, token.Symbol, token.Address, pool.Protocol)
		},
	})
}

// together does the same for all chains at once, until all are done or one fails.
func together(ctx context.Context, chains []local, do func(context.Context, local) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan error)
	for _, c := range chains {
		go func() { ends <- do(ctx, c) }()
	}
	var first error
	for range chains {
		if err := <-ends; err != nil && first == nil {
			first = err
			cancel()
		}
	}
	return first
}

// start starts a chain's node and deploys its world.
func (c *chain) start(ctx context.Context, s settings) error {
	options := anvil.NodeOptions{ChainID: c.chainID, Port: c.port, Timestamp: history.GenesisFor(s.span), KeepStates: s.keepStates, KeepBlocks: s.keepBlocks}
	if s.logs {
		options.LogFile = filepath.Join(s.dir, c.manifest.ID+".log")
	}
	node, err := anvil.StartNode(ctx, options)
	if err != nil {
		return err
	}
	fmt.Printf("%s: chain %d at %s\n", c.manifest.ID, c.chainID, node.URL())
	var protocols []venues.Protocol
	if s.launchEvery > 0 {
		protocols = venues.Usual(c.chainID)
	}
	if c.world, err = launch.Deploy(ctx, node, world.DeployOptions{Seed: c.seed}, protocols...); err != nil {
		node.Kill()
		return err
	}
	c.trader = traffic.NewTrader(c.world, c.seed)
	c.trader.UsePlatform()
	if len(protocols) > 0 {
		c.desk = desk.New(c.world, desk.Options{Seed: c.seed, Every: s.launchEvery, OnLaunch: c.tell})
	}
	fmt.Printf("%s: deployed %d tokens, %d pools, %d launch venues\n",
		c.manifest.ID, len(c.world.Tokens), len(c.world.Pools), len(c.world.Venues))
	return nil
}

// tell prints a launch. What it is called may be hostile to a terminal.
func (c *chain) tell(l *launch.Launch) {
	fmt.Printf("%s: launch of %q (%s) on %s\n", c.manifest.ID, l.Symbol, l.Token, l.Venue.ID)
}

func (c *chain) past(ctx context.Context, s settings) error {
	shown := 0
	return history.Mine(ctx, c.world, c.trader, history.Options{
		Span: s.span, Blocks: s.blocks, BlockTime: c.manifest.BlockTime, TxPerBlock: s.txPerBlock, Seed: c.seed, Desk: c.desk,
		OnBlock: func(done float64, _ []traffic.Truth) {
			if percent := int(done*10) * 10; percent > shown {
				shown = percent
				fmt.Printf("%s: history %d%%\n", c.manifest.ID, percent)
			}
		},
	})
}
