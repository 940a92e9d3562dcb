// Boardwalk turns declared chains into a public, read-only API of token markets. Each of its programs is a command.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // for images without certificates of their own

	"github.com/boardwalkhq/boardwalk/apiserver/httpapi"
)

// commit and built are set by the Makefile (-ldflags -X); a plain `go build` takes them from the checkout.
var commit, built string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "boardwalk: "+err.Error())
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "boardwalk",
		Short: "A public, read-only API of token markets, from block to JSON",
		Long: `Boardwalk indexes declared chains and serves what it derives from them: prices, candles, trending tokens.

  boardwalk up -f DIR   everything in one process, on an embedded database
  boardwalk operator    the Kubernetes operator: an indexer for each declared chain
  boardwalk indexer     one chain's indexer
  boardwalk apiserver   the public API, from what the indexers wrote
  boardwalk renderer    the cards' pictures, for the API`,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(upCommand(), operatorCommand(), indexerCommand(), apiserverCommand(), rendererCommand(), versionCommand())
	return root
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the commit that this binary was built from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), build().Commit)
			return err
		},
	}
}

// build is what this binary was built from; zeros when nobody told it.
func build() httpapi.Build {
	b := httpapi.Build{Commit: commit}
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
