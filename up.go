package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/indexer/metadata"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// operations are the flags that every program has.
type operations struct {
	address, logLevel string
	logJSON, pprof    bool
}

func (o *operations) register(cmd *cobra.Command, address string) {
	f := cmd.Flags()
	f.StringVar(&o.address, "operations", address, "address for /livez, /readyz and /metrics")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.BoolVar(&o.logJSON, "log-json", false, "write the log as JSON")
	f.BoolVar(&o.pprof, "pprof", false, "serve /debug/pprof on the operations address")
}

// common are the flags of every program with a database.
type common struct {
	operations

	database string
}

func (c *common) register(cmd *cobra.Command, address string) {
	c.operations.register(cmd, address)
	cmd.Flags().StringVar(&c.database, "db", "sqlite:data/boardwalk.db",
		"database: sqlite:PATH or postgres://…; BOARDWALK_DB is used when the flag isn't given")
}

// dsn is the database's address: the environment's keeps a password out of the process list.
func (c *common) dsn(cmd *cobra.Command) string {
	if env := os.Getenv("BOARDWALK_DB"); env != "" && !cmd.Flags().Changed("db") {
		return env
	}
	return c.database
}

// now is the programs' one clock.
var now = time.Now //nolint:forbidigo // everything else is given this one

// holder names this process in the chains' leases. An SQLite file has one process, which its lock sees to: the next
// one need not wait for the lease of one that was killed.
func holder(dsn string) string {
	if strings.HasPrefix(dsn, "sqlite:") {
		return "embedded"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return host + " " + uuid.NewString()
}

func upCommand() *cobra.Command {
	var c common
	var p public
	var out outside
	var dirs []string
	var draw bool
	cmd := &cobra.Command{
		Use:   "up -f DIR",
		Short: "Run everything in one process: an indexer per chain and the API",
		Long: `Run an indexer for every chain that the manifests declare and don't suspend, the API, and the renderer of its share cards
where a Chromium is installed, in one process.

The manifests are Chain and LaunchVenue resources, as in config/samples. With several -f, a later folder's chain or venue
replaces an earlier one's with the same id.`,
		Example: "  boardwalk up -f config/samples -f my-chains", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := telemetry.NewLog(cmd.ErrOrStderr(), c.logLevel, c.logJSON)
			if err != nil {
				return err
			}
			if err := p.prepare(cmd); err != nil {
				return err
			}
			fetcher, err := out.fetcher()
			if err != nil {
				return err
			}
			u := &up{common: c, public: p, fetcher: fetcher, draw: draw, dsn: c.dsn(cmd), log: log, out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			return u.run(cmd.Context(), dirs)
		},
	}
	c.register(cmd, "127.0.0.1:8081")
	cmd.Flags().StringArrayVarP(&dirs, "filename", "f", nil, "folder with manifests of chains and venues; may be given several times")
	cmd.Flags().BoolVar(&draw, "draw-cards", true, "draw share cards here, with a Chromium of this machine, unless --renderer names another renderer")
	p.register(cmd)
	out.register(cmd)
	_ = cmd.MarkFlagRequired("filename")
	return cmd
}

// up is everything in one process.
type up struct {
	common
	public

	dsn      string
	draw     bool
	fetcher  *metadata.Fetcher
	log      *slog.Logger
	out, err io.Writer
}

// run checks everything that can be checked before it writes anything: manifests, ports, chain ids, the database.
func (u *up) run(ctx context.Context, dirs []string) error {
	declared, err := declared(dirs)
	if err != nil {
		return err
	}
	listener, err := telemetry.Listen(ctx, "the API", u.listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	operations, err := telemetry.Listen(ctx, "operations", u.address)
	if err != nil {
		return err
	}
	defer func() { _ = operations.Close() }()
	if err := checkChains(ctx, declared.Running, u.log); err != nil {
		return err
	}
	st, err := store.Open(ctx, u.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	return u.serve(ctx, declared, st, listener, operations)
}

func (u *up) serve(ctx context.Context, declared *files.Declared, st *store.Store, listener, operations net.Listener) error {
	cat, err := declared.Catalog()
	if err != nil {
		return err
	}
	registry := telemetry.NewRegistry()
	metrics := indexer.NewMetrics(registry)
	progress := newProgress(u.err, u.log, now)
	defer progress.close()
	var indexers []*indexer.Indexer
	for _, c := range declared.Running {
		ix, err := indexer.New(c, st, indexer.Options{
			Log: u.log, Now: now, Holder: holder(u.dsn), Progress: progress.report, Metrics: metrics,
			Fetcher: u.fetcher,
		})
		if err != nil {
			return err
		}
		indexers = append(indexers, ix)
	}
	cards, err := u.newDrawing(registry)
	if err != nil {
		return err
	}
	defer cards.remove()
	live := catalog.NewLive(cat)
	server, closing, err := u.server(listener.Addr(), st, live, checksHere(indexers), u.log, registry)
	if err != nil {
		return err
	}
	defer closing()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		st.BuildIndexes(ctx, u.log)
		return nil
	})
	for _, ix := range indexers {
		// A chain that halts has said why, in its state and the log; the others go on.
		g.Go(func() error {
			if err := ix.Run(ctx); err != nil {
				u.log.ErrorContext(ctx, "a chain is no longer indexed; the others go on", "err", err.Error())
			}
			return nil
		})
	}
	desk := &venueDesk{declared: declared, indexers: indexers, live: live, log: u.log}
	g.Go(func() error { return desk.run(ctx) })
	if cards.run != nil {
		g.Go(func() error {
			if err := cards.run(ctx); err != nil {
				u.log.ErrorContext(ctx, "share cards are no longer drawn; the rest goes on", "err", err.Error())
			}
			return nil
		})
	}
	g.Go(func() error { return server.Run(ctx, listener) })
	g.Go(func() error {
		return telemetry.Serve(ctx, operations, telemetry.Operations(registry, server.Ready, u.pprof), time.Second, u.log)
	})
	g.Go(func() error { return u.announce(ctx, server, indexers, cards, listener.Addr()) })
	return g.Wait()
}

// announce prints the ready line once the API answers and lists every chain that is at its head; a chain that has a reason not to be
// there isn't waited for.
func (u *up) announce(ctx context.Context, server *apiserver.Server, indexers []*indexer.Indexer, cards drawing, at net.Addr) error {
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
		if !sleep(ctx, 200*time.Millisecond) {
			return nil
		}
	}
	if cards.missing != "" {
		if _, err := fmt.Fprintln(u.out, "share cards are not drawn:", cards.missing); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(u.out, "ready: http://%s\n", at)
	return err
}

// declared reads and checks the manifests.
func declared(dirs []string) (*files.Declared, error) {
	manifests, err := files.Load(dirs...)
	if err != nil {
		return nil, err
	}
	return manifests.Resolve()
}

// checkChains asks every chain's nodes which chain they serve. Nodes that don't answer are no error: they may yet.
func checkChains(ctx context.Context, chains []*chainconfig.Chain, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	errs := make([]error, len(chains))
	var g errgroup.Group
	for i, c := range chains {
		g.Go(func() error {
			errs[i] = indexer.Check(ctx, c, indexer.Options{Log: log, Now: now})
			return nil
		})
	}
	_ = g.Wait()
	return errors.Join(errs...)
}
