package main

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
)

// cardsMeasurement is the measurement at work.
type cardsMeasurement struct {
	rounds, cards, workers, warmUp int
	only, pictures                 string

	wanted              []string // contenders
	dir, scripts, given string
	painters            map[string]*served
	bytes               map[string]int // of a picture
	unlike              map[string]float64
	runs                map[string][]cardsRun
}

// cardsPeersCommand is the command.
func cardsPeersCommand() command {
	m := &cardsMeasurement{}
	return command{
		name: "card-peers",
		about: "Drawing a card: the renderer, its browser alone, and others' ways, all warm and by turns, each a process of its own whose tree's CPU counts. " +
			"First all pictures are compared. See docs/benchmarks.md#cards.",
		flags: func(f *flag.FlagSet) {
			f.IntVar(&m.rounds, "rounds", 7, "rounds; each has every contender once")
			f.IntVar(&m.cards, "cards", 100, "cards that a contender draws in a round")
			f.IntVar(&m.warmUp, "warmup", 300, "cards that a contender draws before the first round: compilers need them")
			f.IntVar(&m.workers, "workers", runtime.NumCPU(), "cards that are drawn at a time")
			f.StringVar(&m.only, "only", "", "`NAMES` of some contenders alone, separated by commas")
			f.StringVar(&m.pictures, "pictures", "", "`DIR` to keep everybody's picture in")
		},
		run: m.measure,
	}
}

func (m *cardsMeasurement) check() (err error) {
	if m.rounds < 1 || m.warmUp < 0 || m.cards < 1 || m.workers < 1 {
		return errors.New("--rounds, --cards and --workers must be positive, --warmup not negative")
	}
	m.wanted, err = chosen("only", m.only, cardContenders)
	return err
}

func (m *cardsMeasurement) measure(ctx context.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	about := fmt.Sprintf("%d round(s) of %d cards for each after %d to warm up, %d at a time, medians.", m.rounds, m.cards, m.warmUp, m.workers)
	if err := heading(os.Stdout, about); err != nil {
		return err
	}
	return scratch(func(dir string) error {
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

// mostUnlike is by how much of a picture others may differ from the renderer's. Texts of another engine are at most a pixel
// off, so that their edges differ.
const mostUnlike = 0.03

// compete starts everybody, compares what they draw, and measures them in turn.
func (m *cardsMeasurement) compete(ctx context.Context) (err error) {
	m.painters, m.bytes, m.unlike, m.runs = map[string]*served{}, map[string]int{}, map[string]float64{}, map[string][]cardsRun{}
	defer func() {
		for _, s := range m.painters {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range m.wanted {
		say("start: %s", name)
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
		say("warm: %s", name)
	}
	for round := range m.rounds {
		for turn := range m.wanted {
			name := m.wanted[(turn+round)%len(m.wanted)]
			r, err := m.run(name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			say("round %d of %d: %s: %.1f ms of CPU, %.1f cards/s", round+1, m.rounds, name, milliseconds(r.cpu), r.perSecond)
			m.runs[name] = append(m.runs[name], *r)
		}
	}
	return m.report()
}

func (m *cardsMeasurement) draw(name string, cards int) error {
	var done string
	return m.painters[name].ask(fmt.Sprintf("draw %d", cards), &done)
}

// comparePictures fails when somebody draws something else. It wants the first contender's picture, which is the renderer's.
func (m *cardsMeasurement) comparePictures() error {
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
		if err := m.painters[name].ask("save "+path, &done); err != nil {
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
func (m *cardsMeasurement) run(name string) (*cardsRun, error) {
	pid := m.painters[name].pid()
	before, err := treeCPU(pid)
	if err != nil {
		return nil, err
	}
	used, err := meter(nil, nil, func() error { return m.draw(name, m.cards) })
	if err != nil {
		return nil, err
	}
	after, err := treeCPU(pid)
	return &cardsRun{
		cpu: (after - before) / time.Duration(m.cards), perSecond: float64(m.cards) / used.wall.Seconds(), others: used.others,
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

func cardCPU(r *cardsRun) float64 { return milliseconds(r.cpu) }

var cardFigures = []column[cardsRun]{
	{name: "CPU ms a card", format: "%.1f", of: cardCPU},
	{name: "cards/s", format: "%.1f", of: func(r *cardsRun) float64 { return r.perSecond }},
	{name: "CPU ms of each round", format: "%.1f", of: cardCPU, each: true},
	{name: "others' cores", format: "%.2f", of: func(r *cardsRun) float64 { return r.others }},
}

// report writes the medians and the ratios, each the median over the rounds of the ratio within a round.
func (m *cardsMeasurement) report() error {
	t := columns([]string{"contender"}, cardFigures, ">KB", ">% unlike")
	for _, name := range m.wanted {
		t.add(figures([]string{name}, m.runs[name], cardFigures, fmt.Sprintf("%.0f", float64(m.bytes[name])/1e3),
			fmt.Sprintf("%.2f", 100*m.unlike[name]))...)
	}
	return writeTables(os.Stdout, t, m.ratios())
}

// ratios holds the renderer's CPU against what is wanted.
func (m *cardsMeasurement) ratios() *table {
	t := newTable("ratio of CPU", ">wanted", ">median", "each round", "")
	for _, own := range []string{cardsRenderer, cardsBrowser} {
		for _, w := range wantedCards {
			list := ratios(values(m.runs[own], cardCPU), values(m.runs[w.over], cardCPU))
			if len(list) == 0 {
				continue
			}
			bound, met := fmt.Sprintf("at most %g", w.most), middle(list) <= w.most
			if w.below {
				bound, met = fmt.Sprintf("below %g", w.most), middle(list) < w.most
			}
			t.add(own+" / "+w.over, bound, fmt.Sprintf("%.2f", middle(list)), each(list, "%.2f"), verdict(met))
		}
	}
	return t
}
