// Package cmd has the commands of the boardwalk binary: their flags and help. Each fills in a program and runs it.
package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// now is the clock of all programs.
var now = time.Now //nolint:forbidigo // everything else is given this one

// New makes the root command of a binary.
func New(build serve.Build) *cobra.Command {
	root := &cobra.Command{
		Use:   "boardwalk",
		Short: "A public, read-only API of token markets, from block to JSON",
		Long: `Boardwalk indexes declared chains and serves what it derives from them: prices, candles, trending tokens.

  boardwalk up          everything in one process, on an embedded database
  boardwalk samples     the sample chains and launch venues that this binary carries
  boardwalk check       what chains' nodes say of what is declared, and what they can do
  boardwalk doctor      why what the API serves of a chain is old
  boardwalk operator    the Kubernetes operator: an indexer for each declared chain
  boardwalk indexer     one chain's indexer
  boardwalk apiserver   the public API, from what the indexers wrote
  boardwalk renderer    the cards' pictures, for the API
  boardwalk migrate     the database's schema, made by its owner before the others start
  boardwalk reindex     a chain indexed anew, beside what is served
  boardwalk purge       what was indexed of a chain that isn't declared any more, deleted
  boardwalk members     the intake, which the platform's app writes its members to
  boardwalk import      members and wallets from a file to the intake
  boardwalk export      members and wallets of an intake

From nothing to live prices: boardwalk up --chain base --rpc https://YOUR-NODE`,
		SilenceUsage: true, SilenceErrors: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(upCommand(build), samplesCommand(), checkCommand(), doctorCommand(), operatorCommand(build), indexerCommand(build), apiserverCommand(build), rendererCommand(build),
		migrateCommand(), reindexCommand(), purgeCommand(), membersCommand(build), importCommand(), exportCommand(), versionCommand(build))
	return root
}

// ExitStatus is what the program ends with for an error: chainconfig.ExitDatabase tells the operator whose fault it is.
func ExitStatus(err error) int {
	if store.Unreachable(err) {
		return chainconfig.ExitDatabase
	}
	return 1
}

func versionCommand(build serve.Build) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the commit that this binary was built from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), build.Commit)
			return err
		},
	}
}
