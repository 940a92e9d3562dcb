// Package place measures the price of a place on the launch board: attackers search for the cheapest way to get a token of theirs to its top, on
// a simulated market whose trades go through the product's own derivation, quality bar and score. docs/place.md describes the market.
package place

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
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
	formula *formula
	boards  map[string]*standings
	// winners are the plans that searches found. Each search begins with those of the ones before.
	winners []plan
	context context.Context //nolint:containedctx // of the one run
}

// part is a table of the report.
type part struct {
	name, about string
	measure     func(*measurement) error
}

var parts = []part{
	{"boards", "The boards without an attack", (*measurement).markets},
	{"honest", "What clusters take from launches that nobody attacks", (*measurement).honest},
	{"prices", "Every board, inputs and goal", (*measurement).prices},
	{"venues", "Where the token is launched", (*measurement).venues},
	{"kinds", "The kinds of attack", (*measurement).kinds},
	{"time", "How the price grows with time", (*measurement).time},
	{"harm", "Lowering somebody else's token", (*measurement).harm},
}

// Command is the command.
func Command() lab.Command {
	var m measurement
	names, scores := make([]string, len(parts)), make([]string, len(formulas))
	for i := range parts {
		names[i] = parts[i].name
	}
	for i := range formulas {
		scores[i] = formulas[i].name
	}
	by := scores[0]
	return lab.Command{
		Name: "place",
		About: "The price of a place on the launch board. Attackers search for the cheapest way onto a simulated board, on the product's own derivation, quality bar " +
			"and score. The same seed and number of tries give the same prices. See docs/place.md.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&m.tries, "tries", 1600, "plans that each search tries")
			f.DurationVar(&m.length, "for", 0, "how long each search goes on at least")
			f.Uint64Var(&m.seed, "seed", 1, "seed of the market and of the searches")
			f.StringVar(&m.parts, "parts", "", "tables to measure, separated by commas: "+strings.Join(names, ", ")+"; empty is all")
			f.StringVar(&by, "formula", by, "by which launches are ranked: "+strings.Join(scores, " or "))
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
			chosen := slices.Index(scores, by)
			if chosen < 0 {
				return fmt.Errorf("--formula is %q; it must be %s", by, strings.Join(scores, " or "))
			}
			m.formula = &formulas[chosen]
			m.boards, m.context = make(map[string]*standings), ctx
			return m.run(wanted)
		},
	}
}

