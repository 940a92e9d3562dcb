package lab

import (
	"context"
	"flag"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
)

// Serve is the child that serves the API. Besides the market's world it knows others, by their names.
func Serve(others map[string]func() *catalog.Catalog) Command {
	var db, world, renderer string
	var at int64
	return Command{
		Name: "serve", Child: true,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&db, "db", "", "database")
			f.StringVar(&world, "world", "", "another world, whose chains and venues are declared")
			f.StringVar(&renderer, "renderer", "", "socket of the renderer that draws the cards")
			f.Int64Var(&at, "now", 0, "unix second at which the server's clock begins")
		},
		Run: func(ctx context.Context) error {
			declared := worldCatalog
			if world != "" {
				declared = others[world]
			}
			return ServeAsChild(ctx, "serve", func(ctx context.Context, ready func(net.Addr)) error {
				began := Now()
				p := apiServer(db, declared(), func() time.Time { return time.Unix(at, 0).Add(Now().Sub(began)) })
				p.Renderer, p.Ready = renderer, ready
				apiserver.CollectSooner()
				return p.Run(ctx)
			})
		},
	}
}

// apiServer is the API server as it is run in earnest, but for its clock: the limiter is on, and believes a proxy on this
// machine about who asks.
func apiServer(database string, declared *catalog.Catalog, clock func() time.Time) *apiserver.Program {
	return &apiserver.Program{
		Settings: apiserver.Settings{
			Listen: "127.0.0.1:0", DocsURL: "/docs", TrustedProxies: []string{"127.0.0.0/8"},
			Build: serve.Build{Commit: strings.Repeat("0", 40)},
		},
		Database: database, Declarations: apiserver.FixedDeclarations{Live: catalog.NewLive(declared)},
		Operations: telemetry.OperationsOptions{Address: "127.0.0.1:0"}, Metrics: telemetry.NewRegistry(), Now: clock, Log: Complaints(),
	}
}

// ServeAPI starts the API server on a database. Its clock begins when the newest block is a second old.
func ServeAPI(ctx context.Context, dir, dsn string, more ...string) (*Served, error) {
	return StartChild(ctx, dir, "server", append([]string{"serve", "--db", dsn, "--now", strconv.FormatInt(WorldEnd+1, 10)}, more...)...)
}
