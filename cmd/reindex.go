package cmd

import (
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/indexer"
)

func reindexCommand() *cobra.Command {
	var db database
	r := &indexer.Reindex{}
	cmd := &cobra.Command{
		Use: "reindex CHAIN [[--ask-anew] [--dry-run] | --cancel]", Short: "Have a chain indexed anew, beside what is served", Args: cobra.ExactArgs(1),
		Long: `Ask for the next generation of a chain's index: after an address was declared wrongly, after a chain halted, or for what a newer version
understands better. This command writes that down and ends. The chain's indexer does it: a running one begins within seconds. The new index is made
beside the one that is served, within what the endpoints allow, and takes its place once it is at the head; until then no answer has anything of
it. The former one's rows are deleted then.

With --dry-run this command says how many calls and how much disk the new index takes, and asks for nothing.

With --cancel what was asked for is given up before its end, as when the new index can't get to the head: the chain's indexer stops making it, and
deletes its rows. The one that is served stays as it is. The next boardwalk reindex begins from the start, under a later number.

boardwalk up with an SQLite database has to be ended before, and started again afterwards. In a cluster change spec.indexer.generation of the Chain
instead: raise it to have the chain indexed anew, and put the number that is served back to give that up.`,
		Example: "  boardwalk reindex base --dry-run\n  boardwalk reindex base\n  boardwalk reindex base --cancel",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Chain, r.Database, r.Out = args[0], db.dsn(cmd), cmd.OutOrStdout()
			return r.Run(cmd.Context())
		},
	}
	db.register(cmd)
	cmd.Flags().BoolVar(&r.GiveUp, "cancel", false, "give up the generation that was asked for and isn't served yet")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "say what it takes, and ask for nothing")
	cmd.Flags().BoolVar(&r.AskAnew, "ask-anew", false, "ask nodes again what they told of tokens and pools; it takes nodes that have the states of that time")
	cmd.MarkFlagsMutuallyExclusive("ask-anew", "cancel")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "cancel")
	return cmd
}
