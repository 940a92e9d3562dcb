package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/simnet"
)

const backfillUsage = `bench backfill measures the reading of a chain's past: %d blocks of real Uniswap V2 and V3 contracts
with some 250,000 logs, made once and kept in the cache directory.

  go run ./hack/bench backfill [flags]

Contenders, each cold (an empty database, no cache), one after the other, in rounds:

  boardwalk         this repository's indexer
  ponder            Ponder %s with a project that derives the same rows (hack/bench/ponder)
  floor             reads the same logs, decodes them with the same decoders, COPYs the events, nothing else
  boardwalk-replay  the indexer and the floor again, on recorded answers of the node instead of the
  floor-replay      node, so that its pace plays no part

CPU is user and system time of the contender's own processes. Every run's rows are held against a count that is made
from the logs alone; when they differ, the command fails. --cpuprofile, --memprofile and --statements are of one more
run, which isn't counted, on recorded answers; read the profiles with go tool pprof -top FILE.

It needs PostgreSQL (hack/setup.sh installs it) and Node.js with npm (it downloads the chain node, the contracts and
Ponder once, into $BOARDWALK_CACHE or the user's cache directory).

  go run ./hack/bench backfill --only boardwalk-replay,floor-replay --rounds 1 --cpuprofile cpu.out

Flags:
`

type settings struct {
	rounds              int
	only, chain, binary string
	cpuProfile, memory  string
	statements          string
	timeout             time.Duration
	size                simnet.BenchOptions
	wanted              []string
}

var allContenders = []string{"boardwalk", "ponder", "floor", "boardwalk-replay", "floor-replay"}

func backfillCommand(ctx context.Context, args []string) error {
	var s settings
	flags := flag.NewFlagSet("bench backfill", flag.ContinueOnError)
	flags.IntVar(&s.rounds, "rounds", 3, "rounds; each has every contender once")
	flags.StringVar(&s.only, "only", "", "`NAMES` of some contenders alone, separated by commas")
	flags.StringVar(&s.chain, "chain", "", "`DIR` of a chain that simnet bench --dump DIR/state.json made, instead of the cached one")
	flags.StringVar(&s.binary, "boardwalk", "", "boardwalk's binary `FILE`; else it is built from this checkout")
	flags.StringVar(&s.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the indexer")
	flags.StringVar(&s.memory, "memprofile", "", "`FILE` for a profile of the indexer's allocations")
	flags.StringVar(&s.statements, "statements", "", "`FILE` for the statements of the indexer that the database spent most time on")
	flags.DurationVar(&s.timeout, "timeout", 15*time.Minute, "the longest that one run may take")
	flags.IntVar(&s.size.Blocks, "blocks", 2000, "blocks of the chain that is made")
	flags.IntVar(&s.size.Txs, "txs", 104_000, "transactions of the chain that is made")
	flags.Uint64Var(&s.size.Seed, "seed", 1, "seed of the chain that is made")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), backfillUsage, 2000, ponderVersion)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (see bench backfill --help)", err)
	}
	s.wanted = allContenders
	if s.only != "" {
		s.wanted = strings.Split(s.only, ",")
	}
	for _, name := range s.wanted {
		if !slices.Contains(allContenders, name) {
			return fmt.Errorf("--only: %q is no contender; they are %s", name, strings.Join(allContenders, ", "))
		}
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no argument of bench backfill (see bench backfill --help)", flags.Arg(0))
	}
	if s.rounds < 1 || s.size.Blocks < 1 || s.size.Txs < s.size.Blocks {
		return errors.New("--rounds and --blocks must be positive, and --txs at least as many as --blocks")
	}
	return backfill(ctx, s)
}

func backfill(ctx context.Context, s settings) (err error) {
	dir, err := os.MkdirTemp("", "boardwalk-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if s.binary == "" {
		if s.binary, err = buildBoardwalk(ctx, dir); err != nil {
			return err
		}
	}
	if s.chain, err = chainDir(ctx, s.chain, s.size); err != nil {
		return err
	}
	l := &lab{dir: dir, timeout: s.timeout}
	if l.chain, err = serveChain(ctx, s.chain); err != nil {
		return err
	}
	defer l.chain.node.Kill()
	say("count: reading the chain's %d blocks", l.chain.head+1)
	counted, err := countChain(ctx, l.chain)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	say("count: %d logs, %d transfers, %d trades", counted.logs, counted.transfers, counted.trades)
	if l.postgres, err = startPostgres(ctx, dir, s.statements != ""); err != nil {
		return err
	}
	defer l.postgres.stop()
	if l.replay, err = startReplay(ctx, l.chain.node.URL()); err != nil {
		return err
	}
	defer l.replay.close()
	list, err := l.contenders(ctx, &s, counted)
	if err != nil {
		return err
	}
	return l.rounds(ctx, &s, counted, list)
}

