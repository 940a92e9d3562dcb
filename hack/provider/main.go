// Command provider stands in for a mainnet's RPC provider: a growing chain with a mainnet's volume, behind the limits of a provider or a
// node. It is no mainnet: its tokens, prices and people are invented.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/boardwalkhq/boardwalk/hack/provider/mainnet"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

const usage = `provider stands in for a mainnet's RPC provider, on this machine: it is no mainnet, and says nothing about one.

  go run ./hack/provider --chain base --profile alchemy [flags]
  go run ./hack/provider profiles

The contracts of a chain of config/samples lie at the addresses that the sample names, on an anvil of its own, where simnet's people
trade. Around them grows a chain with as many made-up transactions and logs as you say, in the shapes of two recorded blocks of
Ethereum. Of solana it is a local chain with what its people do alone, whose endpoints have the profiles of Solana's. Each profile of --profile is an endpoint of its own, with the limits and the words of that provider or node; "profiles" lists
them, and how each behaviour is known. A profile whose name begins with yellowstone has a second endpoint, which streams blocks by Yellowstone gRPC. What was asked stands below each endpoint's URL at /counts.

It prints the endpoints and writes the Chain resource to apply, such as

  go run . up -f DIR

It ends on SIGINT or SIGTERM, and prints what was asked. The first run needs Node.js and npm, as simnet does.

Flags:
`

type settings struct {
	mainnet.Options
	profiles, address, dir string
	start                  int64
	bare                   bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 1 && args[0] == "profiles" {
		return listProfiles(out)
	}
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	var chosen []profiles.Profile
	for name := range strings.SplitSeq(s.profiles, ",") {
		p, err := profiles.Named(name)
		if err != nil {
			return err
		}
		if s.bare {
			p.Latency = profiles.Latency{}
		}
		chosen = append(chosen, p)
	}
	for _, p := range chosen {
		if p.IsSolana != (s.Chain == solanaID) {
			return fmt.Errorf("profile %s isn't for chain %s: those with a name of Solana's nodes and providers are for --chain solana alone; see: provider profiles", p.Name, s.Chain)
		}
	}
	// The chain outlives the signal, so that nothing of what is under way fails.
	lifetime, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if s.Chain == solanaID {
		return runSolana(ctx, lifetime, out, s, chosen)
	}
	m, err := mainnet.Start(lifetime, s.Options)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	nodes, err := startNodes(s, chosen, func(o node.Options) (*node.Node, error) { return node.Start(lifetime, m.Chain, o) })
	if err != nil {
		return err
	}
	defer func() {
		for _, n := range nodes {
			_ = n.Close()
		}
	}()
	if err := introduce(out, m, s, chosen, nodes); err != nil {
		return err
	}
	err = m.Live(ctx)
	return errors.Join(err, report(out, chosen, nodes))
}

