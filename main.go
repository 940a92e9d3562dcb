//go:debug x509usefallbackroots=1

// Boardwalk turns declared chains into a public, read-only API of token markets. Each of its programs is a command.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/cmd"
	"github.com/boardwalkhq/boardwalk/internal/authorities"
)

// commit and built are set by the Makefile (-ldflags -X); a plain `go build` takes them from the checkout.
var commit, built string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := authorities.Trust(os.Getenv(authorities.Env))
	if err == nil {
		root := cmd.New
		if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-") {
			root = cmd.NewPlugin
		}
		err = root(build()).ExecuteContext(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "boardwalk: "+err.Error())
		os.Exit(cmd.ExitStatus(err))
	}
}

// build is what this binary was built from; zeros when nobody told it.
func build() serve.Build {
	b := serve.Build{Commit: commit}
	when := built
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && b.Commit == "":
				b.Commit = s.Value
			case s.Key == "vcs.time" && when == "":
				when = s.Value
			}
		}
	}
	if len(b.Commit) != 40 {
		b.Commit = "0000000000000000000000000000000000000000"
	}
	if t, err := time.Parse(time.RFC3339, when); err == nil {
		b.Built = t
	}
	return b
}
