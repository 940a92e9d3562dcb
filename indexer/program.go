package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/indexer/watch"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// Program is an indexer as it is run: one chain, by its document in a file, with a connection to the database and a listener of its own.
type Program struct {
	// Document is the file with the chain's document.
	Document string
	// DocumentHash is the hash that the document must have, since a cluster's node may have an older copy; empty takes any.
	DocumentHash string
	// Settings is repeated in the State. It is the hash of what all indexers of a cluster have in common; empty outside a cluster.
	Settings string
	// Commit is what the program was built from, which traces tell.
	Commit string
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
	endTraces, err := telemetry.Traces(ctx, telemetry.TracesOptions{Service: "boardwalk-indexer", Commit: p.Commit, Chain: cfg.ID, Now: p.Now, Log: p.Log})
	if err != nil {
		return err
	}
	defer endTraces(ctx)
	l, err := p.Operations.Listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	started := newStartedIndexer(cfg, p.Settings, p.Now)
	g, ctx := errgroup.WithContext(ctx)
	// The listener answers while the database is opened and migrated, which takes as long as it takes.
	g.Go(func() error {
		operations := telemetry.Operations(p.Metrics, started.alive, started.ready, p.Operations.Pprof)
		operations.Handle("GET "+chainconfig.StatePath, started)
		operations.Handle("GET /trust/{mint}", started)
		return telemetry.Serve(ctx, l, operations, time.Second, p.Log)
	})
	g.Go(func() error { return p.index(ctx, cfg, started) })
	return g.Wait()
}

// index runs the indexer, which answers by started as long as it runs.
func (p *Program) index(ctx context.Context, cfg *chainconfig.Chain, started *startedIndexer) error {
	database := telemetry.WatchDatabase(ctx, p.Metrics)
	st, err := store.OpenPatiently(ctx, p.Database, p.Now, started.step, p.Log)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	ix, err := New(cfg, st, Options{
		Log: p.Log, Now: p.Now, Holder: store.NewHolder(p.Database), Progress: p.Progress, Metrics: NewMetrics(p.Metrics), Fetcher: p.Fetcher,
		ChecksDeclaration: true, Settings: p.Settings,
	})
	if err != nil {
		return err
	}
	database.Opened(st.Reserved().Ping, st.ConnectionPools())
	started.set(ix, st)
	defer started.set(nil, nil)
	var maintaining sync.WaitGroup
	defer maintaining.Wait()
	maintaining.Go(func() { st.Maintain(ctx, p.Log) })
	ix.Keep(ctx)
	return nil
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

// startedIndexer answers for an indexer that may not have started yet.
type startedIndexer struct {
	// opening beats while the database is opened and migrated. openingState is what the program says of itself meanwhile.
	opening      pulse
	openingState account

	mu    sync.Mutex
	ix    *Indexer
	store *store.Store
	paths *http.ServeMux
}

func newStartedIndexer(cfg *chainconfig.Chain, settings string, now func() time.Time) *startedIndexer {
	s := &startedIndexer{opening: pulse{now: now}, openingState: account{now: now}}
	_, document, _ := cfg.Encode() // New gives the error
	s.openingState.update(func(x *chainconfig.State) {
		x.Chain, x.Document, x.Settings, x.Venues = cfg.ID, document, settings, watch.Unchecked(cfg.Venues)
	})
	s.step(nil)
	return s
}

// step notes that the opening of the database goes on, or, with an error, that the last try failed.
func (s *startedIndexer) step(failed error) {
	s.opening.beat()
	if failed != nil {
		s.openingState.failed(chainconfig.PhaseStarting, failed)
	} else {
		s.openingState.phase(chainconfig.PhaseStarting, errStarting.Error())
	}
}

func (s *startedIndexer) set(ix *Indexer, st *store.Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ix, s.store, s.paths = ix, st, http.NewServeMux()
	s.opening.beat() // the program may be ending
	if ix != nil {
		s.paths.Handle("GET "+chainconfig.StatePath, ix.StateHandler())
		s.paths.Handle("GET /trust/{mint}", ix.ChecksHandler())
	}
}

// alive says why the program should be started anew, or nil. A migration takes as long as it takes, but each of its statements an hour at most:
// its connection may have fallen silent.
func (s *startedIndexer) alive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ix != nil {
		return s.ix.Alive()
	}
	if age := s.opening.age(); age > stuckOpening {
		return fmt.Errorf("the database is being opened, without a step for %s", age.Round(time.Second))
	}
	return nil
}

var errStarting = errors.New("the database is being opened")

func (s *startedIndexer) ready(ctx context.Context) error {
	s.mu.Lock()
	st := s.store
	s.mu.Unlock()
	if st == nil {
		return errStarting
	}
	return st.Ping(ctx)
}

// ServeHTTP passes a request to the indexer. Before there is one, it answers with the state of the opening.
func (s *startedIndexer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ix, paths := s.ix, s.paths
	s.mu.Unlock()
	if ix == nil && r.URL.Path == chainconfig.StatePath {
		writeState(w, s.openingState.told())
		return
	}
	if ix == nil {
		http.Error(w, errStarting.Error(), http.StatusServiceUnavailable)
		return
	}
	paths.ServeHTTP(w, r)
}
