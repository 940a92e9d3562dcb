package cmd

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/up"
)

// errNoChains says what to do where the flags declare nothing.
var errNoChains = errors.New("nothing says which chains to run: give --chain base --rpc https://YOUR-NODE for a chain of the samples " +
	"(boardwalk samples lists them), or -f DIR for manifests of your own")

var errNoIntake = errors.New("--game has the rules of the members' game, and there is no intake: give --intake-tokens, or leave it out")

func upCommand(build serve.Build) *cobra.Command {
	var ops operations
	var db database
	var p public
	var out outside
	var samples sampleChains
	var intake up.Members
	u := &up.Program{Now: now}
	cmd := &cobra.Command{
		Use:   "up {--chain CHAIN --rpc URL | -f DIR}",
		Short: "Run everything in one process: an indexer per chain and the API",
		Long: `Run an indexer for every chain that is declared and not suspended, the API, and the renderer of its share cards where a Chromium
is installed, in one process.

With --chain, a chain of the samples is declared as this binary carries it, with the launch venues on it (boardwalk samples lists
them all). Its nodes are given with --rpc. Beside several --chain each --rpc says which chain's node it is: --rpc base=https://….
Other users of the machine see flags in its list of processes: a URL with a key in it may stand in the variable
BOARDWALK_RPC_CHAIN instead, such as BOARDWALK_RPC_BASE.

With -f, chains and venues are declared by Chain and LaunchVenue resources in the files of a folder (boardwalk samples NAME prints
one to start from). With several -f, a later folder's chain or venue replaces an earlier one's with the same id; a venue also
replaces that of the samples beside --chain.`,
		Example: `  boardwalk up --chain base --rpc https://YOUR-NODE
  boardwalk up --chain base --chain bsc --rpc base=https://YOUR-NODE --rpc bsc=https://ANOTHER --rpc bsc=https://A-THIRD
  boardwalk up -f my-chains`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if u.Samples, err = samples.chosen(); err != nil {
				return err
			}
			if len(u.Samples)+len(u.Manifests) == 0 {
				return errNoChains
			}
			if intake.GameFile != "" && intake.TokensFile == "" {
				return errNoIntake
			}
			if intake.TokensFile != "" {
				intake.Deployment = cmp.Or(intake.Deployment, p.BaseURL, "http://"+p.Listen)
				u.Members = &intake
			}
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
			u.Out, u.Metrics = cmd.OutOrStdout(), newRegistry(build)
			return runTraced(cmd.Context(), build, telemetry.TracesOptions{
				Service: "boardwalk-up", Sampler: telemetry.SampleRatio, Ratio: telemetry.PublicRatio, IsPublic: true, Log: u.Log,
			}, u.Run)
		},
	}
	ops.register(cmd, "127.0.0.1:8081")
	db.register(cmd)
	cmd.Flags().StringArrayVarP(&u.Manifests, "filename", "f", nil, "folder with manifests of chains and venues; may be given several times")
	cmd.Flags().BoolVar(&u.DrawCards, "draw-cards", true, "draw share cards here, with a Chromium of this machine, unless --renderer names another renderer")
	cmd.Flags().StringVar(&intake.Listen, "intake", "127.0.0.1:8090", "address of the intake, which the platform's app writes its members to (docs/intake.md)")
	cmd.Flags().StringVar(&intake.TokensFile, "intake-tokens", "", "file with the SHA-256 of the tokens of the intake; without it there is no intake")
	cmd.Flags().StringVar(&intake.GameFile, "game", "", gameUsage)
	cmd.Flags().StringVar(&intake.Deployment, "deployment", "", "address that texts name which wallets' owners sign; without it that of the API")
	p.register(cmd)
	out.register(cmd)
	samples.register(cmd)
	return cmd
}
