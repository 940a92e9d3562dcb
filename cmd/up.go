package cmd

import (
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver/httpapi"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/up"
)

func upCommand(build httpapi.Build) *cobra.Command {
	var ops operations
	var db database
	var p public
	var out outside
	u := &up.Program{Now: now}
	cmd := &cobra.Command{
		Use:   "up -f DIR",
		Short: "Run everything in one process: an indexer per chain and the API",
		Long: `Run an indexer for every chain that the manifests declare and don't suspend, the API, and the renderer of its share cards
where a Chromium is installed, in one process.

The manifests are Chain and LaunchVenue resources, as in config/samples. With several -f, a later folder's chain or venue
replaces an earlier one's with the same id.`,
		Example: "  boardwalk up -f config/samples -f my-chains", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if u.Log, err = ops.log(cmd); err != nil {
				return err
			}
			if err := p.prepare(cmd); err != nil {
				return err
			}
			if u.Fetcher, err = out.fetcher(); err != nil {
				return err
			}
			progress := newProgress(cmd.ErrOrStderr(), u.Log, now)
			defer progress.close()
			u.Settings, u.Build = p.Settings, build
			u.Database, u.Operations, u.Progress = db.dsn(cmd), ops.OperationsOptions, progress.report
			u.Out, u.Metrics = cmd.OutOrStdout(), telemetry.NewRegistry()
			return u.Run(cmd.Context())
		},
	}
	ops.register(cmd, "127.0.0.1:8081")
	db.register(cmd)
	cmd.Flags().StringArrayVarP(&u.Manifests, "filename", "f", nil, "folder with manifests of chains and venues; may be given several times")
	cmd.Flags().BoolVar(&u.DrawCards, "draw-cards", true, "draw share cards here, with a Chromium of this machine, unless --renderer names another renderer")
	p.register(cmd)
	out.register(cmd)
	_ = cmd.MarkFlagRequired("filename")
	return cmd
}
