// Package backfill measures the reading of a chain's past by the indexer, by Ponder, and by a program that only decodes and copies.
package backfill

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

type settings struct {
	rounds              int
	only, chain, binary string
	// cpuProfile and statements are files to write, of one more run of the indexer.
	cpuProfile, statements string
}

var allContenders = []string{"boardwalk", "ponder", "floor", "boardwalk-replay", "floor-replay"}

// Command is the command.
func Command() lab.Command {
	var s settings
	return lab.Command{
		Name: "backfill",
		About: "The reading of a chain's past: the indexer, Ponder " + ponderVersion + ", and the floor, each cold and by turns, the -replay ones on recorded " +
			"answers of the node. Every run's rows are held against a count made from the logs alone. See docs/benchmarks.md#reading-a-chains-past.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&s.rounds, "rounds", 3, "rounds; each has every contender once")
			f.StringVar(&s.only, "only", "", "`NAMES` of some contenders alone, separated by commas: "+strings.Join(allContenders, ", "))
			f.StringVar(&s.chain, "chain", "", "`DIR` of a chain that simnet bench --dump DIR/state.json made, instead of the cached one")
			f.StringVar(&s.binary, "boardwalk", "", "boardwalk's binary `FILE`; else it is built from this checkout")
			f.StringVar(&s.cpuProfile, "cpuprofile", "", "`FILE` for a CPU profile of the indexer, in one more run on recorded answers")
			f.StringVar(&s.statements, "statements", "", "`FILE` for the statements of the indexer that the database spent most time on, in that run")
		},
		Run: func(ctx context.Context) error {
			wanted, err := lab.Chosen("only", s.only, allContenders)
			if err != nil {
				return err
			}
			if s.rounds < 1 {
				return errors.New("--rounds must be positive")
			}
			return lab.Scratch(func(dir string) error { return s.backfill(ctx, wanted, dir) })
		},
	}
}

func (s *settings) backfill(ctx context.Context, wanted []string, dir string) (err error) {
	if s.binary == "" {
		if s.binary, err = lab.BuildBoardwalk(ctx, dir); err != nil {
			return err
		}
	}
	if s.chain, err = chainDir(ctx, s.chain); err != nil {
		return err
	}
	l := &course{dir: dir}
	if l.chain, err = serveChain(ctx, s.chain); err != nil {
		return err
	}
	defer l.chain.node.Kill()
	lab.Say("count: reading the chain's %d blocks", l.chain.head+1)
	counted, err := countChain(ctx, l.chain)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	lab.Say("count: %d logs, %d transfers, %d trades", counted.logs, counted.transfers, counted.trades)
	if l.postgres, err = lab.StartPostgres(ctx, dir, s.statements != ""); err != nil {
		return err
	}
	defer l.postgres.Stop()
	if l.replay, err = startReplay(ctx, l.chain.node.URL()); err != nil {
		return err
	}
	defer l.replay.close()
	list, err := l.contenders(ctx, s.binary, wanted, counted)
	if err != nil {
		return err
	}
	return l.rounds(ctx, s, counted, list)
}

// rounds runs everybody in turn and reports.
func (l *course) rounds(ctx context.Context, s *settings, counted *census, list []*contender) error {
	for _, c := range list {
		if c.replayed {
			if _, _, err := l.run(ctx, c); err != nil {
				return err
			}
			lab.Say("%s: recorded %d calls", c.name, l.replay.missed())
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
			lab.Say("round %d of %d: %s: %.2f CPU-s, %.1f s, %d MB", round+1, s.rounds, c.name, u.cpu.Seconds(), u.wall.Seconds(), u.peak>>20)
			if n := l.replay.missed(); n > 0 {
				lab.Say("%s asked %d calls that weren't recorded: the node answered those", c.name, n)
			}
			runs[c.name] = append(runs[c.name], u)
			if r != nil && got[c.name] == nil {
				compared = append(compared, c.name)
				got[c.name] = r
			}
		}
	}
	if err := lab.Heading(os.Stdout, fmt.Sprintf("%d blocks, %d logs; %d round(s), medians.", l.chain.head+1, counted.logs, s.rounds)); err != nil {
		return err
	}
	times, bounds := report(list, runs)
	if err := lab.WriteTables(os.Stdout, compareRows(counted.rows(), compared, got), times, bounds); err != nil {
		return err
	}
	return l.profiles(ctx, s, counted, runs)
}

// contenders are those that were asked for, in order.
func (l *course) contenders(ctx context.Context, binary string, wanted []string, counted *census) ([]*contender, error) {
	var out []*contender
	for _, name := range allContenders {
		if !slices.Contains(wanted, name) {
			continue
		}
		var c *contender
		switch strings.TrimSuffix(name, "-replay") {
		case "boardwalk":
			c = l.boardwalk(binary, counted.rows())
		case "ponder":
			var err error
			if c, err = l.ponder(ctx, counted.rows()); err != nil {
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
func (l *course) profiles(ctx context.Context, s *settings, counted *census, runs map[string][]usageOf) error {
	if s.cpuProfile == "" && s.statements == "" {
		return nil
	}
	c := l.boardwalk(s.binary, counted.rows())
	c.replayed, c.cpuProfile = true, s.cpuProfile
	// The program's listener allows no answer that takes a minute.
	const longest = 50
	c.profileSeconds = longest
	for _, name := range []string{"Boardwalk, replay", "Boardwalk"} {
		for _, u := range runs[name] {
			c.profileSeconds = min(int(math.Ceil(u.wall.Seconds()*1.5+1)), c.profileSeconds)
		}
	}
	if s.statements != "" {
		check := c.check
		c.check = func(ctx context.Context, conn *pgx.Conn) (*rows, error) {
			if err := l.postgres.Slowest(ctx, conn, s.statements); err != nil {
				return nil, err
			}
			return check(ctx, conn)
		}
	}
	lab.Say("profile: running the indexer once more")
	_, _, err := l.run(ctx, c)
	return err
}
