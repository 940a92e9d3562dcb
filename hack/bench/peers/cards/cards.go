// Package cards measures what drawing a card takes: the renderer, its browser alone, and others' ways.
package cards

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// measurement is the measurement at work.
type measurement struct {
	rounds, cards, workers, warmUp int
	only, pictures                 string

	wanted              []string // contenders
	dir, scripts, given string
	painters            map[string]*lab.Served
	bytes               map[string]int // of a picture
	unlike              map[string]float64
	runs                map[string][]cardsRun
}

// Command is the command.
func Command() lab.Command {
	m := &measurement{}
	return lab.Command{
		Name: "cards",
		About: "Drawing a card: the renderer, its browser alone, and others' ways, all warm and by turns, each a process of its own whose tree's CPU counts. " +
			"First all pictures are compared. See docs/benchmarks.md#cards.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&m.rounds, "rounds", 7, "rounds; each has every contender once")
			f.IntVar(&m.cards, "cards", 100, "cards that a contender draws in a round")
			f.IntVar(&m.warmUp, "warmup", 300, "cards that a contender draws before the first round: compilers need them")
			f.IntVar(&m.workers, "workers", runtime.NumCPU(), "cards that are drawn at a time")
			f.StringVar(&m.only, "only", "", "`NAMES` of some contenders alone, separated by commas")
			f.StringVar(&m.pictures, "pictures", "", "`DIR` to keep everybody's picture in")
		},
		Run: m.measure,
	}
}

func (m *measurement) check() (err error) {
	if m.rounds < 1 || m.warmUp < 0 || m.cards < 1 || m.workers < 1 {
		return errors.New("--rounds, --cards and --workers must be positive, --warmup not negative")
	}
	m.wanted, err = lab.Chosen("only", m.only, cardContenders)
	return err
}

func (m *measurement) measure(ctx context.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	about := fmt.Sprintf("%d round(s) of %d cards for each after %d to warm up, %d at a time, medians.", m.rounds, m.cards, m.warmUp, m.workers)
	if err := lab.Heading(os.Stdout, about); err != nil {
		return err
	}
	return lab.Scratch(func(dir string) error {
		m.dir = dir
		if err := m.preparePeers(ctx); err != nil {
			return err
		}
		return m.compete(ctx)
	})
}

// cardsRun is one run of one contender.
type cardsRun struct {
	cpu       time.Duration // of a card
	perSecond float64
	others    float64 // cores that other programs used
}

// mostUnlike is the share of pixels by which a competitor's picture may differ from the renderer's. Another engine places texts up to a pixel elsewhere, so
// that their edges differ.
const mostUnlike = 0.03

// compete starts everybody, compares what they draw, and measures them in turn.
func (m *measurement) compete(ctx context.Context) (err error) {
	m.painters, m.bytes, m.unlike, m.runs = map[string]*lab.Served{}, map[string]int{}, map[string]float64{}, map[string][]cardsRun{}
	defer func() {
		for _, s := range m.painters {
			err = errors.Join(err, s.Stop())
		}
	}()
	for _, name := range m.wanted {
		lab.Say("start: %s", name)
		s, err := m.startContender(ctx, name)
		if err != nil {
			return err
		}
		m.painters[name] = s
	}
	if err := m.comparePictures(); err != nil {
		return err
	}
	for _, name := range m.wanted {
		if err := m.draw(name, m.warmUp); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lab.Say("warm: %s", name)
	}
	for round := range m.rounds {
		for turn := range m.wanted {
			name := m.wanted[(turn+round)%len(m.wanted)]
			r, err := m.run(name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			lab.Say("round %d of %d: %s: %.1f ms of CPU, %.1f cards/s", round+1, m.rounds, name, lab.Milliseconds(r.cpu), r.perSecond)
			m.runs[name] = append(m.runs[name], *r)
		}
	}
	return m.report()
}

func (m *measurement) draw(name string, cards int) error {
	var done string
	return m.painters[name].Ask(fmt.Sprintf("draw %d", cards), &done)
}

// comparePictures fails when somebody draws something else. It wants the first contender's picture, which is the renderer's.
func (m *measurement) comparePictures() error {
	dir := m.dir
	if m.pictures != "" {
		var err error
		if dir, err = filepath.Abs(m.pictures); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return err
		}
	}
	var own []byte
	for _, name := range m.wanted {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png")
		var done string
		if err := m.painters[name].Ask("save "+path, &done); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		picture, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if own == nil {
			own = picture
		}
		m.bytes[name] = len(picture)
		if m.unlike[name], err = unlike(own, picture); err != nil {
			return fmt.Errorf("%s: its picture: %w", name, err)
		}
		if m.unlike[name] > mostUnlike {
			return fmt.Errorf("%s draws something else: %.1f %% of its picture differs from %s's; look at both with --pictures",
				name, 100*m.unlike[name], m.wanted[0])
		}
	}
	return nil
}

