package cards

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// Memory is the command that watches the renderer's.
func Memory() lab.Command {
	var cards, workers int
	return lab.Command{
		Name:  "card-memory",
		About: "Memory of the renderer and its browser over many cards. See docs/benchmarks.md#cards.",
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&cards, "cards", 5000, "cards over which the memory is watched")
			f.IntVar(&workers, "workers", runtime.NumCPU(), "cards that are drawn at a time")
		},
		Run: func(ctx context.Context) error {
			if cards < memoryEvery || cards%memoryEvery != 0 || workers < 1 {
				return fmt.Errorf("--cards must be a multiple of %d, and --workers positive", memoryEvery)
			}
			if err := lab.Heading(os.Stdout, fmt.Sprintf("%d cards, %d at a time.", cards, workers)); err != nil {
				return err
			}
			return lab.Scratch(func(dir string) error {
				list, err := watchMemory(ctx, dir, cards, workers)
				if err != nil {
					return err
				}
				return reportMemory(list)
			})
		},
	}
}

const (
	// memoryEvery is after how many cards memory is read, and memoryShown after how many it is shown.
	memoryEvery, memoryShown = 100, 500
	// mostMemoryGrowth is how much more the last cards' memory may be than the first ones'.
	mostMemoryGrowth = 1.1
)

// memoryAt is the memory of the renderer and its browser after a number of cards.
type memoryAt struct {
	cards, processes int
	bytes            int64
}

// watchMemory draws a number of cards with a renderer of its own.
func watchMemory(ctx context.Context, dir string, cards, workers int) (list []memoryAt, err error) {
	s, _, err := StartOwn(ctx, dir, "draw", workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	began := lab.Now()
	for drawn := 0; ; drawn += memoryEvery {
		at := memoryAt{cards: drawn}
		if at.bytes, at.processes, err = lab.TreeMemory(s.PID()); err != nil {
			return nil, err
		}
		list = append(list, at)
		if drawn%memoryShown == 0 {
			lab.Say("memory: %d of %d cards after %s: %.0f MB", drawn, cards, lab.Now().Sub(began).Round(time.Second), float64(at.bytes)/1e6)
		}
		if drawn >= cards {
			return list, nil
		}
		var done string
		if err := s.Ask(fmt.Sprintf("draw %d", memoryEvery), &done); err != nil {
			return nil, err
		}
	}
}

func reportMemory(list []memoryAt) error {
	t := lab.NewTable(">cards", ">MB", ">processes", ">most MB since")
	var most int64
	for _, at := range list {
		if most = max(most, at.bytes); at.cards%memoryShown == 0 {
			t.Add(strconv.Itoa(at.cards), fmt.Sprintf("%.0f", float64(at.bytes)/1e6), strconv.Itoa(at.processes), fmt.Sprintf("%.0f", float64(most)/1e6))
			most = 0
		}
	}
	ratio, first, last := growth(list)
	judged := lab.NewTable("", ">wanted", ">measured", "")
	judged.Add(fmt.Sprintf("memory of the last fifth over that of the first, %.0f / %.0f MB", last/1e6, first/1e6),
		fmt.Sprintf("at most %g", mostMemoryGrowth), fmt.Sprintf("%.2f", ratio), lab.Verdict(ratio <= mostMemoryGrowth))
	return lab.WriteTables(os.Stdout, t, judged)
}

// growth compares the median of the last fifth of the readings with that of the first; the one before any card counts in
// neither.
func growth(list []memoryAt) (ratio, first, last float64) {
	held := lab.Values(list[1:], func(at *memoryAt) float64 { return float64(at.bytes) })
	fifth := max(len(held)/5, 1)
	first, last = lab.Middle(held[:fifth]), lab.Middle(held[len(held)-fifth:])
	return last / first, first, last
}
