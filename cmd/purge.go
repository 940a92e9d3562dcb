package cmd

import (
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/indexer"
)

func purgeCommand() *cobra.Command {
	var db database
	p := &indexer.Purge{Now: now}
	cmd := &cobra.Command{
		Use: "purge CHAIN [--yes]", Short: "Delete what was indexed of a chain that isn't declared any more", Args: cobra.ExactArgs(1),
		Long: `Delete all rows of a chain: its trades, candles, tokens, balances, launches and what its members realised there. They can only be had
again by indexing the chain anew. Members and their calls stay, and so does everything of other chains. Without --yes the command says what would be
deleted, and deletes nothing.

Delete the Chain first, or suspend it: while an indexer runs for it nothing is deleted. API servers answer meanwhile; readers of the stream are told
that the chain's items are taken back. A purge that is cut off goes on when the command is run again.`,
		Example: "  BOARDWALK_DB=postgres://owner:…@db/boardwalk boardwalk purge base --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Chain, p.Database, p.Out = args[0], db.dsn(cmd), cmd.OutOrStdout()
			return p.Run(cmd.Context())
		},
	}
	db.register(cmd)
	cmd.Flags().BoolVar(&p.Confirmed, "yes", false, "delete; without it the command says what would be deleted")
	return cmd
}
