package preflight_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/solana/solanatest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func solanaChain(t *testing.T, urls ...string) *chainconfig.Chain {
	t.Helper()
	key := func(text string) market.Address {
		a, err := market.ParseSolanaAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	c := &chainconfig.Chain{
		ID: "solana", Family: chainconfig.Solana, GenesisHash: solanatest.Genesis, BlockTime: chainconfig.Duration(400 * time.Millisecond),
		Native:    chainconfig.Native{Symbol: "SOL", Wrapped: key(solanatest.WSOL)},
		Quotes:    []chainconfig.Quote{{Symbol: "USDC", Address: key(solanatest.USDC)}},
		Exchanges: []chainconfig.Exchange{{Name: "pumpswap", Protocol: market.PumpSwap, Factory: key(solanatest.PumpSwap)}},
		Venues:    []chainconfig.Venue{{ID: "pump-fun", Protocol: chainconfig.PumpFun, Contracts: []market.Address{key(solanatest.PumpFun)}}},
	}
	for _, u := range urls {
		c.Endpoints = append(c.Endpoints, chainconfig.Endpoint{URL: u, Weight: 1})
	}
	return c
}

// TestSolana checks nodes of Solana: what is declared, what they have, and what a day takes.
func TestSolana(t *testing.T) {
	t.Parallel()
	w := solanatest.NewWorld(1)
	w.Grow(20)
	good := solanatest.NewNode(t)
	good.Serve(w.Blocks)
	program := solanatest.Account{Owner: "BPFLoaderUpgradeab1e11111111111111111111111", Executable: true}
	good.SetAccount(solanatest.WSOL, solanatest.Mint(9, 0))
	good.SetAccount(solanatest.USDC, solanatest.Mint(6, 1))
	good.SetAccount(solanatest.PumpSwap, program)
	good.SetAccount(solanatest.PumpFun, program)
	r, out := written(t, solanaChain(t, good.URL))
	if r.CountWrong() != 0 {
		t.Errorf("%d are wrong:\n%s", r.CountWrong(), out)
	}
	for _, want := range []string{
		"genesis hash " + solanatest.Genesis + " is served by 1 of 1 endpoints", "4 of 4 declared addresses are as declared", "blocks from slot 100 on", "a day takes some 648000 requests",
		"has a newest block that is", "trades aren't simulated",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	more := solanaChain(t, good.URL)
	more.Tracking.Holders, more.Tracking.PastDays = chainconfig.HoldersDeclared, 90
	const noHolders, noLists = "doesn't tell who has a token: ", "doesn't list what an account did: "
	if _, out = written(t, more); strings.Contains(out, noHolders) || strings.Contains(out, noLists) || !strings.Contains(out, "the nodes keep some 0 days of blocks") {
		t.Error(out)
	}
	refuses := ""
	good.Lie(func(method string, _ []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if method == refuses {
			return nil, &solanatest.Refusal{Code: -32601, Message: "not in this plan"}
		}
		return result, nil
	})
	refuses = "getProgramAccounts"
	if _, out = written(t, more); !strings.Contains(out, noHolders) || strings.Contains(out, noLists) {
		t.Error(out)
	}
	refuses = "getSignaturesForAddress"
	if _, out = written(t, more); strings.Contains(out, noHolders) || !strings.Contains(out, noLists) {
		t.Error(out)
	}

	bad := solanatest.NewNode(t)
	bad.Serve(w.Blocks)
	bad.SetAccount(solanatest.WSOL, solanatest.Mint(9, 0))
	bad.SetAccount(solanatest.USDC, program)
	bad.SetAccount(solanatest.PumpSwap, solanatest.Account{Owner: solanatest.TokenProgram})
	bad.Lie(func(method string, params []json.RawMessage, result any) (any, *solanatest.Refusal) {
		if block, ok := result.(map[string]any); ok && method == "getBlock" && block["transactions"] != nil {
			return nil, &solanatest.Refusal{Code: -32015, Message: "Transaction version (2) is not supported"}
		}
		return result, nil
	})
	another := solanatest.NewNode(t)
	another.SetGenesis(solanatest.Name("another chain"))
	r, out = written(t, solanaChain(t, bad.URL, another.URL))
	if r.CountWrong() != 4 {
		t.Errorf("%d are wrong", r.CountWrong())
	}
	for _, want := range []string{
		"quote asset USDC " + solanatest.USDC + ": its account is no token's", "factory of pumpswap " + solanatest.PumpSwap + ": its account is no program",
		"account of venue pump-fun " + solanatest.PumpFun + ": no account is there", "doesn't give its newest block with its transactions",
		"declared with genesisHash " + solanatest.Genesis, "served by 1 of 2 endpoints", "1 of 4 declared addresses",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if _, out = written(t, solanaChain(t, another.URL)); !strings.Contains(out, "served by none of 1 endpoints") {
		t.Error(out)
	}
}
