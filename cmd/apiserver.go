package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/checker"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

func apiserverCommand(build serve.Build) *cobra.Command {
	var ops operations
	var db database
	var p public
	var d declaration
	var indexers string
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "apiserver -f DIR | --from-cluster", Short: "Run the public API", Args: cobra.NoArgs,
		Long: `Answer the public from what the indexers of the declared chains wrote to the database.

Chains and venues are declared in manifests (-f), which are read once, or as resources in a Kubernetes namespace
(--from-cluster), whose changes show within a second. That needs list and watch on both kinds there. While Kubernetes is
away the API goes on with what was read last. On PostgreSQL it makes no tables and opens read-only transactions alone, so that a role
with the right to read is enough (boardwalk migrate --reader); it waits until there is a schema. Which venue is open is decided by the operator, or by ` + "`boardwalk up`" + `: with
-f alone every venue shows as closed.`,
		Example: "  boardwalk apiserver -f config/samples\n  boardwalk apiserver --from-cluster --kubeconfig ~/.kube/config --namespace boardwalk",
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := ops.log(cmd)
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
			registry := newRegistry(build)
			declared, err := d.open(log, registry)
			if err != nil {
				return err
			}
			p.Build = build
			program := &apiserver.Program{
				Settings: p.Settings, Database: db.dsn(cmd), SchemaDeadline: wait, Declarations: declared, Checker: checks, Operations: ops.OperationsOptions,
				Metrics: registry, Now: now, Log: log,
			}
			apiserver.CollectSooner()
			return runTraced(cmd.Context(), build, telemetry.TracesOptions{
				Service: "boardwalk-apiserver", Sampler: telemetry.SampleRatio, Ratio: telemetry.PublicRatio, IsPublic: true, Log: log,
			}, program.Run)
		},
	}
	ops.register(cmd, "127.0.0.1:8082")
	db.register(cmd)
	d.register(cmd)
	p.register(cmd)
	cmd.Flags().DurationVar(&wait, "wait-for-schema", 5*time.Minute,
		"how long to wait for the database and its schema, which boardwalk migrate or an indexer makes, before giving up")
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
