package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/renderer"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
	"github.com/boardwalkhq/boardwalk/renderer/template"
)

// painter gives the measured card as a PNG.
type painter func(ctx context.Context) ([]byte, error)

// drawDeadline is how long a card may take. What is measured is CPU, and the machine may be busy.
const drawDeadline = time.Minute

// drawCommand runs the renderer, or its browser alone, as a process of its own, so that what it uses can be told. It says on
// stdout when it is ready, obeys the lines of stdin, and ends with them.
func drawCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("draw", flag.ContinueOnError)
	by := flags.String("by", cardsRenderer, "what draws")
	workers := flags.Int("workers", 1, "how many cards are drawn at a time")
	dir := flags.String("dir", "", "an empty folder")
	if err := flags.Parse(args); err != nil {
		return err
	}
	t, err := measuredCard()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	start := paintByRenderer
	if *by == cardsBrowser {
		start = paintByBrowser
	}
	paint, ready, run, err := start(t, *workers, *dir, log)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return run(ctx) })
	g.Go(func() error {
		defer stop()
		if err := untilDrawing(ctx, ready); err != nil {
			return err
		}
		return drawAsTold(ctx, os.Stdin, os.Stdout, *workers, paint)
	})
	return g.Wait()
}

// paintByBrowser draws one ready-made document.
func paintByBrowser(t *sharecard.Token, workers int, dir string, log *slog.Logger,
) (p painter, ready func() error, run func(context.Context) error, err error) {
	document, err := template.Document(t)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := browser.New(browser.Options{
		Dir: filepath.Join(dir, "browsers"), Width: sharecard.Width, Height: sharecard.Height, Tabs: workers, Deadline: drawDeadline, Log: log, Now: now,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return func(ctx context.Context) ([]byte, error) {
		place, err := s.Enter()
		if err != nil {
			return nil, err
		}
		defer place.Leave()
		return place.Draw(ctx, func() ([]byte, error) { return document, nil })
	}, s.Ready, s.Run, nil
}

// paintByRenderer asks over the socket as the API server does. The client is in the same process, so that what asking costs
// is counted.
func paintByRenderer(t *sharecard.Token, workers int, dir string, log *slog.Logger,
) (p painter, ready func() error, run func(context.Context) error, err error) {
	socket := filepath.Join(dir, rendererSocket)
	r := &renderer.Program{
		Options:    renderer.Options{Socket: socket, Tabs: workers, Deadline: drawDeadline, Log: log, Now: now},
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Metrics: telemetry.NewRegistry(),
	}
	client := cards.NewClient(socket, now)
	p = func(ctx context.Context) ([]byte, error) { return client.Render(ctx, t) }
	ready = func() error {
		_, err := p(context.Background())
		return err
	}
	return p, ready, r.Run, nil
}

// rendererSocket is in the folder that the renderer is given.
const rendererSocket = "renderer.sock"

// untilDrawing waits until cards can be drawn.
func untilDrawing(ctx context.Context, ready func() error) error {
	const longest = time.Minute
	for deadline := now().Add(longest); ; {
		err := ready()
		if err == nil {
			return nil
		}
		if now().After(deadline) || !wait.For(ctx, 10*time.Millisecond) {
			return fmt.Errorf("no card can be drawn after %s: %w", longest, err)
		}
	}
}

// drawAsTold does what the lines say, as cards/main.mjs does, one answer each: "draw COUNT", "save FILE".
func drawAsTold(ctx context.Context, in io.Reader, out io.Writer, workers int, paint painter) error {
	first, err := paint(ctx)
	if err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode("ready"); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		word, argument, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "draw":
			count, e := strconv.Atoi(argument)
			err = errors.Join(e, drawMany(ctx, count, workers, paint, first))
		case "save":
			err = os.WriteFile(argument, first, 0o600)
		default:
			err = fmt.Errorf("%q is no command", word)
		}
		if err == nil {
			err = answers.Encode("done")
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

// drawMany draws a number of cards, which must all be equal, so many at a time.
func drawMany(ctx context.Context, count, workers int, paint painter, first []byte) error {
	var begun atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			for begun.Add(1) <= int64(count) {
				drawn, err := paint(ctx)
				if err != nil {
					return err
				}
				if string(drawn) != string(first) {
					return errors.New("the same card has other bytes")
				}
			}
			return nil
		})
	}
	return g.Wait()
}
