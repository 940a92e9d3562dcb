// Package up is everything in one process, on an embedded database: an indexer for each declared chain, the API, and the renderer of
// its cards.
package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// Program is everything in one process.
type Program struct {
	apiserver.Settings

	// Samples are chains of the samples that run.
	Samples []files.SampleChain
	// Manifests are folders; a later one's chain or venue replaces an earlier one's with the same id.
	Manifests []string
	// Database is sqlite:PATH or postgres://….
	Database string
	// Members has the intake run here; nil is none.
	Members *Members
	// DrawCards has cards drawn here, with a Chromium of this machine, unless Renderer names another renderer.
	DrawCards  bool
	Operations telemetry.OperationsOptions
	// Progress and Fetcher are those of indexer.Options.
	Progress func(indexer.Progress)
	Fetcher  *metadata.Fetcher
	// Out is told when the API answers and lists every chain that is at its head.
	Out     io.Writer
	Metrics *prometheus.Registry
	Now     func() time.Time
	Log     *slog.Logger
}

// Members is the intake of a Program.
type Members struct {
	// Listen is its address.
	Listen string
	// TokensFile has the SHA-256 of its tokens.
	TokensFile string
	// Deployment is the address that texts name which wallets' owners sign.
	Deployment string
	// GameFile is members.Program's.
	GameFile string
}

// Run checks everything that can be checked before it writes anything: manifests, ports, chain ids, the database.
func (p *Program) Run(ctx context.Context) error {
	declared, err := declared(p.Samples, p.Manifests)
	if err != nil {
		return err
	}
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
	if err := p.checkChains(ctx, declared.Running); err != nil {
		return err
	}
	if err := p.introduceSamples(ctx, declared.Running); err != nil {
		return err
	}
	st, err := store.Open(ctx, p.Database)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return p.serve(ctx, declared, st, listener, operations)
}

func (p *Program) serve(ctx context.Context, declared *files.Declared, st *store.Store, listener, operations net.Listener) error {
	cat, err := declared.Catalog()
	if err != nil {
		return err
	}
	telemetry.WatchDatabase(ctx, p.Metrics).Opened(st.Reserved().Ping, st.ConnectionPools())
	metrics := indexer.NewMetrics(p.Metrics)
	var indexers []*indexer.Indexer
	for _, c := range declared.Running {
		ix, err := indexer.New(c, st, indexer.Options{
			Log: p.Log, Now: p.Now, Holder: store.NewHolder(p.Database), Progress: p.Progress, Metrics: metrics, Fetcher: p.Fetcher,
		})
		if err != nil {
			return err
		}
		indexers = append(indexers, ix)
	}
	cards, err := p.newDrawing()
	if err != nil {
		return err
	}
	defer cards.remove()
	settings := p.Settings
	settings.Renderer = cards.socket
	live := catalog.NewLive(cat)
	server, closing, err := settings.NewServer(apiserver.Dependencies{
		Address: listener.Addr(), Store: st, Catalog: live, Checker: checksHere(indexers), Metrics: p.Metrics, Now: p.Now, Log: p.Log,
	})
	if err != nil {
		return err
	}
	defer closing()
	intake, err := p.newIntake(ctx, st, listener.Addr())
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	if intake != nil {
		g.Go(func() error { return intake(ctx) })
	}
	g.Go(func() error {
		st.Maintain(ctx, p.Log)
		return nil
	})
	for _, ix := range indexers {
		// A chain that halts says why, in its state and the log; the others go on.
		g.Go(func() error {
			ix.Keep(ctx)
			return nil
		})
	}
	venues := &venueReporter{declared: declared, indexers: indexers, live: live, now: p.Now, log: p.Log}
	g.Go(func() error { return venues.run(ctx) })
	if cards.run != nil {
		g.Go(func() error {
			if err := cards.run(ctx); err != nil {
				p.Log.ErrorContext(ctx, "share cards are no longer drawn; the rest goes on", "err", err.Error())
			}
			return nil
		})
	}
	g.Go(func() error { return server.Run(ctx, listener) })
	g.Go(func() error {
		return telemetry.Serve(ctx, operations, telemetry.Operations(p.Metrics, telemetry.Always, server.Ready, p.Operations.Pprof), time.Second, p.Log)
	})
	g.Go(func() error { return p.announce(ctx, server, indexers, cards, listener.Addr()) })
	return g.Wait()
}

// announce prints the ready line once the API answers and lists every chain that is at its head; a chain that has a reason not to be
// there isn't waited for.
func (p *Program) announce(ctx context.Context, server *apiserver.Server, indexers []*indexer.Indexer, cards drawing, at net.Addr) error {
	first := map[string]uint64{} // by chain: the block at which it was first seen settled
	listed := func(ix *indexer.Indexer) bool {
		s := ix.State()
		if !ix.Settled() || s.Indexed == nil {
			return ix.Settled()
		}
		if _, seen := first[s.Chain]; !seen {
			first[s.Chain] = s.Indexed.Number
		}
		return server.Lists(s.Chain, first[s.Chain])
	}
	for server.Ready(ctx) != nil || slices.ContainsFunc(indexers, func(ix *indexer.Indexer) bool { return !listed(ix) }) {
		if !wait.For(ctx, 200*time.Millisecond) {
			return nil
		}
	}
	if cards.missing != "" {
		if _, err := fmt.Fprintln(p.Out, "share cards are not drawn:", cards.missing); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(p.Out, "ready: http://%s\n", at)
	return err
}

// declared reads and checks the manifests.
func declared(samples []files.SampleChain, dirs []string) (*files.Declared, error) {
	manifests, err := files.LoadWithSamples(samples, dirs...)
	if err != nil {
		return nil, err
	}
	return manifests.Resolve()
}

// checkChains asks every chain's nodes which chain they serve. Nodes that don't answer are no error: they may yet.
func (p *Program) checkChains(ctx context.Context, chains []*chainconfig.Chain) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	errs := make([]error, len(chains))
	var g errgroup.Group
	for i, c := range chains {
		g.Go(func() error {
			errs[i] = indexer.Check(ctx, c, indexer.Options{Log: p.Log, Now: p.Now})
			return nil
		})
	}
	_ = g.Wait()
	return errors.Join(errs...)
}

// introduceSamples says of the chosen samples, which nobody has looked at, what boardwalk check would. What is wrong with one of them doesn't
// keep the rest from being indexed.
func (p *Program) introduceSamples(ctx context.Context, running []*chainconfig.Chain) error {
	var chosen []*chainconfig.Chain
	for _, c := range running {
		if slices.ContainsFunc(p.Samples, func(s files.SampleChain) bool { return s.Name == c.ID }) {
			chosen = append(chosen, c)
		}
	}
	reports, err := preflights(ctx, chosen, p.Now)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if err := r.Write(p.Out); err != nil {
			return err
		}
	}
	return nil
}
