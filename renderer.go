package main

import (
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/renderer"
)

func rendererCommand() *cobra.Command {
	var ops operations
	var o renderer.Options
	cmd := &cobra.Command{
		Use: "renderer --socket PATH", Short: "Draw cards for the API", Args: cobra.NoArgs,
		Long: `Draw cards as PNGs with a headless Chromium, for the API server on the same machine, which asks over a Unix socket.

The program needs no configuration, no database and no network; its browser gets none. It says at start what protection the
browser runs with: run it as a user other than root, where the kernel and the container's settings allow user namespaces, for
all of it. Started by root, it runs the browser as nobody.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := telemetry.NewLog(cmd.ErrOrStderr(), ops.logLevel, ops.logJSON)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			l, err := telemetry.Listen(ctx, "operations", ops.address)
			if err != nil {
				return err
			}
			defer func() { _ = l.Close() }()
			registry := telemetry.NewRegistry()
			o.Registry, o.Log, o.Now = registry, log, now
			r, err := renderer.New(o)
			if err != nil {
				return err
			}
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return r.Run(ctx) })
			g.Go(func() error {
				return telemetry.Serve(ctx, l, telemetry.Operations(registry, r.Ready, ops.pprof), time.Second, log)
			})
			return g.Wait()
		},
	}
	ops.register(cmd, "127.0.0.1:8081")
	f := cmd.Flags()
	f.StringVar(&o.Socket, "socket", "", "path of the Unix socket to answer on")
	f.StringVar(&o.Program, "browser", "", "the Chromium to draw with, a name on the PATH or a path (default chromium-headless-shell)")
	f.IntVar(&o.Tabs, "tabs", 0, "how many cards are drawn at a time (default the number of cores)")
	f.IntVar(&o.Queue, "queue", 0, "how many cards may wait beyond those (default 32 for each)")
	f.DurationVar(&o.Deadline, "deadline", 6*time.Second, "how long a card may take, the wait included")
	f.IntVar(&o.RecycleAfter, "recycle-after", 1000, "replace the browser after this many cards")
	f.Uint64Var(&o.MaxMemory, "max-browser-memory", 0, "replace the browser when its processes hold more bytes than this (default 256 MiB and 128 MiB for each of --tabs)")
	_ = cmd.MarkFlagRequired("socket")
	return cmd
}
