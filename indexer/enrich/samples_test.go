package enrich

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// mockSamples stands in for nodes that say the same supply of every token.
type mockSamples struct {
	mockKeys

	supply market.Amount
	doubts []chain.Doubt
}

func (n *mockSamples) TellsNewestSupplies() bool { return false }

func (n *mockSamples) Balances(context.Context, chain.Ref, []market.BalanceKey, func(market.Fact) bool) ([]market.BalanceFact, error) {
	return nil, nil
}

func (n *mockSamples) Supplies(_ context.Context, _ chain.Ref, tokens []market.Address, doubt func(market.SupplyFact) chain.Doubt) ([]market.SupplyFact, error) {
	for _, token := range tokens {
		n.doubts = append(n.doubts, doubt(market.SupplyFact{Token: token, Supply: n.supply}))
	}
	return nil, nil
}

// TestASampleIsHeldAgainstKeptSupplies: an index that is made anew holds what nodes say of a supply against the one that the index before kept of an earlier block of the same
// batch, and takes each kept fact in once.
func TestASampleIsHeldAgainstKeptSupplies(t *testing.T) {
	t.Parallel()
	token := at(20)
	for name, c := range map[string]struct {
		kept, told uint64
		want       chain.Doubt
	}{
		"the same":    {kept: 7, told: 7, want: chain.NoDoubt},
		"another one": {kept: 7, told: 8, want: chain.Contradicted},
	} {
		nodes := &mockSamples{supply: market.Amount{c.told}}
		config := &chainconfig.Chain{ID: "test", Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: at(3)}, Tracking: chainconfig.Tracking{Holders: chainconfig.HoldersAll}}
		m, err := derive.New(config)
		if err != nil {
			t.Fatal(err)
		}
		state := derive.NewState(market.Beginning{})
		state.Put(market.Wanted{}, market.Rows{Tokens: []market.Token{{Mint: token, HasDecimals: true}}})
		var blocks []market.Block
		for number := uint64(sampleBlocks - 1); number <= sampleBlocks; number++ {
			blocks = append(blocks, market.Block{
				Header: market.Header{Number: number, Hash: market.Hash{byte(number)}, Parent: market.Hash{byte(number - 1)}, Time: 1_000},
				Txs:    []market.Tx{{Logs: []market.Log{{Event: market.Transfer{Token: token, From: at(5), To: at(6), Amount: market.Amount{1}}}}}},
			})
		}
		kept := store.StoredFact{Block: blocks[0].Number, Hash: blocks[0].Hash, Fact: market.SupplyFact{Token: token, Supply: market.Amount{c.kept}}}
		e := New(Options{
			Config: config, Nodes: nodes, Machine: m, Beat: func() {}, GivesUp: func(budget.Purpose) bool { return false }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) {
				return map[uint64][]store.StoredFact{kept.Block: {kept}}, nil
			},
			Load: func(context.Context, market.Wanted) error { return nil },
		})
		facts, err := e.Enrich(t.Context(), Batch{State: state, Blocks: blocks, More: func() error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if len(nodes.doubts) != 1 || nodes.doubts[0] != c.want || len(facts) != 1 || facts[0] != kept {
			t.Errorf("%s: the doubts are %v, want %v; the facts are %v", name, nodes.doubts, c.want, facts)
		}
	}
}
