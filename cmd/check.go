package cmd

import (
	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/up"
)

func checkCommand() *cobra.Command {
	var samples sampleChains
	c := &up.Check{Now: now}
	cmd := &cobra.Command{
		Use:   "check {--chain CHAIN --rpc URL | -f DIR}",
		Short: "Ask chains' nodes whether what is declared is so, and what they can do",
		Long: `Ask the nodes of every chain that is declared and not suspended, before anything is indexed: do they serve the declared chain id, is
there a contract at each declared address, and does it answer as its protocol does; and what can the nodes do. Nothing is written.
It takes some 25 requests for each endpoint and some 10 for each exchange.

For each chain three lines say what was checked, what its nodes can do, and what that means for the figures:

  archive      state of old blocks: without it supplies of before the start come late or not at all
  overrides    eth_call on a changed state: without it no trust check simulates trades
  at once      blocks of an eth_getLogs and calls of a batch: few make the reading of the past slow
  WebSocket    new blocks announced: without it the head is polled

A line for each thing that isn't as it should be follows, with what to do:

  wrong        something declared can't be right: another chain, no contract at an address, a contract of another kind, no endpoint
               that answers
  missing      a node lacks something, or could not be asked
  look         something to look at that may be right, such as another symbol on the chain

The command fails, with exit code 1, if a line begins with wrong. --chain, --rpc and -f are those of boardwalk up.`,
		Example: "  boardwalk check --chain base --rpc https://YOUR-NODE\n  boardwalk check -f my-chains",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if c.Samples, err = samples.chosen(); err != nil {
				return err
			}
			if len(c.Samples)+len(c.Manifests) == 0 {
				return errNoChains
			}
			c.Out = cmd.OutOrStdout()
			return c.Run(cmd.Context())
		},
	}
	samples.register(cmd)
	return cmd
}
