package cmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

func samplesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "samples [NAME...]", Short: "List the sample chains and launch venues, or print their manifests",
		Long: `List the Chain and LaunchVenue resources that this binary carries as samples, or print the manifests of those that are named.

A chain of the samples runs without a manifest of your own: boardwalk up --chain base --rpc https://YOUR-NODE. To change what it
declares, keep its manifest in a folder: write the node's url in place of urlFrom, take suspend out, and run boardwalk up -f FOLDER.`,
		Example: "  boardwalk samples\n  boardwalk samples base clanker > base.yaml",
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				return listSamples(cmd.OutOrStdout())
			}
			return printSamples(cmd.OutOrStdout(), names)
		},
	}
}

func listSamples(w io.Writer) error {
	all, err := files.Samples()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range all.Chains {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", c.Resource.Name, v1alpha1.ChainKind, describeChain(&c.Resource.Spec))
	}
	for _, v := range all.Venues {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", v.Resource.Name, v1alpha1.LaunchVenueKind, describeVenue(&v.Resource.Spec))
	}
	return table.Flush()
}

func describeChain(s *v1alpha1.ChainSpec) string {
	exchanges := make([]string, len(s.Exchanges))
	for i, x := range s.Exchanges {
		exchanges[i] = x.Name
	}
	which := "genesis hash " + s.GenesisHash
	if s.Family == v1alpha1.FamilyEVM {
		which = fmt.Sprintf("chain id %d", *s.ChainID)
	}
	return fmt.Sprintf("%s, %s, a block every %s: %s", s.Label, which, s.BlockTime.Duration, strings.Join(exchanges, ", "))
}

func describeVenue(s *v1alpha1.LaunchVenueSpec) string {
	chains := make([]string, len(s.Chains))
	for i, c := range s.Chains {
		chains[i] = c.Chain
	}
	return fmt.Sprintf("%s, protocol %s, on %s", s.Label, s.Protocol, strings.Join(chains, ", "))
}

// printSamples prints nothing where one of the names is unknown.
func printSamples(w io.Writer, names []string) error {
	var texts []string
	for _, name := range names {
		text, found, err := files.SampleText(name)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("no sample is called %q: boardwalk samples lists those that there are", name)
		}
		texts = append(texts, string(text))
	}
	_, err := io.WriteString(w, strings.Join(texts, "---\n"))
	return err
}