func parse(args []string, out io.Writer) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("provider", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&s.Chain, "chain", "base", "id of a chain of the samples: arbitrum, base, bsc, ethereum, hyperevm, monad, polygon, robinhood, solana")
	flags.StringVar(&s.Samples, "samples", filepath.Join("config", "samples"), "folder of the samples")
	flags.StringVar(&s.profiles, "profile", "", "how each endpoint behaves, with commas between several; see: provider profiles (default plain, or solana-plain)")
	flags.StringVar(&s.address, "address", "127.0.0.1:0", "where the first endpoint listens; others take free ports of the same host")
	flags.StringVar(&s.dir, "dir", "", "folder for the Chain resource; a new temporary one by default")
	flags.DurationVar(&s.BlockTime, "block-time", 0, "100ms to 12s; the sample's by default")
	flags.Uint64Var(&s.Seed, "seed", 1, "seed of names, prices and trades")
	flags.IntVar(&s.Txs, "txs", 100, "about how many made-up transactions a block has")
	flags.IntVar(&s.Logs, "logs", 400, "about how many logs they have together: Base has some 1,600 of 400")
	flags.IntVar(&s.VolumeV2, "pairs", 0, "Uniswap V2 pairs with made-up trades; 120, and 24 V3 pools, if both are 0")
	flags.IntVar(&s.VolumeV3, "pools", 0, "Uniswap V3 pools with made-up trades")
	flags.IntVar(&s.RealTxs, "real-txs", 0, "mean number of real transactions in a block of anvil's; 4 if 0")
	flags.DurationVar(&s.StateEvery, "state-every", 0, "how often anvil mines, at most once a block; once a second if 0")
	flags.IntVar(&s.Past, "past", 0, "blocks of full volume before now")
	flags.Float64Var(&s.Reorgs, "reorgs", 0, "part of the blocks that are followed by a reorg, such as 0.01")
	flags.IntVar(&s.ReorgDepth, "reorg-depth", 0, "most blocks that a reorg replaces; 2 if 0")
	flags.IntVar(&s.KeepStates, "keep-states", 0, "of how many of anvil's blocks the state is kept, at nearly 1 MB each; 500 if 0")
	flags.Int64Var(&s.start, "start", -1, "block at which the Chain resource begins; -1 is the head, 0 the stand-in's first")
	flags.BoolVar(&s.bare, "no-latency", false, "answer at once, whatever the profile says")
	flags.Usage = func() {
		_, _ = io.WriteString(out, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is no argument of provider, see provider --help", flags.Arg(0))
	}
	if s.Txs < 0 || s.Logs < 0 || s.Past < 0 || s.Reorgs < 0 || s.Reorgs > 1 {
		return nil, errors.New("--txs, --logs and --past must not be negative, --reorgs must be from 0 to 1")
	}
	switch {
	case s.profiles != "":
	case s.Chain == solanaID:
		s.profiles = "solana-plain"
	default:
		s.profiles = "plain"
	}
	shown := 0
	s.Said = func(done float64) {
		if percent := int(done*10) * 10; percent > shown {
			shown = percent
			fmt.Fprintf(out, "past: %d%%\n", percent)
		}
	}
	return s, nil
}

func startNodes(s *settings, chosen []profiles.Profile, begin func(node.Options) (*node.Node, error)) (nodes []*node.Node, err error) {
	host, _, found := strings.Cut(s.address, ":")
	if !found {
		return nil, fmt.Errorf("--address %q: write a host and a port, such as 127.0.0.1:8545", s.address)
	}
	for i, p := range chosen {
		address := s.address
		if i > 0 {
			address = host + ":0"
		}
		n, err := begin(node.Options{Profile: p, Address: address, Seed: s.Seed + uint64(i)})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// introduce says where everything is.
func introduce(out io.Writer, m *mainnet.Mainnet, s *settings, chosen []profiles.Profile, nodes []*node.Node) error {
	var urls []string
	for _, n := range nodes {
		urls = append(urls, n.URL())
	}
	start := s.start
	if start == 0 {
		start = int64(m.Chain.Genesis())
	}
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "provider-")
		if err != nil {
			return err
		}
		s.dir = dir
	}
	path, err := m.WriteManifest(s.dir, urls, start)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a stand-in of %s, chain %d, a block every %s; no mainnet\n", s.Chain, m.World.ChainID, m.BlockTime())
	for i, p := range chosen {
		fmt.Fprintf(out, "%s: %s (%s/counts)\n", p.Name, urls[i], urls[i])
	}
	fmt.Fprintf(out, "blocks: from %d to %d\nwrote %s\nprovider ready\n", m.Chain.Genesis(), m.Chain.Head().Number, path)
	return nil
}

// report says what was asked.
func report(out io.Writer, chosen []profiles.Profile, nodes []*node.Node) error {
	for i, p := range chosen {
		raw, err := json.Marshal(nodes[i].Counts())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s was asked: %s\n", p.Name, raw)
	}
	return nil
}

// listProfiles prints how each behaviour of each profile is known.
func listProfiles(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "These are stand-ins. H: the provider's own document or its program's source; M: reported by others; L: a guess, or from memory.")
	all := profiles.All()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(w, "\n%s\n", name)
		for _, s := range all[name].Sources {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", s.Sure, s.Behaviour, s.From)
		}
	}
	return w.Flush()
}