// rounds runs everybody in turn and reports.
func (l *lab) rounds(ctx context.Context, s *settings, counted *census, list []*contender) error {
	for _, c := range list {
		if c.replayed {
			if _, _, err := l.run(ctx, c); err != nil {
				return err
			}
			say("%s: recorded %d calls", c.name, l.replay.missed())
		}
	}
	runs := map[string][]usageOf{}
	got := map[string]*rows{}
	var compared []string
	for round := range s.rounds {
		for _, c := range list {
			u, r, err := l.run(ctx, c)
			if err != nil {
				return fmt.Errorf("the rows differ, or it failed, so nothing is said of speed: %w", err)
			}
			say("round %d of %d: %s: %.2f CPU-s, %.1f s, %d MB", round+1, s.rounds, c.name, u.cpu.Seconds(), u.wall.Seconds(), u.peak>>20)
			if n := l.replay.missed(); n > 0 {
				say("%s asked %d calls that weren't recorded: the node answered those", c.name, n)
			}
			runs[c.name] = append(runs[c.name], u)
			if r != nil && got[c.name] == nil {
				compared = append(compared, c.name)
				got[c.name] = r
			}
		}
	}
	fmt.Fprintf(os.Stdout, "%d blocks, %d logs; %d round(s), medians; %s/%s, %d CPUs, %s\n\n", l.chain.head+1, counted.logs, s.rounds,
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if err := compareRows(os.Stdout, counted.rows(), compared, got); err != nil {
		return err
	}
	if err := report(os.Stdout, list, runs); err != nil {
		return err
	}
	return l.profiles(ctx, s, counted, runs)
}

// contenders are those that were asked for, in order.
func (l *lab) contenders(ctx context.Context, s *settings, counted *census) ([]*contender, error) {
	want := counted.rows()
	var out []*contender
	for _, name := range allContenders {
		if !slices.Contains(s.wanted, name) {
			continue
		}
		var c *contender
		switch strings.TrimSuffix(name, "-replay") {
		case "boardwalk":
			port, err := freePort(ctx)
			if err != nil {
				return nil, err
			}
			c = l.boardwalk(s.binary, "127.0.0.1:"+strconv.Itoa(port), want)
		case "ponder":
			var err error
			if c, err = l.ponder(ctx, want); err != nil {
				return nil, err
			}
		case "floor":
			c = l.floor(counted)
		}
		if strings.HasSuffix(name, "-replay") {
			c.replayed = true
			c.name += ", replay"
		}
		out = append(out, c)
	}
	return out, nil
}

// profiles runs the indexer once more, watched.
func (l *lab) profiles(ctx context.Context, s *settings, counted *census, runs map[string][]usageOf) error {
	if s.cpuProfile == "" && s.memory == "" && s.statements == "" {
		return nil
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	operations := "127.0.0.1:" + strconv.Itoa(port)
	c := l.boardwalk(s.binary, operations, counted.rows())
	c.replayed = true
	c.name += ", watched"
	// The program's listener allows no answer that takes a minute.
	seconds := 50.0
	for _, name := range []string{"Boardwalk, replay", "Boardwalk"} {
		for _, u := range runs[name] {
			seconds = min(u.wall.Seconds()*1.5+1, 50)
		}
	}
	if s.cpuProfile != "" {
		c.beside = func(ctx context.Context) error {
			return profile(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", operations, int(math.Ceil(seconds))), s.cpuProfile)
		}
	}
	if s.memory != "" {
		c.after = func(ctx context.Context) error {
			return profile(ctx, fmt.Sprintf("http://%s/debug/pprof/allocs", operations), s.memory)
		}
	}
	if s.statements != "" {
		check := c.check
		c.check = func(ctx context.Context, conn *pgx.Conn) (*rows, error) {
			if err := l.postgres.slowest(ctx, conn, s.statements); err != nil {
				return nil, err
			}
			return check(ctx, conn)
		}
	}
	say("profile: running the indexer once more")
	if _, _, err := l.run(ctx, c); err != nil {
		return err
	}
	for _, path := range []string{s.cpuProfile, s.memory} {
		if path != "" {
			say("profile: wrote %s; read it with: go tool pprof -top %s", path, path)
		}
	}
	if s.statements != "" {
		say("profile: wrote %s", s.statements)
	}
	return nil
}

func buildBoardwalk(ctx context.Context, dir string) (string, error) {
	say("boardwalk: building it")
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find this module: %w (run it in Boardwalk's checkout, or name a binary with --boardwalk)", err)
	}
	binary := filepath.Join(dir, "boardwalk")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build boardwalk: %w\n%s", err, out)
	}
	return binary, nil
}