func (m *measurement) run(wanted []string) error {
	if m.plan != "" {
		return m.tryFile()
	}
	if err := lab.Heading(os.Stdout, fmt.Sprintf("Prices in USD for one token, by %s and gate-v1. Each is the cheapest of %d plans or more. "+
		"A plan must reach its goal on each of three boards, on each of which other snipers come; its price is the mean. \"Elsewhere\" is on how many of two further boards it does, and its price there.", m.formula.name, m.tries)); err != nil {
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
	length := patienceS + max(holdS, hour)
	key := fmt.Sprint(p.name, seed, length)
	if b := m.boards[key]; b != nil {
		return b, m.context.Err()
	}
	progress := lab.NewProgress("the board of "+p.name, warmS+length)
	b, err := standingsOf(p, m.formula, seed, length, func(done int64) { progress.At(done) })
	if err != nil {
		return nil, err
	}
	m.boards[key] = b
	return b, m.context.Err()
}

// found is the cheapest plan of a search, and what became of it on other boards.
type found struct {
	trial

	// reachedOn is on how many other boards the goal was reached, median the median price there.
	reachedOn int
	median    float64
}

// search finds the cheapest plan.
func (m *measurement) search(p *population, in *inputs, g goal, f family) (*found, error) {
	boards, err := m.boardsOf(p, 0, searched, g.holdS)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%s board, %s inputs, to %s, %s", p.name, in.name, g.name, f.name)
	best, err := m.searchBy(what, f, m.winners, func(p *plan, bound float64) (trial, error) { return tryBoards(p, in, boards, g, bound) })
	if err != nil {
		return nil, err
	}
	m.winners = append(m.winners, best.plan)
	return m.tried(p, in, g, &best.plan)
}

const (
	// searched is on how many boards a plan must reach its goal, others on how many more the cheapest is tried.
	searched, others = 3, 2
)

// boardsOf are some of a population's boards.
func (m *measurement) boardsOf(p *population, first, n uint64, holdS int64) ([]*standings, error) {
	out := make([]*standings, n)
	var err error
	for i := range out {
		if out[i], err = m.board(p, m.seed+first+uint64(i), holdS); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tried is what becomes of a plan on a population's boards, and on others.
func (m *measurement) tried(p *population, in *inputs, g goal, of *plan) (*found, error) {
	boards, err := m.boardsOf(p, 0, searched+others, g.holdS)
	if err != nil {
		return nil, err
	}
	var out found
	if out.trial, err = tryBoards(of, in, boards[:searched], g, math.Inf(1)); err != nil {
		return nil, err
	}
	var prices []float64
	for _, b := range boards[searched:] {
		t, err := try(of, in, b, g, b.seed, math.Inf(1))
		if err != nil {
			return nil, err
		}
		if t.reached {
			prices = append(prices, t.price)
		}
	}
	out.reachedOn, out.median = len(prices), lab.Middle(prices)
	return &out, nil
}

// searchBy finds the cheapest plan by trying plans in a given way, and says how far it is.
func (m *measurement) searchBy(what string, f family, from []plan, attempt func(*plan, float64) (trial, error)) (trial, error) {
	begun, progress := lab.Now(), lab.NewProgress(what, int64(m.tries))
	by := searcher{
		family: f, seed: m.seed, attempt: attempt, from: from,
		enough: func(tries int) bool { return tries >= m.tries && lab.Now().Sub(begun) >= m.length },
	}
	best, tries, err := by.run(m.context, func(tries int, _ *trial) { progress.At(int64(tries)) })
	lab.Say("%s: %s after %d tries", what, best.cell(), tries)
	return best, err
}

// cell is a price for a table.
func (t *trial) cell() string {
	if !t.reached {
		return "not reached"
	}
	return cell(t.price)
}

// cell is an amount in USD for a table.
func cell(usd float64) string { return fmt.Sprintf("%.*f", decimals(usd), usd) }

// elsewhere is what the plan costs on other boards, for a table.
func (f *found) elsewhere() string {
	if f.reachedOn == 0 {
		return fmt.Sprintf("0 of %d", others)
	}
	return fmt.Sprintf("%d of %d, %s", f.reachedOn, others, cell(f.median))
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

// tryFile tries one plan for each goal on each board, in place of a search.
func (m *measurement) tryFile() error {
	text, err := os.ReadFile(m.plan)
	if err != nil {
		return err
	}
	p, err := parsePlan(text)
	if err != nil {
		return fmt.Errorf("--plan: %s: %w", m.plan, err)
	}
	if err := lab.Heading(os.Stdout, "Prices in USD for one token, by "+m.formula.name+" and gate-v1, of the plan `"+p.json()+"`"); err != nil {
		return err
	}
	t := lab.NewTable("board", "inputs", "goal", ">price", ">of it gas", ">wallets", ">fees", ">highest score", "elsewhere")
	for i := range populations {
		for j := range allInputs {
			for _, g := range []goal{enterRunning, beAmongTen, holdAnHour} {
				f, err := m.tried(&populations[i], &allInputs[j], g, p)
				if err != nil {
					return err
				}
				t.Add(populations[i].name, allInputs[j].name, g.name, f.cell(), cell(f.gas), cell(f.wallets), cell(f.fees), fmt.Sprintf("%.1f", f.best), f.elsewhere())
			}
		}
	}
	return t.Write(os.Stdout)
}
