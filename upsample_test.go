package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/cmd"
	"github.com/boardwalkhq/boardwalk/hack/provider/mainnet"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// command runs the binary's command until the test ends, and gives what it prints and how it ended.
func command(t *testing.T, args ...string) (printed *output, ended <-chan error) {
	t.Helper()
	printed = &output{}
	c := cmd.New(serve.Build{Commit: strings.Repeat("0", 40)})
	c.SetOut(printed)
	c.SetErr(printed)
	c.SetArgs(args)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		done <- c.ExecuteContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-finished
	})
	return printed, done
}

// TestUpOnASample goes from nothing to live prices in one command: a chain of the samples, on a stand-in of that mainnet's node, without a
// file. The node's URL has a key in it, which nothing may print.
func TestUpOnASample(t *testing.T) {
	t.Parallel()
	m, err := mainnet.Start(t.Context(), mainnet.Options{
		Samples: "config/samples", Chain: "base", Seed: 1, Txs: 10, Logs: 40, VolumeV2: 4, VolumeV3: 2, Before: 3, Past: 5, BlockTime: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	n, err := node.Start(t.Context(), m.Chain, node.Options{Profile: profiles.Profile{Client: "Geth"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	growing, stop := context.WithCancel(t.Context())
	grown := make(chan error, 1)
	go func() { grown <- m.Live(growing) }()
	t.Cleanup(func() {
		stop()
		if err := <-grown; err != nil {
			t.Error(err)
		}
	})
	const key = "k3y-of-the-node"
	checked, done := command(t, "check", "--chain", "base", "--rpc", n.URL()+"?key="+key)
	// The samples' venues are not on the stand-in.
	if err := <-done; err == nil || !strings.Contains(err.Error(), "1 can't be right") || strings.Count(checked.String(), "wrong: ") != 1 ||
		!strings.Contains(checked.String(), "wrong: contract of venue clanker 0xe85a59c628f7d27878aceb4bf3b35733630083a9: there is no contract") {
		t.Errorf("check: %v\n%s", err, checked)
	}
	checked, done = command(t, "check", "--chain", "bsc", "--rpc", n.URL())
	if err := <-done; err == nil || !strings.Contains(checked.String(), "its eth_chainId is 8453, and chain bsc is declared with chainID 56") {
		t.Errorf("check of another chain: %v\n%s", err, checked)
	}
	printed, ended := command(t, "up", "--chain", "base", "--rpc", n.URL()+"?key="+key, "--db", "sqlite:"+filepath.Join(t.TempDir(), "up.db"),
		"--listen", "127.0.0.1:0", "--operations", "127.0.0.1:0", "--draw-cards=false", "--log-level", "debug")
	r := &running{}
	for deadline := time.Now().Add(90 * time.Second); r.url == ""; time.Sleep(50 * time.Millisecond) {
		if _, url, ok := strings.Cut(printed.String(), "ready: "); ok && strings.Contains(url, "\n") {
			r.url, _, _ = strings.Cut(url, "\n")
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before it was ready: %v\n%s", err, printed)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not ready:\n%s", printed)
		}
	}
	var live contract.MarketLive
	for deadline := time.Now().Add(90 * time.Second); len(live.Tokens) == 0; time.Sleep(200 * time.Millisecond) {
		r.get(t, "/api/market/live?per_chain=50", &live)
		if time.Now().After(deadline) {
			t.Fatalf("no token has a price:\n%s", printed)
		}
	}
	for _, token := range live.Tokens {
		if token.Chain != "base" || *token.Price <= 0 {
			t.Errorf("%s of %s costs %v", token.Symbol, token.Chain, *token.Price)
		}
	}
	var status contract.LaunchStatus
	r.get(t, "/api/launch/status", &status)
	if chains := status.Chains; len(chains) != 1 || chains[0].Label != "Base" {
		t.Errorf("the chains are %+v", chains)
	}
	if text := printed.String(); strings.Count(text, "\nbase: ")+strings.Count(text, "wrong: ") < 3 || !strings.Contains(text, "base: that means: ") {
		t.Errorf("it didn't say what the node can do:\n%s", text)
	}
	if text := printed.String() + checked.String(); strings.Contains(text, key) || strings.Contains(text, strings.TrimPrefix(n.URL(), "http://")) {
		t.Errorf("it printed the node's URL:\n%s", text)
	}
}

// TestUpWithoutAChain: a command without anything to run says what to give.
func TestUpWithoutAChain(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"up"}, {"check"}, {"up", "--chain", "bass", "--rpc", "https://node.example"}} {
		_, ended := command(t, args...)
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "base") || !strings.Contains(err.Error(), "-f") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
