package apiserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
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
	Database string
	// SchemaDeadline is how long to wait for the database and its schema; 0 is 5 minutes.
	SchemaDeadline time.Duration
	Declarations   Declarations
	// Checker makes trust checks; without one the last stored reports are answered.
	Checker    checker.Checker
	Operations telemetry.OperationsOptions
	// Ready is told the public address once the API answers; it may be nil.
	Ready   func(net.Addr)
	Metrics *prometheus.Registry
	Now     func() time.Time
	Log     *slog.Logger
}

// heapGrowth is by how many percent what is in memory may grow before Go's collector runs. Most of it lives as long as the process: with 50 the process
// takes a tenth more beside 100,000 members (docs/benchmarks.md).
const heapGrowth = 30

// CollectSooner has Go's collector run sooner than by itself, in a process that runs nothing but this program. GOGC in the environment has precedence.
func CollectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
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
	var server atomic.Pointer[Server]
	ready := func(ctx context.Context) error {
		if err := p.Declarations.Ready(); err != nil {
			return err
		}
		if s := server.Load(); s != nil {
			return s.Ready(ctx)
		}
		return errWaiting
	}
	p.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "boardwalk_api_ready", Help: "Whether the API server answers the public (1).",
	}, func() float64 {
		ctx, cancel := context.WithTimeout(ctx, readyPatience)
		defer cancel()
		if ready(ctx) != nil {
			return 0
		}
		return 1
	}))
	g, ctx := errgroup.WithContext(ctx)
	// While the program waits for the schema it is alive, and its metrics can be read.
	g.Go(func() error {
		return telemetry.Serve(ctx, operations, telemetry.Operations(p.Metrics, telemetry.Always, ready, p.Operations.Pprof), time.Second, p.Log)
	})
	g.Go(func() error { return p.serve(ctx, listener, server.Store) })
	if p.Ready != nil {
		g.Go(func() error {
			if wait.Until(ctx, readyPause, func() bool { return ready(ctx) == nil }) {
				p.Ready(listener.Addr())
			}
			return nil
		})
	}
	return g.Wait()
}

// errWaiting means that the database isn't open yet.
var errWaiting = errors.New("the database isn't open yet")

// serve opens the database, makes the server and answers until ctx ends.
func (p *Program) serve(ctx context.Context, listener net.Listener, made func(*Server)) error {
	database := telemetry.WatchDatabase(ctx, p.Metrics)
	st, err := store.OpenReaderPatiently(ctx, p.Database, store.Waiting{
		Deadline: cmp.Or(p.SchemaDeadline, schemaDeadline), Now: p.Now, Log: p.Log,
	})
	if err != nil {
		if ctx.Err() != nil { // the program was told to end while it waited
			return nil
		}
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
	database.Opened(st.Reserved().Ping, st.ConnectionPools())
	made(server)
	if err := p.Declarations.Start(ctx); err != nil {
		return err
	}
	return server.Run(ctx, listener)
}

// schemaDeadline is the default of Program.SchemaDeadline.
const schemaDeadline = 5 * time.Minute

// readyPatience is how long the readiness may take to be found out when metrics are collected, as when a kubelet asks.
const readyPatience = 2 * time.Second

// readyPause is the time between two looks whether the API answers yet.
const readyPause = 20 * time.Millisecond
