package cmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

// TestChosenChains gives the flags that choose chains of the samples. Not parallel: it sets variables.
func TestChosenChains(t *testing.T) {
	t.Setenv("BOARDWALK_RPC_BSC", " https://bsc.example/one  https://bsc.example/two")
	t.Setenv("BOARDWALK_RPC_POLYGON", "polygon.example/k3y-in-a-variable")
	const url, other = "https://node.example/v2/s3cret-k3y?a=b", "https://other.example"
	for name, c := range map[string]struct {
		given sampleChains
		want  []files.SampleChain
	}{
		"nothing":                       {},
		"one":                           {sampleChains{[]string{"base"}, []string{url}}, []files.SampleChain{{Name: "base", URLs: []string{url}}}},
		"one of Solana":                 {sampleChains{[]string{"solana"}, []string{url}}, []files.SampleChain{{Name: "solana", URLs: []string{url}}}},
		"one with two nodes":            {sampleChains{[]string{"base"}, []string{url, "base=" + other}}, []files.SampleChain{{Name: "base", URLs: []string{url, other}}}},
		"one twice":                     {sampleChains{[]string{"base", "base"}, []string{url}}, []files.SampleChain{{Name: "base", URLs: []string{url}}}},
		"the nodes of the environment":  {sampleChains{[]string{"bsc"}, nil}, []files.SampleChain{{Name: "bsc", URLs: []string{"https://bsc.example/one", "https://bsc.example/two"}}}},
		"a flag before the environment": {sampleChains{[]string{"bsc"}, []string{url}}, []files.SampleChain{{Name: "bsc", URLs: []string{url}}}},
		"several": {
			sampleChains{[]string{"base", "ethereum"}, []string{"ethereum=" + url, "base=" + other}},
			[]files.SampleChain{{Name: "base", URLs: []string{other}}, {Name: "ethereum", URLs: []string{url}}},
		},
	} {
		got, err := c.given.chosen()
		if err != nil || !slices.EqualFunc(got, c.want, func(a, b files.SampleChain) bool { return a.Name == b.Name && slices.Equal(a.URLs, b.URLs) }) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct {
		given sampleChains
		want  []string
	}{
		"an unknown chain":             {sampleChains{[]string{"bass"}, []string{url}}, []string{`--chain "bass"`, "there are solana, base, bsc, arbitrum, polygon, robinhood, ethereum, monad, hyperevm", "-f"}},
		"no node":                      {sampleChains{[]string{"base"}, nil}, []string{"chain base has no node", "--rpc https://YOUR-NODE", "BOARDWALK_RPC_BASE"}},
		"no chain":                     {sampleChains{nil, []string{url}}, []string{"--rpc no. 1 has no --chain", "--chain base"}},
		"whose node":                   {sampleChains{[]string{"base", "bsc"}, []string{"base=" + other, url}}, []string{"--rpc no. 2 doesn't say which chain's node it is", "--rpc base=https://YOUR-NODE"}},
		"another chain's node":         {sampleChains{[]string{"base"}, []string{url, "bsc=" + other}}, []string{"--rpc no. 2 is for a chain that no --chain names"}},
		"no URL":                       {sampleChains{[]string{"base"}, []string{"node.example/v2/s3cret-k3y"}}, []string{"--rpc no. 1 is no URL", "https://YOUR-NODE"}},
		"a password":                   {sampleChains{[]string{"base"}, []string{"https://me:s3cret-k3y@node.example"}}, []string{"without a user or password"}},
		"a WebSocket":                  {sampleChains{[]string{"base"}, []string{"wss://node.example/s3cret-k3y"}}, []string{"is a WebSocket", "https://"}},
		"no URL in the environment":    {sampleChains{[]string{"polygon"}, nil}, []string{"BOARDWALK_RPC_POLYGON is no URL"}},
		"two things wrong at one time": {sampleChains{[]string{"bass", "base"}, nil}, []string{`"bass"`, "chain base has no node"}},
	} {
		_, err := c.given.chosen()
		if err == nil {
			t.Errorf("%s: it is taken", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", name, err, want)
			}
		}
		if strings.Contains(err.Error(), "k3y") || strings.Contains(err.Error(), "node.example") {
			t.Errorf("%s: the URL is in the error: %v", name, err)
		}
	}
}

// TestSamplesCommand lists the samples and prints some.
func TestSamplesCommand(t *testing.T) {
	t.Parallel()
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := New(serve.Build{})
		c.SetOut(&out)
		c.SetArgs(append([]string{"samples"}, args...))
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	list, err := run()
	if err != nil || strings.Count(list, "\n") != 16 {
		t.Errorf("%d lines, %v:\n%s", strings.Count(list, "\n"), err, list)
	}
	words := strings.Join(strings.Fields(list), " ")
	for _, want := range []string{
		"solana Chain Solana, genesis hash 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d, a block every 400ms: pumpswap, meteora-damm-v2, raydium-cpmm, raydium-amm-v4 ",
		" pump-fun LaunchVenue pump.fun, protocol PumpFun, on solana ",
		" base Chain Base, chain id 8453, a block every 2s: uniswap-v2, ", " clanker LaunchVenue Clanker, protocol ClankerV4, on base, ",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not in\n%s", want, list)
		}
	}
	two, err := run("base", "clanker")
	if err != nil || !strings.HasPrefix(two, "# Base.\n") || !strings.Contains(two, "\n---\n") || strings.Count(two, "kind: ") != 2 {
		t.Errorf("%v:\n%s", err, two)
	}
	if nothing, err := run("base", "bass"); err == nil || nothing != "" || !strings.Contains(err.Error(), `"bass"`) {
		t.Errorf("%v:\n%s", err, nothing)
	}
}
