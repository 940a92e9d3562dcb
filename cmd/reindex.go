package cmd

import (
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/indexer"
)

func reindexCommand() *cobra.Command {
	var db database
	r := &indexer.Reindex{}
	cmd := &cobra.Command{
		Use: "reindex CHAIN [--ask-anew]", Short: "Have a chain indexed anew, beside what is served", Args: cobra.ExactArgs(1),
		Long: `Ask for the next generation of a chain's index: after an address was declared wrongly, after a chain halted, or for what a newer version
understands better. This command writes that down and ends. The chain's indexer does it: a running one begins within seconds. The new index is made
beside the one that is served, within what the endpoints allow, and takes its place once it is at the head; until then no answer has anything of
it. The former one's rows are deleted then.

boardwalk up with an SQLite database has to be ended before, and started again afterwards. In a cluster raise spec.indexer.generation of the Chain
instead.`,
		Example: "  boardwalk reindex base",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Chain, r.Database, r.Out = args[0], db.dsn(cmd), cmd.OutOrStdout()
			return r.Run(cmd.Context())
		},
	}
	db.register(cmd)
	cmd.Flags().BoolVar(&r.AskAnew, "ask-anew", false, "ask nodes again what they told of tokens and pools; it takes nodes that have the states of that time")
	return cmd
}
