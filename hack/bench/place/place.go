// Package place measures the price of a place on the launch board: attackers search for the cheapest way to get a token of theirs to its top, on
// a simulated market whose trades go through the product's own derivation, quality bar and score. docs/place.md describes the market.
package place

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// measurement has the flags, and the boards that were made so far.
type measurement struct {
	tries   int
	length  time.Duration
	seed    uint64
	parts   string
	plan    string
	boards  map[string]*standings
	context context.Context //nolint:containedctx // of the one run
}

// part is a table of the report.
type part struct {
	name, about string
	measure     func(*measurement) error
}

var parts = []part{
	{"prices", "Every board, inputs and goal", (*measurement).prices},
	{"venues", "Where the token is launched", (*measurement).venues},
	{"kinds", "The kinds of attack", (*measurement).kinds},
	{"time", "How the price grows with time", (*measurement).time},
	{"harm", "Lowering somebody else's token", (*measurement).harm},
}

// Command is the command.
func Command() lab.Command {
	var m measurement
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = parts[i].name
	}
	return lab.Command{
		Name: "place",
		About: "The price of a place on the launch board. Attackers search for the cheapest way onto a simulated board, on the product's own derivation, quality bar " +
			"and score. The same seed and number of tries give the same prices anywhere. See docs/place.md.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&m.tries, "tries", 1600, "plans that each search tries")
			f.DurationVar(&m.length, "for", 0, "how long each search goes on at least")
			f.Uint64Var(&m.seed, "seed", 1, "seed of the market and of the searches")
			f.StringVar(&m.parts, "parts", "", "tables to measure, separated by commas: "+strings.Join(names, ", ")+"; empty is all")
			f.StringVar(&m.plan, "plan", "", "file with an attack as JSON, which is tried in place of a search; see docs/place.md")
		},
		Run: func(ctx context.Context) error {
			wanted, err := lab.Chosen("parts", m.parts, names)
			if err != nil {
				return err
			}
			if m.tries < 1 {
				return errors.New("--tries must be at least 1")
			}
			m.boards, m.context = make(map[string]*standings), ctx
			return m.run(wanted)
		},
	}
}

func (m *measurement) run(wanted []string) error {
	if m.plan != "" {
		return m.tryFile()
	}
	if err := lab.Heading(os.Stdout, fmt.Sprintf("Prices in USD for one token, by traction-v1 and gate-v1. Each is the cheapest of %d plans or more. "+
		"\"Elsewhere\" is on how many of four other boards and answers of strangers the same plan reaches its goal, and its median price there.", m.tries)); err != nil {
		return err
	}
	for i := range parts {
		if p := &parts[i]; slices.Contains(wanted, p.name) {
			if _, err := fmt.Printf("## %s\n\n", p.about); err != nil {
				return err
			}
			if err := p.measure(m); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// board is a population's board, which is long enough to hold a place on it for so many seconds.
func (m *measurement) board(p *population, seed uint64, holdS int64) (*standings, error) {
	key := fmt.Sprint(p.name, " ", seed)
	length := patienceS + holdS + hour
	if b := m.boards[key]; b != nil && int64(len(b.first)-1)*rankS >= length {
		return b, m.context.Err()
	}
	progress := lab.NewProgress("the board of "+p.name, warmS+length)
	b, err := standingsOf(p, seed, length, func(done int64) { progress.At(done) })
	if err != nil {
		return nil, err
	}
	m.boards[key] = b
	return b, m.context.Err()
}

// found is the cheapest plan of a search, and what became of it on other boards.
type found struct {
	trial

	tries     int
	reachedOn int
	median    float64 // of the price where it was reached
}

// others are the seeds of the boards, and of strangers' answers, on which a plan is tried again.
var others = [][2]uint64{{1, 1}, {1, 2}, {2, 1}, {2, 2}}

// search finds the cheapest plan, beginning with some.
func (m *measurement) search(p *population, in *inputs, g goal, f family, from ...plan) (*found, error) {
	b, err := m.board(p, m.seed, g.holdS)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%s board, %s inputs, to %s, %s", p.name, in.name, g.name, f.name)
	out, err := m.hunt(what, f, from, func(p *plan) (trial, error) { return try(p, in, b, g, m.seed) })
	if err != nil {
		return nil, err
	}
	var prices []float64
	for _, o := range others {
		if b, err = m.board(p, m.seed+o[0], g.holdS); err != nil {
			return nil, err
		}
		t, err := try(&out.plan, in, b, g, m.seed+o[1])
		if err != nil {
			return nil, err
		}
		if t.reached {
			prices = append(prices, t.price)
		}
	}
	out.reachedOn, out.median = len(prices), lab.Middle(prices)
	return out, nil
}

func (m *measurement) hunt(what string, f family, from []plan, attempt func(*plan) (trial, error)) (*found, error) {
	begun, progress := lab.Now(), lab.NewProgress(what, int64(m.tries))
	h := hunt{
		family: f, seed: m.seed, attempt: attempt, from: from,
		enough: func(tries int) bool { return tries >= m.tries && lab.Now().Sub(begun) >= m.length },
	}
	var out found
	var err error
	out.trial, out.tries, err = h.run(m.context, func(tries int, _ *trial) { progress.At(int64(tries)) })
	lab.Say("%s: %s after %d tries", what, out.cell(), out.tries)
	return &out, err
}

// cell is a price for a table.
func (f *found) cell() string {
	if !f.reached {
		return "not reached"
	}
	return fmt.Sprintf("%.*f", decimals(f.price), f.price)
}

// elsewhere is what the plan costs on other boards, for a table.
func (f *found) elsewhere() string {
	if f.reachedOn == 0 {
		return "0 of 4"
	}
	return fmt.Sprintf("%d of 4, %.*f", f.reachedOn, decimals(f.median), f.median)
}

// decimals are those that a price is shown with: three figures.
func decimals(usd float64) int {
	switch {
	case usd < 1:
		return 3
	case usd < 10:
		return 2
	case usd < 100:
		return 1
	default:
		return 0
	}
}

// json is a plan as --plan takes it.
func (p *plan) json() string {
	out, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers alone
	}
	return string(out)
}

// tryFile tries one plan for each goal on each board.
func (m *measurement) tryFile() error {
	text, err := os.ReadFile(m.plan)
	if err != nil {
		return err
	}
	p, err := parsePlan(text)
	if err != nil {
		return fmt.Errorf("--plan: %s: %w", m.plan, err)
	}
	if err := lab.Heading(os.Stdout, "Prices in USD for one token, by traction-v1 and gate-v1, of the plan "+p.json()); err != nil {
		return err
	}
	t := lab.NewTable("board", "inputs", "goal", ">price", ">of it gas", ">of it wallets", ">highest score", "elsewhere")
	for i := range populations {
		for j := range allInputs {
			for _, g := range []goal{enterRunning, beAmongTen, holdAnHour} {
				f, err := m.search(&populations[i], &allInputs[j], g, family{"the plan", func(q *plan) { *q = *p }})
				if err != nil {
					return err
				}
				t.Add(populations[i].name, allInputs[j].name, g.name, f.cell(), fmt.Sprintf("%.3f", f.gas), fmt.Sprintf("%.3f", f.wallets), fmt.Sprintf("%.1f", f.best),
					f.elsewhere())
			}
		}
	}
	return t.Write(os.Stdout)
}

// parsePlan reads a plan and holds it against what the search may choose.
func parsePlan(text []byte) (*plan, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	p := plan{Tokens: 1}
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("it must be one JSON object, and nothing after it")
	}
	return &p, p.check()
}
