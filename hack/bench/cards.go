package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const cardsUsage = `bench cards measures what drawing a card takes, and how much memory drawing many does.

  go run ./hack/bench cards [flags]

Contenders, all warm, one after the other in rounds, each a process of its own:

  renderer            the renderer over its Unix socket, asked by the API server's client: the card's data, pictures as the
                      store has them; the client's work is counted
  renderer's browser  its browser alone, with the ready-made document
  satori + resvg-js   the card in satori's elements, made into an SVG and that into a PNG
  takumi              the same elements, drawn by @takumi-rs/core
  playwright-core     the ready-made document in pages of the same browser, setContent and screenshot

A card that the API server has in memory is measured as in bench hot, against bare routers that write the same bytes.

CPU is that of a contender's whole process tree. Before anything is said, all pictures are compared. The packages come from
npm once and are kept in $BOARDWALK_CACHE or the user's cache directory.

Flags:
`

type cardsOptions struct {
	rounds, cards, workers int
	warmUp, memory         int
	cached                 bool
	only, pictures         string
	wanted                 []string
	args                   []string
}

// parse reads the flags and holds them against their bounds.
func (o *cardsOptions) parse(args []string) error {
	flags := flag.NewFlagSet("bench cards", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 7, "rounds; each has every contender once")
	flags.IntVar(&o.cards, "cards", 100, "cards that a contender draws in a round")
	flags.IntVar(&o.warmUp, "warmup", 300, "cards that a contender draws before the first round: compilers need them")
	flags.IntVar(&o.workers, "workers", runtime.NumCPU(), "cards that are drawn at a time")
	flags.IntVar(&o.memory, "memory", 5000, "cards over which the renderer's memory is watched; 0 leaves it out")
	flags.BoolVar(&o.cached, "cached", true, "measure a card that the API server has in memory")
	flags.StringVar(&o.only, "only", "", "`NAMES` of some contenders alone, separated by commas")
	flags.StringVar(&o.pictures, "pictures", "", "`DIR` to keep everybody's picture in")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), cardsUsage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w (see bench cards --help)", err)
	}
	o.args, o.wanted = args, cardContenders
	if o.only != "" {
		o.wanted = strings.Split(o.only, ",")
	}
	for _, name := range o.wanted {
		if !slices.Contains(cardContenders, name) {
			return fmt.Errorf("--only: %q is no contender; they are %s", name, strings.Join(cardContenders, ", "))
		}
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no argument of bench cards (see its --help)", flags.Arg(0))
	case o.rounds < 0 || o.warmUp < 0 || o.cards < 1 || o.workers < 1:
		return errors.New("--cards and --workers must be positive, --rounds and --warmup not negative")
	case o.memory < 0 || o.memory%memoryEvery != 0:
		return fmt.Errorf("--memory must be a multiple of %d", memoryEvery)
	}
	return nil
}

func cardsCommand(ctx context.Context, args []string) error {
	m := cardsMeasurement{runs: map[string][]cardsRun{}}
	if err := m.parse(args); err != nil {
		return err
	}
	about := fmt.Sprintf("%d round(s) of %d cards for each after %d to warm up, %d at a time, medians.", m.rounds, m.cards, m.warmUp, m.workers)
	if err := heading(os.Stdout, "cards", args, about); err != nil {
		return err
	}
	return scratch(func(dir string) error {
		// The browser's user passes through it.
		if err := os.Chmod(dir, 0o711); err != nil {
			return err
		}
		m.dir = dir
		if err := m.preparePeers(ctx); err != nil {
			return err
		}
		if m.rounds > 0 {
			if err := m.compete(ctx); err != nil {
				return err
			}
		}
		if m.cached {
			if err := m.askForOneCard(ctx); err != nil {
				return err
			}
		}
		if m.memory > 0 {
			return m.watchMemory(ctx)
		}
		return nil
	})
}

// cardsMeasurement is bench cards at work.
type cardsMeasurement struct {
	cardsOptions

	dir, scripts, given string
	own                 string // the last started renderer's folder
	painters            map[string]*served
	bytes               map[string]int // of a picture
	unlike              map[string]float64
	runs                map[string][]cardsRun
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
	m.painters, m.bytes, m.unlike = map[string]*served{}, map[string]int{}, map[string]float64{}
	defer func() {
		for _, s := range m.painters {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range m.wanted {
		say("start: %s", name)
		if m.painters[name], err = m.startPainter(ctx, name); err != nil {
			delete(m.painters, name)
			return err
		}
	}
	if err := m.comparePictures(); err != nil {
		return err
	}
	for _, name := range m.wanted {
		var done string
		if err := m.painters[name].ask(fmt.Sprintf("draw %d", m.warmUp), &done); err != nil {
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

// comparePictures fails when somebody draws something else. It wants the first contender's picture, which is the renderer's.
func (m *cardsMeasurement) comparePictures() error {
	var own []byte
	for _, name := range m.wanted {
		path := filepath.Join(m.dir, "picture.png")
		if m.pictures != "" {
			path = filepath.Join(m.pictures, strings.ReplaceAll(name, " ", "-")+".png")
			if err := os.MkdirAll(m.pictures, 0o750); err != nil {
				return err
			}
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
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
	s := m.painters[name]
	before, err := treeCPU(s.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	var after time.Duration
	used, err := meter(nil, nil, func() error {
		var done string
		if err := s.ask(fmt.Sprintf("draw %d", m.cards), &done); err != nil {
			return err
		}
		after, err = treeCPU(s.cmd.Process.Pid)
		return err
	})
	if err != nil {
		return nil, err
	}
	cpu := after - before
	return &cardsRun{
		cpu: cpu / time.Duration(m.cards), perSecond: float64(m.cards) / used.wall.Seconds(),
		others: max(0, used.others-cpu.Seconds()/used.wall.Seconds()),
	}, nil
}