// run has a contender draw.
func (m *measurement) run(name string) (*cardsRun, error) {
	pid := m.painters[name].PID()
	before, err := lab.TreeCPU(pid)
	if err != nil {
		return nil, err
	}
	used, err := lab.Meter(nil, nil, func() error { return m.draw(name, m.cards) })
	if err != nil {
		return nil, err
	}
	after, err := lab.TreeCPU(pid)
	return &cardsRun{
		cpu: (after - before) / time.Duration(m.cards), perSecond: float64(m.cards) / used.Wall.Seconds(), others: used.Others(),
	}, err
}

// wantedCards are the bounds of a card's CPU over others'. Below is what must stay under a bound, not at it.
var wantedCards = []struct {
	over  string
	most  float64
	below bool
}{
	{cardsSatori, 1, true},
	{cardsPlaywright, 1, true},
	{cardsTakumi, 2, false},
}

func cardCPU(r *cardsRun) float64 { return lab.Milliseconds(r.cpu) }

var cardFigures = []lab.Column[cardsRun]{
	{Name: "CPU ms a card", Format: "%.1f", Of: cardCPU},
	{Name: "cards/s", Format: "%.1f", Of: func(r *cardsRun) float64 { return r.perSecond }},
	{Name: "CPU ms of each round", Format: "%.1f", Of: cardCPU, Each: true},
	{Name: "others' cores", Format: "%.2f", Of: func(r *cardsRun) float64 { return r.others }},
}

// report writes the medians and the ratios, each the median over the rounds of the ratio within a round.
func (m *measurement) report() error {
	t := lab.Columns([]string{"contender"}, cardFigures, ">KB", ">% unlike")
	for _, name := range m.wanted {
		t.Add(lab.Figures([]string{name}, m.runs[name], cardFigures, fmt.Sprintf("%.0f", float64(m.bytes[name])/1e3),
			fmt.Sprintf("%.2f", 100*m.unlike[name]))...)
	}
	return lab.WriteTables(os.Stdout, t, m.ratios())
}

// ratios holds the renderer's CPU against what is wanted.
func (m *measurement) ratios() *lab.Table {
	t := lab.NewTable("ratio of CPU", ">wanted", ">median", "each round", "")
	for _, own := range []string{cardsRenderer, cardsBrowser} {
		for _, w := range wantedCards {
			list := lab.Ratios(lab.Values(m.runs[own], cardCPU), lab.Values(m.runs[w.over], cardCPU))
			if len(list) == 0 {
				continue
			}
			bound, met := fmt.Sprintf("at most %g", w.most), lab.Middle(list) <= w.most
			if w.below {
				bound, met = fmt.Sprintf("below %g", w.most), lab.Middle(list) < w.most
			}
			t.Add(own+" / "+w.over, bound, fmt.Sprintf("%.2f", lab.Middle(list)), lab.Each(list, "%.2f"), lab.Verdict(met))
		}
	}
	return t
}
