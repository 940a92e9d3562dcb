package cmd

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/telemetry"
	"github.com/boardwalkhq/boardwalk/renderer"
)

func rendererCommand(build serve.Build) *cobra.Command {
	var ops operations
	p := &renderer.Program{Options: renderer.Options{Now: now}}
	cmd := &cobra.Command{
		Use: "renderer --socket PATH", Short: "Draw cards for the API", Args: cobra.NoArgs,
		Long: `Draw cards as PNGs with a headless Chromium, for the API server on the same machine, which asks over a Unix socket.

The program needs no configuration, no database and no network; its browser gets none. It says at start what protection the
browser runs with: run it as a user other than root, where the kernel and the container's settings allow user namespaces, for
all of it. Started by root, it runs the browser as nobody.`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if p.Log, err = ops.log(cmd); err != nil {
				return err
			}
			p.Operations, p.Metrics = ops.OperationsOptions, newRegistry(build)
			return runTraced(cmd.Context(), build, telemetry.TracesOptions{Service: "boardwalk-renderer", Log: p.Log}, p.Run)
		},
	}
	ops.register(cmd, "127.0.0.1:8081")
	f := cmd.Flags()
	f.StringVar(&p.Socket, "socket", "", "path of the Unix socket to answer on")
	f.StringVar(&p.Program, "browser", "", "the Chromium to draw with, a name on the PATH or a path (default chromium-headless-shell)")
	f.IntVar(&p.Tabs, "tabs", 0, "how many cards are drawn at a time (default the number of cores)")
	f.IntVar(&p.Queue, "queue", 0, "how many cards may wait beyond those (default 32 for each)")
	f.DurationVar(&p.Deadline, "deadline", 6*time.Second, "how long a card may take, the wait included")
	f.IntVar(&p.RecycleAfter, "recycle-after", 1000, "replace the browser after this many cards")
	f.Uint64Var(&p.MaxMemory, "max-browser-memory", 0, "replace the browser when its processes hold more bytes than this (default 256 MiB and 128 MiB for each of --tabs)")
	_ = cmd.MarkFlagRequired("socket")
	return cmd
}
