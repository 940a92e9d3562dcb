package indexer

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// haltedPause is the time after which a halted chain is tried again.
const haltedPause = time.Minute

// Program is an indexer as it is run: one chain, by its document in a file, with a connection to the database and a listener of its own.
type Program struct {
	// Document is the file with the chain's document.
	Document string
	// DocumentHash is the hash that the document must have, since a cluster's node may have an older copy; empty takes any.
	DocumentHash string
	// Database is sqlite:PATH or postgres://….
	Database   string
	Operations telemetry.OperationsOptions
	// Progress and Fetcher are those of Options.
	Progress func(Progress)
	Fetcher  *metadata.Fetcher
	Metrics  *prometheus.Registry
	Now      func() time.Time
	Log      *slog.Logger
}

// Run indexes until ctx ends. A chain that halts is no error: the program goes on, so that it can be asked why.
func (p *Program) Run(ctx context.Context) error {
	cfg, err := p.document()
	if err != nil {
		return err
	}
	l, err := p.Operations.Listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	st, err := store.OpenPatiently(ctx, p.Database, p.Now, p.Log)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	ix, err := New(cfg, st, Options{
		Log: p.Log, Now: p.Now, Holder: store.NewHolder(p.Database), Progress: p.Progress, Metrics: NewMetrics(p.Metrics), Fetcher: p.Fetcher,
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for ix.Run(ctx) != nil { // the indexer has logged why
			if !wait.For(ctx, haltedPause) {
				break
			}
		}
		return nil
	})
	g.Go(func() error {
		st.BuildIndexes(ctx, p.Log)
		return nil
	})
	g.Go(func() error {
		operations := telemetry.Operations(p.Metrics, st.Ping, p.Operations.Pprof)
		operations.Handle("GET "+chainconfig.StatePath, ix.StateHandler())
		operations.Handle("GET /trust/{mint}", ix.ChecksHandler())
		return telemetry.Serve(ctx, l, operations, time.Second, p.Log)
	})
	return g.Wait()
}

func (p *Program) document() (*chainconfig.Chain, error) {
	cfg, err := chainconfig.Load(p.Document)
	if err != nil {
		return nil, err
	}
	if _, has, err := cfg.Encode(); p.DocumentHash != "" && (err != nil || has != p.DocumentHash) {
		return nil, fmt.Errorf("chain document %s has the hash %s, not %s: it is an older copy; a newer one comes within a minute or two",
			p.Document, has, p.DocumentHash)
	}
	return cfg, nil
}
