package cmd

import (
	"context"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// logging are the flags of a program's log.
type logging struct {
	level string
	json  bool
}

func (l *logging) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.level, "log-level", "info", "debug, info, warn or error")
	cmd.Flags().BoolVar(&l.json, "log-json", false, "write the log as JSON")
}

// log is the program's, on its standard error.
func (l *logging) log(cmd *cobra.Command) (*slog.Logger, error) {
	return telemetry.NewLog(cmd.ErrOrStderr(), l.level, l.json)
}

// operations are the flags that every program has that runs until it is stopped.
type operations struct {
	telemetry.OperationsOptions
	logging
}

func (o *operations) register(cmd *cobra.Command, address string) {
	f := cmd.Flags()
	f.StringVar(&o.Address, "operations", address, "address for /livez, /readyz and /metrics")
	o.logging.register(cmd)
	f.BoolVar(&o.Pprof, "pprof", false, "serve /debug/pprof on the operations address")
}

// runTraced runs a program, and has its spans sent where the environment names an endpoint.
func runTraced(ctx context.Context, build serve.Build, t telemetry.TracesOptions, run func(context.Context) error) error {
	t.Commit, t.Now = build.Commit, now
	end, err := telemetry.Traces(ctx, t)
	if err != nil {
		return err
	}
	defer end(ctx)
	return run(ctx)
}

// newRegistry holds a program's metrics, what it was built from among them.
func newRegistry(build serve.Build) *prometheus.Registry {
	r := telemetry.NewRegistry()
	telemetry.TellBuild(r, build.Commit)
	return r
}

// database is the flag of every program with one.
type database struct{ address string }

func (d *database) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.address, "db", "sqlite:data/boardwalk.db",
		"database: sqlite:PATH or postgres://…; BOARDWALK_DB is used when the flag isn't given. "+
			"BOARDWALK_DB_CONNECTIONS bounds the connections to PostgreSQL, as pool_max_conns in the address does; BOARDWALK_DB_FILE names a file with what "+
			"BOARDWALK_DB would be now, whose user and password new connections have")
}

// dsn is the database's address: the environment's keeps a password out of the process list.
func (d *database) dsn(cmd *cobra.Command) string {
	address, file := d.address, ""
	if env := os.Getenv("BOARDWALK_DB"); env != "" && !cmd.Flags().Changed("db") {
		address, file = env, os.Getenv("BOARDWALK_DB_FILE")
	}
	return store.RefreshCredentials(store.BoundConnections(address, os.Getenv("BOARDWALK_DB_CONNECTIONS")), file)
}
