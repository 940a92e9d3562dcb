package cmd

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
	"github.com/boardwalkhq/boardwalk/internal/catalog/resolve"
)

// sampleChains are the flags that choose Chains of the samples, and say where their nodes are.
type sampleChains struct{ names, urls []string }

func (s *sampleChains) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.names, "chain", nil, "Chain of the samples (see: boardwalk samples); may be given several times")
	f.StringArrayVar(&s.urls, "rpc", nil, "URL of a node of that chain, CHAIN=URL beside several --chain; may be given several times; "+
		"BOARDWALK_RPC_CHAIN, as in BOARDWALK_RPC_BASE, is used for a chain without one, with spaces between several URLs")
}

// named is a value of --rpc that says which chain it is for. No URL is one: its scheme has a colon.
var named = regexp.MustCompile(`^([a-z0-9][-a-z0-9.]*)=(.*)$`)

// chosen checks the flags. Its errors never repeat a URL, which may have a key in it.
func (s *sampleChains) chosen() ([]files.SampleChain, error) {
	all, err := files.Samples()
	if err != nil {
		return nil, err
	}
	var out []files.SampleChain
	var errs []error
	for _, name := range s.names {
		if slices.ContainsFunc(out, func(c files.SampleChain) bool { return c.Name == name }) {
			continue
		}
		errs = append(errs, isSample(all.Chains, name))
		out = append(out, files.SampleChain{Name: name})
	}
	for i, value := range s.urls {
		errs = append(errs, assign(out, fmt.Sprintf("--rpc no. %d", i+1), value))
	}
	for i := range out {
		errs = append(errs, fromEnvironment(&out[i]))
	}
	return out, errors.Join(errs...)
}

// isSample refuses what no sample is called.
func isSample(all []files.Manifest[v1alpha1.Chain], name string) error {
	var known []string
	for _, c := range all {
		if c.Resource.Name == name {
			return nil
		}
		known = append(known, c.Resource.Name)
	}
	return fmt.Errorf("--chain %q: there is no such sample; there are %s. Other chains are declared in manifests of your own, given with -f",
		name, strings.Join(known, ", "))
}

// assign gives a value of --rpc to the chain that it is for.
func assign(chains []files.SampleChain, flag, value string) error {
	if m := named.FindStringSubmatch(value); m != nil {
		i := slices.IndexFunc(chains, func(c files.SampleChain) bool { return c.Name == m[1] })
		if i < 0 {
			return fmt.Errorf("%s is for a chain that no --chain names: give its --chain too, or leave it out", flag)
		}
		return addNode(&chains[i], flag, m[2])
	}
	switch len(chains) {
	case 0:
		return fmt.Errorf("%s has no --chain: say which chain's node it is, as in --chain base --rpc https://YOUR-NODE", flag)
	case 1:
		return addNode(&chains[0], flag, value)
	default:
		return fmt.Errorf("%s doesn't say which chain's node it is: beside several --chain write %s=URL, as in --rpc %s=https://YOUR-NODE",
			flag, chains[0].Name, chains[0].Name)
	}
}

func addNode(c *files.SampleChain, from, url string) error {
	switch {
	case strings.HasPrefix(url, "ws://"), strings.HasPrefix(url, "wss://"):
		return fmt.Errorf("%s is a WebSocket: give the node's http:// or https:// URL; new blocks are subscribed to at the same address", from)
	case !resolve.IsNodeURL(url):
		return fmt.Errorf("%s is no URL of a node: allowed is http:// or https:// with a host, without a user or password, as in https://YOUR-NODE", from)
	}
	c.URLs = append(c.URLs, url)
	return nil
}

// fromEnvironment takes the nodes of a chain without --rpc from its variable: that keeps their keys out of the process list.
func fromEnvironment(c *files.SampleChain) error {
	if len(c.URLs) > 0 {
		return nil
	}
	variable := "BOARDWALK_RPC_" + strings.ToUpper(strings.ReplaceAll(c.Name, "-", "_"))
	for url := range strings.FieldsSeq(os.Getenv(variable)) {
		if err := addNode(c, variable, url); err != nil {
			return err
		}
	}
	if len(c.URLs) == 0 {
		return fmt.Errorf("chain %s has no node: give its URL with --rpc, as in --chain %s --rpc https://YOUR-NODE, or in the variable %s",
			c.Name, c.Name, variable)
	}
	return nil
}
