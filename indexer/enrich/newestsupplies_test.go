package enrich

import (
	"context"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestBlockOfANewestSupply has a supply wait that was told after block 10. It is taken in with the first block after that, or, where the hash of block 10 is known,
// with the first one that has events, if the chain has that block 10.
func TestBlockOfANewestSupply(t *testing.T) {
	t.Parallel()
	hash := func(number uint64) market.Hash { return market.Hash{byte(number)} }
	other := market.Hash{31: 1}
	empty := func(number uint64) market.Block {
		return market.Block{Header: market.Header{Number: number, Hash: hash(number), Parent: hash(number - 1)}}
	}
	busy := func(number uint64) market.Block {
		b := empty(number)
		b.Txs = []market.Tx{{}}
		return b
	}
	forked := func(b market.Block) market.Block {
		if b.Number == 10 {
			b.Hash = other
		} else {
			b.Parent = other
		}
		return b
	}
	token := at(20)
	hashed, bare := chain.SupplyAfter{SupplyFact: market.SupplyFact{Token: token}, After: 10, Hash: hash(10)}, chain.SupplyAfter{SupplyFact: market.SupplyFact{Token: token}, After: 10}
	for name, c := range map[string]struct {
		supply chain.SupplyAfter
		past   bool
		blocks []market.Block
		// want is the block that takes the supply in, 0 for none; waits says that it goes on waiting.
		want  uint64
		waits bool
	}{
		"the next block": {supply: hashed, blocks: []market.Block{busy(10), busy(11)}, want: 11},
		"the next block is the first that is seen": {supply: hashed, blocks: []market.Block{busy(11)}, want: 11},
		"not its own block":                        {supply: hashed, blocks: []market.Block{busy(9), busy(10)}, waits: true},
		"not a block without events":               {supply: hashed, blocks: []market.Block{busy(10), empty(11), empty(12)}, waits: true},
		"the first block with events":              {supply: hashed, blocks: []market.Block{empty(10), empty(11), busy(12), busy(13)}, want: 12},
		"another block 10":                         {supply: hashed, blocks: []market.Block{forked(busy(10)), forked(busy(11)), busy(12)}},
		"a block 11 of another block 10":           {supply: hashed, blocks: []market.Block{forked(busy(11)), busy(12)}},
		"blocks of the past":                       {supply: hashed, past: true, blocks: []market.Block{busy(12)}},
		"without a hash":                           {supply: bare, blocks: []market.Block{busy(10), empty(11), busy(12)}, want: 11},
		"without a hash, of the past":              {supply: bare, past: true, blocks: []market.Block{empty(12)}, want: 12},
		"without a hash, not its own block":        {supply: bare, blocks: []market.Block{busy(10)}, waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := New(Options{
				Config: &chainconfig.Chain{}, Nodes: &mockKeys{}, Beat: func() {},
				KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) { return nil, nil },
			})
			e.newestSupplies.list = []chain.SupplyAfter{c.supply}
			for _, blocks := range [][]market.Block{c.blocks[:1], c.blocks[1:]} { // in two batches
				if len(blocks) == 0 {
					continue
				}
				n := &enrichment{Enricher: e, blocks: slices.Clone(blocks), following: !c.past}
				if err := n.supplies(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, b := range n.blocks {
					if taken := len(b.Facts) > 0; taken != (b.Number == c.want) {
						t.Errorf("block %d has %v", b.Number, b.Facts)
					}
				}
			}
			if waits := len(e.newestSupplies.list) > 0; waits != c.waits {
				t.Errorf("it waits: %v, want %v", waits, c.waits)
			}
		})
	}
}

// TestKeptSuppliesOfThePast: an index that begins with the kept facts takes a supply in with the block that had it, whatever its nodes tell.
func TestKeptSuppliesOfThePast(t *testing.T) {
	t.Parallel()
	b := market.Block{Header: market.Header{Number: 11, Hash: market.Hash{11}}, Txs: []market.Tx{{}}}
	fact := store.StoredFact{Block: b.Number, Hash: b.Hash, Fact: market.SupplyFact{Token: at(20)}}
	e := New(Options{
		Config: &chainconfig.Chain{}, Nodes: &mockKeys{}, Beat: func() {},
		KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) {
			return map[uint64][]store.StoredFact{b.Number: {fact}}, nil
		},
	})
	n := &enrichment{Enricher: e, blocks: []market.Block{b}}
	if err := n.supplies(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(n.blocks[0].Facts) != 1 {
		t.Errorf("the block has the facts %v", n.blocks[0].Facts)
	}
}
