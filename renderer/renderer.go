// Package renderer draws cards: its own process, reached over a Unix socket with a card as plain data, never with a URL or
// markup. It holds no state and may die at any time.
package renderer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/sharecard"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/renderer/browser"
)

// Options of a renderer. Socket, Log and Now are needed; the zero value of each other takes its default, which stands at
// browser.Options.
type Options struct {
	// Socket is the path of the Unix socket to answer on.
	Socket string
	// Program is the browser: a name on the PATH or a path.
	Program string
	// Tabs is how many cards are drawn at a time.
	Tabs int
	// Queue is how many cards may wait beyond those.
	Queue int
	// Deadline is how long a card may take, the wait included.
	Deadline time.Duration
	// RecycleAfter is the number of cards after which the browser is replaced.
	RecycleAfter int
	// MaxMemory is the number of bytes of the browser's processes above which it is replaced.
	MaxMemory uint64
	// Registry takes the metrics; none are kept if it is nil.
	Registry prometheus.Registerer
	Log      *slog.Logger
	Now      func() time.Time
}

// Renderer answers with drawn cards.
type Renderer struct {
	o        Options
	browsers *browser.Supervisor
}

// New checks the options and starts nothing.
func New(o Options) (*Renderer, error) {
	if o.Socket == "" || o.Log == nil || o.Now == nil {
		return nil, errors.New("renderer: Socket, Log and Now are needed")
	}
	socket, err := filepath.Abs(o.Socket)
	if err != nil {
		return nil, fmt.Errorf("renderer: %w", err)
	}
	var metrics *browser.Metrics
	if o.Registry != nil {
		metrics = browser.NewMetrics(o.Registry)
	}
	browsers, err := browser.New(browser.Options{
		// Who has the socket has the folder, so that what a killed program left in it goes when the next one begins.
		Dir:     filepath.Join(os.TempDir(), fmt.Sprintf("boardwalk-renderer-%.4x", sha256.Sum256([]byte(socket)))),
		Program: o.Program, Width: sharecard.Width, Height: sharecard.Height, Tabs: o.Tabs, Queue: o.Queue, Deadline: o.Deadline,
		RecycleAfter: o.RecycleAfter, MaxMemory: o.MaxMemory, Metrics: metrics, Log: o.Log, Now: o.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Renderer{o: o, browsers: browsers}, nil
}

// drain is how long cards in flight have when the renderer ends: more than any may take, its request included.
func (r *Renderer) drain() time.Duration { return max(10*time.Second, r.o.Deadline+4*time.Second) }

// Run answers on the socket until ctx ends, and then draws what it was asked for before. A browser that doesn't start or
// that ends is no error: the answer is 503 until one runs. It makes the program the parent of its descendants' orphans.
func (r *Renderer) Run(ctx context.Context) error {
	l, err := listen(ctx, r.o.Socket)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	// The browser goes last.
	serving, served := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error {
		defer served()
		return telemetry.Serve(ctx, l, r.Handler(), r.drain(), r.o.Log)
	})
	g.Go(func() error { return r.browsers.Run(serving) })
	return g.Wait()
}

// Ready says why no card can be drawn now, or nil.
func (r *Renderer) Ready(context.Context) error { return r.browsers.Ready() }
