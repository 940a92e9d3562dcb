// Command trial indexes stand-ins of mainnets as a platform team's first hours would: from a sample, behind a provider's limits, at the chain's
// own block time, with reorgs. It says whether the head was reached, each quote is priced, and the rows are those of a fresh index.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

const usage = `trial indexes stand-ins of mainnets, behind the limits of providers and nodes, and holds the rows against those of a fresh index.

  go run ./hack/provider/trial --chain base --profile alchemy --for 10m
  go run ./hack/provider/trial --chain all --for 10m --parallel 2
  go run ./hack/provider/trial --chain base --db postgres --for 10m

Each chain of the samples has its profiles: those of its own nodes, and of providers that serve it. A row is "equal" where every derived row is
that of a fresh index of the same blocks through a node without limits. "equal, by kept facts" is behind nodes of the newest state alone: there the
fresh index has the facts that the first one kept, and no more state. So it is of solana, a local chain with what its people do alone, from its first
block on and without reorgs; the fresh index reads JSON-RPC alone. It is no mainnet: prices, tokens and people are invented.

Flags:
`

// profilesOf are the endpoints that each chain of the samples is tried behind, one after the other.
var profilesOf = map[string][]string{
	"ethereum":  {"alchemy", "infura", "geth", "reth", "erigon"},
	"base":      {"alchemy", "quicknode", "reth"},
	"bsc":       {"alchemy", "quicknode", "geth"},
	"arbitrum":  {"alchemy", "quicknode"},
	"polygon":   {"alchemy", "quicknode", "erigon"},
	"robinhood": {"alchemy"},
	"monad":     {"alchemy", "quicknode"},
	"hyperevm":  {"alchemy", "quicknode", "hyperevm"},
	solanaID:    {"helius-free", "agave", "yellowstone", "yellowstone-moody"},
}

type settings struct {
	samples, dir     string
	chains, profiles []string
	during           time.Duration
	seed             uint64
	txs, logs, past  int
	parallel, depth  int
	reorgRate        float64
	// fromHead begins at the head, whole at the stand-in's first block.
	fromHead, whole bool
	verbose         bool
	database        string
	// postgres is the server of --db postgres.
	postgres *postgres
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "trial:", err)
		os.Exit(1)
	}
}

func parse(args []string, out io.Writer) (*settings, error) {
	s := &settings{}
	var chains, profiles string
	flags := flag.NewFlagSet("trial", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&chains, "chain", "base", "ids of chains of the samples, with commas, or all, which are those of the EVM")
	flags.StringVar(&profiles, "profile", "", "profiles, with commas; those of the chain by default (see go run ./hack/provider profiles)")
	flags.StringVar(&s.samples, "samples", filepath.Join("config", "samples"), "folder of the samples")
	flags.StringVar(&s.dir, "dir", "", "folder for databases and logs; a temporary one by default")
	flags.StringVar(&s.database, "db", "sqlite", "database of the indexes: sqlite or postgres")
	flags.DurationVar(&s.during, "for", 10*time.Minute, "how long each chain lives once its head is reached")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of names, prices, trades and reorgs")
	flags.IntVar(&s.txs, "txs", 40, "about how many made-up transactions a block has")
	flags.IntVar(&s.logs, "logs", 160, "about how many logs they have together")
	flags.IntVar(&s.past, "past", 100, "blocks of full volume before now")
	flags.Float64Var(&s.reorgRate, "reorgs", 0.01, "part of the blocks that are followed by a reorg; 0.01 is more than is published of any chain of the samples (docs/mainnet.md)")
	flags.IntVar(&s.depth, "reorg-depth", 2, "most blocks that a reorg replaces")
	flags.IntVar(&s.parallel, "parallel", 1, "trials at the same time")
	flags.BoolVar(&s.whole, "whole", false, "begin at the stand-in's first block, where no pool is older than the index, instead of at the head as the samples do")
	flags.BoolVar(&s.verbose, "v", false, "write the indexers' logs into --dir at level debug")
	flags.Usage = func() {
		_, _ = io.WriteString(out, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is no argument of trial, see trial --help", flags.Arg(0))
	}
	if s.during <= 0 || s.parallel < 1 || s.txs < 0 || s.logs < 0 || s.past < 0 || s.reorgRate < 0 || s.reorgRate > 1 {
		return nil, errors.New("--for and --parallel must be positive; --txs, --logs and --past must not be negative; --reorgs must be from 0 to 1")
	}
	if s.database != "sqlite" && s.database != "postgres" {
		return nil, fmt.Errorf("--db is %q; allowed: sqlite, postgres", s.database)
	}
	s.chains = strings.Split(chains, ",")
	s.fromHead = !s.whole
	if chains == "all" {
		s.chains = []string{"ethereum", "base", "bsc", "arbitrum", "polygon", "robinhood", "monad", "hyperevm"}
	}
	if profiles != "" {
		s.profiles = strings.Split(profiles, ",")
	}
	return s, nil
}

// postgres makes databases for trials that run at the same time.
type postgres struct {
	mu     sync.Mutex
	server *lab.Postgres
}

func (p *postgres) create(ctx context.Context) (dsn string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	dsn, _, err = p.server.Create(ctx)
	return dsn, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "boardwalk-trial-"); err != nil {
			return err
		}
	}
	if s.database == "postgres" {
		server, err := lab.StartPostgres(ctx, s.dir, false)
		if err != nil {
			return err
		}
		defer server.Stop()
		s.postgres = &postgres{server: server}
	}
	var trials []*trial
	for _, chain := range s.chains {
		profiles := s.profiles
		if len(profiles) == 0 {
			profiles = profilesOf[chain]
		}
		if len(profiles) == 0 {
			return fmt.Errorf("chain %q has no profiles here: name them with --profile", chain)
		}
		for _, p := range profiles {
			t := &trial{settings: *s, chain: chain, profile: p, dir: filepath.Join(s.dir, chain+"-"+p)}
			t.fromHead = s.fromHead && chain != solanaID
			trials = append(trials, t)
		}
	}
	next := make(chan *trial)
	var workers sync.WaitGroup
	for range s.parallel {
		workers.Go(func() {
			for t := range next {
				t.err = t.run(ctx)
				fmt.Fprintln(os.Stderr, t.says())
			}
		})
	}
	for _, t := range trials {
		next <- t
	}
	close(next)
	workers.Wait()
	return report(out, trials, s.dir)
}

func report(out io.Writer, trials []*trial, dir string) error {
	fmt.Fprintln(out, "\n| chain | endpoint | block time | until the head | then | reorgs | farthest behind | quotes priced | trades without a price until | tokens | calls a block | units a day | refused | rows |")
	fmt.Fprintln(out, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
	failed := 0
	for _, t := range trials {
		fmt.Fprintln(out, t.row())
		if t.err != nil {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d trials failed; what they left is in %s", failed, len(trials), dir)
	}
	return nil
}
