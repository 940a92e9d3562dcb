package apiserver

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Declarations are where the catalogue comes from: manifests or a cluster.
type Declarations interface {
	// Catalog is empty before Start returns.
	Catalog() *catalog.Live
	// Start returns once the catalogue is read, and has it follow what is declared until ctx ends.
	Start(ctx context.Context) error
	// Ready says why the catalogue isn't read yet, or nil.
	Ready() error
}

// FixedDeclarations never change.
type FixedDeclarations struct{ Live *catalog.Live }

var _ Declarations = FixedDeclarations{}

// Catalog is the catalogue.
func (f FixedDeclarations) Catalog() *catalog.Live { return f.Live }

// Start has nothing to read.
func (FixedDeclarations) Start(context.Context) error { return nil }

// Ready is nil.
func (FixedDeclarations) Ready() error { return nil }

// Program is the API server as it is run: with a connection to the database and listeners of its own.
type Program struct {
	Settings

	// Database is sqlite:PATH or postgres://….
	Database     string
	Declarations Declarations
	// Checker makes trust checks; without one the last stored reports are answered.
	Checker    checker.Checker
	Operations telemetry.OperationsOptions
	// Ready is told the public address once the API answers; it may be nil.
	Ready   func(net.Addr)
	Metrics *prometheus.Registry
	Now     func() time.Time
	Log     *slog.Logger
}

// Run answers the public until ctx ends.
func (p *Program) Run(ctx context.Context) error {
	listener, err := telemetry.Listen(ctx, "the API", p.Listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	operations, err := p.Operations.Listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = operations.Close() }()
	st, err := store.OpenPatiently(ctx, p.Database, p.Now, p.Log)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	server, closing, err := p.NewServer(Dependencies{
		Address: listener.Addr(), Store: st, Catalog: p.Declarations.Catalog(), Checker: p.Checker, Metrics: p.Metrics, Now: p.Now, Log: p.Log,
	})
	if err != nil {
		return err
	}
	defer closing()
	ready := func(ctx context.Context) error {
		if err := p.Declarations.Ready(); err != nil {
			return err
		}
		return server.Ready(ctx)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := p.Declarations.Start(ctx); err != nil {
			return err
		}
		return server.Run(ctx, listener)
	})
	g.Go(func() error {
		return telemetry.Serve(ctx, operations, telemetry.Operations(p.Metrics, telemetry.Always, ready, p.Operations.Pprof), time.Second, p.Log)
	})
	if p.Ready != nil {
		g.Go(func() error {
			for ready(ctx) != nil {
				if !wait.For(ctx, readyPause) {
					return nil
				}
			}
			p.Ready(listener.Addr())
			return nil
		})
	}
	return g.Wait()
}

// readyPause is the time between two looks whether the API answers yet.
const readyPause = 20 * time.Millisecond
