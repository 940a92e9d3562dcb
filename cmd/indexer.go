package cmd

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/indexer"
)

func indexerCommand(build serve.Build) *cobra.Command {
	var ops operations
	var db database
	var out outside
	p := &indexer.Program{Now: now}
	cmd := &cobra.Command{
		Use: "indexer --config FILE", Short: "Run one chain's indexer", Args: cobra.NoArgs,
		Long: `Run the indexer of one chain, from its chain document (JSON), until it is stopped.

When the chain halts, because it needs a human, the program stays and says so in its log and at /state of the operations
address; it looks every minute whether what halted it is mended.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if p.Log, err = ops.log(cmd); err != nil {
				return err
			}
			if p.Fetcher, err = out.fetcher(); err != nil {
				return err
			}
			p.Settings, p.Commit = os.Getenv("BOARDWALK_SETTINGS"), build.Commit
			progress := newProgress(cmd.ErrOrStderr(), p.Log, now)
			defer progress.close()
			p.Database, p.Operations, p.Progress, p.Metrics = db.dsn(cmd), ops.OperationsOptions, progress.report, newRegistry(build)
			return p.Run(cmd.Context())
		},
	}
	ops.register(cmd, "127.0.0.1:8081")
	db.register(cmd)
	out.register(cmd)
	cmd.Flags().StringVar(&p.Document, "config", "", "the chain document")
	cmd.Flags().StringVar(&p.DocumentHash, "document-hash", "", "refuse a chain document with another hash, as an older copy on a cluster's node has")
	_ = cmd.MarkFlagRequired("config")
	return cmd
}
