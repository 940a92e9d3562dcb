// Package solana measures what reading blocks of Solana takes, over HTTP: Boardwalk's reader, Go's and another JSON library into structs, and another program.
package solana

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/bench/solana"
	"github.com/boardwalkhq/boardwalk/internal/npmcache"
)

// The contenders. The first reads and decodes; the others read the same fields, and decode no program's events.
const (
	boardwalk = "boardwalk"
	sonicName = "sonic"
	goJSON    = "encoding/json"
	streamer  = "solana-stream"
)

var contenders = []string{boardwalk, sonicName, goJSON, streamer}

//go:embed stream/.npmrc stream/package.json stream/package-lock.json stream/read.cjs
var stream embed.FS

// measurement is the measurement at work.
type measurement struct {
	rounds, few, many int
	only              string
	inMemory          bool

	wanted   []string
	past     *solana.Past
	dir      string
	document string
	packages string
	runs     map[string][]run
}

// run is what a contender took.
type run struct {
	perSecond float64 // transactions, of one core
	others    float64 // cores that other programs used
}

// Command is the command.
func Command() lab.Command {
	m := &measurement{}
	return lab.Command{
		Name: "solana-reading",
		About: "Reading blocks of the mainnet's shape over HTTP, 2,500 transactions each: Boardwalk's reader, JSON libraries and @subsquid/solana-stream, by turns, each a process of " +
			"its own. Each reads a few blocks and then many; the difference counts, so that starting doesn't. See docs/benchmarks.md#solana.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&m.rounds, "rounds", 5, "rounds; each has every contender once")
			f.IntVar(&m.few, "few", 10, "blocks of the shorter run")
			f.IntVar(&m.many, "many", 60, "blocks of the longer run")
			f.BoolVar(&m.inMemory, "memory", false, "read one block again and again, without HTTP; solana-stream can't")
			f.StringVar(&m.only, "only", "", "`NAMES` of some contenders alone, separated by commas")
		},
		Run: m.measure,
	}
}

func (m *measurement) measure(ctx context.Context) (err error) {
	if m.rounds < 1 || m.few < 1 || m.many <= m.few {
		return errors.New("--rounds and --few must be positive, --many more than --few")
	}
	if m.wanted, err = lab.Chosen("only", m.only, contenders); err != nil {
		return err
	}
	if m.inMemory {
		m.wanted = slices.DeleteFunc(slices.Clone(m.wanted), func(name string) bool { return name == streamer })
	}
	return lab.Scratch(func(dir string) error {
		m.dir, m.runs = dir, map[string][]run{}
		if err := m.prepare(ctx); err != nil {
			return err
		}
		defer m.past.Close()
		for round := range m.rounds {
			for turn := range m.wanted {
				name := m.wanted[(turn+round)%len(m.wanted)]
				r, err := m.run(ctx, name)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				lab.Say("round %d of %d: %s: %.0f transactions per CPU second", round+1, m.rounds, name, r.perSecond)
				m.runs[name] = append(m.runs[name], r)
			}
		}
		return m.report()
	})
}

// prepare serves the blocks, and installs what contenders need.
func (m *measurement) prepare(ctx context.Context) error {
	if slices.Contains(m.wanted, streamer) {
		project, err := fs.Sub(stream, "stream")
		if err != nil {
			return err
		}
		if m.packages, err = npmcache.Install(ctx, "bench-solana-stream", project); err != nil {
			return err
		}
		script, err := stream.ReadFile("stream/read.cjs")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(m.dir, "read.cjs"), script, 0o600); err != nil {
			return err
		}
	}
	var err error
	if m.past, err = solana.ServePast(ctx, m.many); err != nil {
		return err
	}
	raw, _, err := m.past.Config.Encode()
	if err != nil {
		return err
	}
	m.document = filepath.Join(m.dir, "chain.json")
	return os.WriteFile(m.document, raw, 0o600)
}

// run has a contender read a few blocks, and then many.
func (m *measurement) run(ctx context.Context, name string) (r run, err error) {
	few, _, err := m.read(ctx, name, m.few)
	if err != nil {
		return r, err
	}
	many, others, err := m.read(ctx, name, m.many)
	if err != nil {
		return r, err
	}
	return run{perSecond: float64((m.many-m.few)*solana.TransactionsPerBlock) / (many - few).Seconds(), others: others}, nil
}

// read has a contender read so many blocks, and gives the CPU that it took.
func (m *measurement) read(ctx context.Context, name string, blocks int) (cpu time.Duration, others float64, err error) {
	var cmd *exec.Cmd
	if name == streamer {
		given, err := json.Marshal(map[string]any{"url": m.past.URL, "from": m.past.FirstHeight, "to": m.past.FirstHeight + uint64(blocks) - 1})
		if err != nil {
			return 0, 0, err
		}
		cmd = exec.CommandContext(ctx, "node", filepath.Join(m.dir, "read.cjs"), string(given))
		cmd.Env = append(cmd.Environ(), "NODE_PATH="+filepath.Join(m.packages, "node_modules"))
	} else {
		self, err := os.Executable()
		if err != nil {
			return 0, 0, err
		}
		cmd = exec.CommandContext(ctx, self, readCommand, "--how", name, "--document", m.document, fmt.Sprintf("--memory=%t", m.inMemory), "--first", strconv.FormatUint(m.past.First, 10),
			"--last", strconv.FormatUint(m.past.First+uint64(blocks)-1, 10))
	}
	cmd.Stderr = os.Stderr
	var out []byte
	reading, err := lab.Meter(&child{cmd}, nil, func() (err error) {
		out, err = cmd.Output()
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n != blocks*solana.TransactionsPerBlock {
		return 0, 0, fmt.Errorf("it read %q transactions, want %d", out, blocks*solana.TransactionsPerBlock)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), reading.Others(), nil
}

// child is a process whose use is known once it has ended.
type child struct{ *exec.Cmd }

// Usage is what it used.
func (c *child) Usage() (u lab.UsageNow, err error) {
	if c.ProcessState != nil {
		u.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return u, nil
}

func (m *measurement) report() error {
	about := fmt.Sprintf("%d round(s), the CPU of %d blocks less that of %d, of %d transactions and %.1f MB each, %s, medians.",
		m.rounds, m.many, m.few, solana.TransactionsPerBlock, float64(m.past.BlockBytes)/1e6, map[bool]string{true: "from memory", false: "over HTTP"}[m.inMemory])
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	first := median(m.runs[m.wanted[0]], func(r run) float64 { return r.perSecond })
	t := lab.NewTable("reader", ">transactions per CPU second", ">first against it", ">others, cores")
	for _, name := range m.wanted {
		perSecond := median(m.runs[name], func(r run) float64 { return r.perSecond })
		t.Add(name, fmt.Sprintf("%.0f", perSecond), fmt.Sprintf("%.1f", first/perSecond), fmt.Sprintf("%.2f", median(m.runs[name], func(r run) float64 { return r.others })))
	}
	return t.Write(os.Stdout)
}

func median(runs []run, of func(run) float64) float64 {
	list := make([]float64, len(runs))
	for i := range runs {
		list[i] = of(runs[i])
	}
	slices.Sort(list)
	return list[len(list)/2]
}
