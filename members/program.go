package members

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/game"
	"github.com/boardwalkhq/boardwalk/internal/keyfile"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Program is the server as it is run: with a connection to the database and listeners of its own.
type Program struct {
	// Listen is the intake's address, which the public must not reach.
	Listen string
	// TokensFile has the SHA-256 of the tokens.
	TokensFile string
	// Deployment is that of Options.
	Deployment string
	// API is that of Options.
	API string
	// GameFile has the rules of the members' game (docs/game.md); empty stands for the default ones.
	GameFile string
	// Database is sqlite:PATH or postgres://….
	Database string
	// SchemaDeadline is how long to wait for the database and its schema; 0 is 5 minutes.
	SchemaDeadline time.Duration
	Operations     telemetry.OperationsOptions
	// Ready is told the intake's address once it takes requests; it may be nil.
	Ready   func(net.Addr)
	Metrics *prometheus.Registry
	Now     func() time.Time
	Log     *slog.Logger
}

const (
	// schemaDeadline is the default of Program.SchemaDeadline.
	schemaDeadline = 5 * time.Minute
	// readyPause is the time between two looks whether the intake takes requests yet.
	readyPause = 20 * time.Millisecond
)

var errWaiting = errors.New("the database isn't open yet")

// Run answers until ctx ends.
func (p *Program) Run(ctx context.Context) error {
	tokens, err := keyfile.Open(p.TokensFile, "intake tokens", p.Log)
	if err != nil {
		return err
	}
	rules, err := game.Read(p.GameFile)
	if err != nil {
		return err
	}
	listener, err := telemetry.Listen(ctx, "the intake", p.Listen)
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
		if s := server.Load(); s != nil {
			return s.Ready(ctx)
		}
		return errWaiting
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return telemetry.Serve(ctx, operations, telemetry.Operations(p.Metrics, telemetry.Always, ready, p.Operations.Pprof), time.Second, p.Log)
	})
	g.Go(func() error { return p.serve(ctx, listener, tokens, rules, server.Store) })
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

func (p *Program) serve(ctx context.Context, listener net.Listener, tokens *keyfile.File, rules *game.Rules, made func(*Server)) error {
	database := telemetry.WatchDatabase(ctx, p.Metrics)
	st, err := store.OpenMigratedPatiently(ctx, p.Database, store.Waiting{Deadline: cmp.Or(p.SchemaDeadline, schemaDeadline), Now: p.Now, Log: p.Log})
	if err != nil {
		if ctx.Err() != nil { // the program was told to end while it waited
			return nil
		}
		return err
	}
	defer func() { _ = st.Close() }()
	database.Opened(st.Reserved().Ping, st.ConnectionPools())
	s, err := New(Options{
		Store: st, Holder: store.NewHolder(p.Database), Tokens: tokens, Deployment: p.Deployment, API: p.API, Game: rules, Now: p.Now, Log: p.Log, Metrics: p.Metrics,
	})
	if err != nil {
		return err
	}
	made(s)
	return s.Run(ctx, listener)
}
