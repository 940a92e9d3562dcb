package cards

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/cards"
	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
	"github.com/boardwalkhq/boardwalk/renderer"
)

// drawDeadline is how long a card may take. What is measured is CPU, and the machine may be busy.
const drawDeadline = time.Minute

// painting is something that draws a card, as long as it runs.
type painting struct {
	// Paint gives the card as a PNG.
	Paint func(ctx context.Context) ([]byte, error)
	Ready func() error
	Run   func(context.Context) error
}

// Draw is the child that draws cards with the renderer.
func Draw() lab.Command { return childOf("draw", byRenderer) }

// childOf is a command that draws cards as a process of its own. It says on stdout when it is ready, obeys the lines of stdin, and
// ends with them.
func childOf(name string, start func(t *sharecard.Token, workers int, dir string) (*painting, error)) lab.Command {
	var dir string
	var workers int
	return lab.Command{
		Name: name, Child: true,
		Flags: func(f *flag.FlagSet) {
			f.IntVar(&workers, "workers", 1, "how many cards are drawn at a time")
			f.StringVar(&dir, "dir", "", "an empty folder")
		},
		Run: func(ctx context.Context) error {
			t, err := measured()
			if err != nil {
				return err
			}
			p, err := start(t, workers, dir)
			if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return p.Run(ctx) })
			g.Go(func() error {
				defer stop()
				if err := p.untilReady(ctx); err != nil {
					return err
				}
				return drawAsTold(ctx, os.Stdin, os.Stdout, workers, p.Paint)
			})
			return g.Wait()
		},
	}
}

// StartOwn starts such a child in a folder of its own, which it names.
func StartOwn(ctx context.Context, dir, child string, workers int) (s *lab.Served, own string, err error) {
	if own, err = os.MkdirTemp(dir, "own-"); err != nil {
		return nil, "", err
	}
	// The browser's user passes through both.
	if err := errors.Join(os.Chmod(dir, 0o711), os.Chmod(own, 0o711)); err != nil {
		return nil, "", err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	s, err = startPainter(ctx, dir, child, program, child, "--workers", strconv.Itoa(workers), "--dir", own)
	return s, own, err
}

// startPainter starts a program that draws cards. One that is given up ends its browser first.
func startPainter(ctx context.Context, dir, name, program string, args ...string) (*lab.Served, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return lab.StartProcess(dir, name, cmd)
}

// byRenderer asks over the socket as the API server does. The client is in the same process, so that what asking costs is
// counted.
func byRenderer(t *sharecard.Token, workers int, dir string) (*painting, error) {
	socket := filepath.Join(dir, Socket)
	r := &renderer.Program{
		Options:    renderer.Options{Socket: socket, Tabs: workers, Deadline: drawDeadline, Log: lab.Complaints(), Now: lab.Now},
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Metrics: telemetry.NewRegistry(),
	}
	client := cards.NewClient(socket, lab.Now)
	paint := func(ctx context.Context) ([]byte, error) { return client.Render(ctx, t) }
	return &painting{Paint: paint, Run: r.Run, Ready: func() error {
		_, err := paint(context.Background())
		return err
	}}, nil
}

// Socket is in the folder that the renderer is given.
const Socket = "renderer.sock"

// untilReady waits until cards can be drawn.
func (p *painting) untilReady(ctx context.Context) error {
	const longest = time.Minute
	for deadline := lab.Now().Add(longest); ; {
		err := p.Ready()
		if err == nil {
			return nil
		}
		if lab.Now().After(deadline) || !wait.For(ctx, 10*time.Millisecond) {
			return fmt.Errorf("no card can be drawn after %s: %w", longest, err)
		}
	}
}

// drawAsTold does what the lines say, as the scripts of others do, one answer each: "draw COUNT", "save FILE".
func drawAsTold(ctx context.Context, in io.Reader, out io.Writer, workers int, paint func(context.Context) ([]byte, error)) error {
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
func drawMany(ctx context.Context, count, workers int, paint func(context.Context) ([]byte, error), first []byte) error {
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
