package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/indexer"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// databasePatience is how long a program waits for a database that isn't there yet: as long as one that is started at the same
// time takes.
const databasePatience = time.Minute

// openStore opens the database, and waits for it when nobody answers.
func openStore(ctx context.Context, dsn string, log *slog.Logger) (*store.Store, error) {
	for until := now().Add(databasePatience); ; {
		st, err := store.Open(ctx, dsn)
		if !errors.Is(err, store.ErrUnreachable) || now().After(until) {
			return st, err
		}
		log.WarnContext(ctx, "waiting for the database", "err", err.Error())
		if !sleep(ctx, 2*time.Second) {
			return nil, err
		}
	}
}

// sleep reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func indexerCommand() *cobra.Command {
	var c common
	var out outside
	var config, hash string
	cmd := &cobra.Command{
		Use: "indexer --config FILE", Short: "Run one chain's indexer", Args: cobra.NoArgs,
		Long: `Run the indexer of one chain, from its chain document (JSON), until it is stopped.

When the chain halts, because it needs a human, the program stays and says so in its log and at /state of the operations
address; it looks every minute whether what halted it is mended.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := telemetry.NewLog(cmd.ErrOrStderr(), c.logLevel, c.logJSON)
			if err != nil {
				return err
			}
			cfg, err := chainconfig.Load(config)
			if err != nil {
				return err
			}
			if _, has, err := cfg.Encode(); hash != "" && (err != nil || has != hash) {
				return fmt.Errorf("chain document %s has the hash %s, not %s: it is an older copy; a newer one comes within a minute or two",
					config, has, hash)
			}
			fetcher, err := out.fetcher()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			l, err := telemetry.Listen(ctx, "operations", c.address)
			if err != nil {
				return err
			}
			defer func() { _ = l.Close() }()
			st, err := openStore(ctx, c.dsn(cmd), log)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			registry := telemetry.NewRegistry()
			p := newProgress(cmd.ErrOrStderr(), log, now)
			defer p.close()
			ix, err := indexer.New(cfg, st, indexer.Options{
				Log: log, Now: now, Holder: holder(c.dsn(cmd)), Progress: p.report, Metrics: indexer.NewMetrics(registry),
				Fetcher: fetcher,
			})
			if err != nil {
				return err
			}
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return runIndexer(ctx, ix) })
			g.Go(func() error {
				st.BuildIndexes(ctx, log)
				return nil
			})
			g.Go(func() error {
				operations := telemetry.Operations(registry, st.Ping, c.pprof)
				operations.Handle("GET "+chainconfig.StatePath, ix.StateHandler())
				operations.Handle("GET /trust/{mint}", ix.ChecksHandler())
				return telemetry.Serve(ctx, l, operations, time.Second, log)
			})
			return g.Wait()
		},
	}
	c.register(cmd, "127.0.0.1:8081")
	out.register(cmd)
	cmd.Flags().StringVar(&config, "config", "", "the chain document")
	cmd.Flags().StringVar(&hash, "document-hash", "", "refuse a chain document with another hash, as an older copy on a cluster's node has")
	_ = cmd.MarkFlagRequired("config")
	return cmd
}

// haltedPause is the time after which a halted chain is tried again.
const haltedPause = time.Minute

// runIndexer keeps a program whose chain is halted running, so that it can be asked why.
func runIndexer(ctx context.Context, ix *indexer.Indexer) error {
	for ix.Run(ctx) != nil { // the indexer has logged why
		if !sleep(ctx, haltedPause) {
			return nil
		}
	}
	return nil
}

func apiserverCommand() *cobra.Command {
	var c common
	var p public
	var d declaration
	var indexers string
	cmd := &cobra.Command{
		Use: "apiserver -f DIR | --from-cluster", Short: "Run the public API", Args: cobra.NoArgs,
		Long: `Answer the public from what the indexers of the declared chains wrote to the database.

Chains and venues are declared in manifests (-f), which are read once, or as resources in a Kubernetes namespace
(--from-cluster), whose changes show within a second. That needs list and watch on both kinds there. While Kubernetes is
away the API goes on with what was read last. Which venue is open is decided by the operator, or by ` + "`boardwalk up`" + `: with
-f alone every venue shows as closed.`,
		Example: "  boardwalk apiserver -f config/samples\n  boardwalk apiserver --from-cluster --kubeconfig ~/.kube/config --namespace boardwalk",
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := telemetry.NewLog(cmd.ErrOrStderr(), c.logLevel, c.logJSON)
			if err != nil {
				return err
			}
			if err := p.prepare(cmd); err != nil {
				return err
			}
			checks, err := indexersAt(indexers)
			if err != nil {
				return err
			}
			registry := telemetry.NewRegistry()
			from, err := d.open(log, registry)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			listener, err := telemetry.Listen(ctx, "the API", p.listen)
			if err != nil {
				return err
			}
			defer func() { _ = listener.Close() }()
			operations, err := telemetry.Listen(ctx, "operations", c.address)
			if err != nil {
				return err
			}
			defer func() { _ = operations.Close() }()
			st, err := openStore(ctx, c.dsn(cmd), log)
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			server, closing, err := p.server(listener.Addr(), st, from.Catalog(), checks, log, registry)
			if err != nil {
				return err
			}
			defer closing()
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error {
				if err := from.Start(ctx); err != nil {
					return err
				}
				return server.Run(ctx, listener)
			})
			g.Go(func() error {
				ready := func(ctx context.Context) error {
					if err := from.Ready(); err != nil {
						return err
					}
					return server.Ready(ctx)
				}
				return telemetry.Serve(ctx, operations, telemetry.Operations(registry, ready, c.pprof), time.Second, log)
			})
			return g.Wait()
		},
	}
	c.register(cmd, "127.0.0.1:8082")
	d.register(cmd)
	p.register(cmd)
	cmd.Flags().StringVar(&indexers, "indexers", "", "operations address of the chains' indexers, with {chain} for a chain's id, as in "+
		"http://boardwalk-indexer-{chain}:8081; they make the trust checks, without it only what they stored is answered")
	return cmd
}

// indexersAt is nil without an address.
func indexersAt(address string) (checker.Checker, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // none is what was asked for
	}
	c, err := checker.NewClient(address)
	if err != nil {
		return nil, fmt.Errorf("--indexers: %w", err)
	}
	return c, nil
}
