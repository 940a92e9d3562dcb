package enrich

import (
	"context"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
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
	event := func(number uint64, ev market.Event) market.Block {
		b := busy(number)
		b.Txs[0].Logs = []market.Log{{Event: ev}}
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
		known  bool // the token has a supply
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
		"the next block makes some":                {supply: hashed, blocks: []market.Block{event(11, market.Transfer{Token: token, To: at(3)}), busy(12)}},
		"the next block burns some":                {supply: hashed, blocks: []market.Block{event(11, market.Transfer{Token: token, From: at(3)}), busy(12)}},
		"the next block wraps some":                {supply: hashed, blocks: []market.Block{event(11, market.Wrap{Token: token, Account: at(3)}), busy(12)}},
		"the next block wraps another":             {supply: hashed, blocks: []market.Block{event(11, market.Wrap{Token: at(21), Account: at(3)})}, want: 11},
		"the next block moves some":                {supply: hashed, blocks: []market.Block{event(11, market.Transfer{Token: token, From: at(3), To: at(4)})}, want: 11},
		"the next block makes some of another":     {supply: hashed, blocks: []market.Block{event(11, market.Transfer{Token: at(21), To: at(3)})}, want: 11},
		"a later block makes some":                 {supply: hashed, blocks: []market.Block{empty(11), event(12, market.Transfer{Token: token, To: at(3)})}, want: 12},
		"a supply is known":                        {supply: hashed, known: true, blocks: []market.Block{busy(11)}},
		"without a hash, a supply is known":        {supply: bare, known: true, blocks: []market.Block{busy(11)}, want: 11},
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
				Load:      func(context.Context, market.Wanted) error { return nil },
			})
			state := derive.NewState(market.Beginning{})
			state.Put(market.Wanted{}, market.Rows{Tokens: []market.Token{{Mint: token, HasSupply: c.known}}})
			e.newestSupplies.list = []chain.SupplyAfter{c.supply}
			for _, blocks := range [][]market.Block{c.blocks[:1], c.blocks[1:]} { // in two batches
				if len(blocks) == 0 {
					continue
				}
				n := &enrichment{Enricher: e, state: state, blocks: slices.Clone(blocks), following: !c.past}
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

// TestASupplyToldTwice has two supplies of one token wait: the second one is none to hold the first against.
func TestASupplyToldTwice(t *testing.T) {
	t.Parallel()
	token := at(20)
	e := New(Options{
		Config: &chainconfig.Chain{}, Nodes: &mockKeys{}, Beat: func() {},
		KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) { return nil, nil },
		Load:      func(context.Context, market.Wanted) error { return nil },
	})
	hash := market.Hash{10}
	for supply := range uint64(2) {
		s := chain.SupplyAfter{SupplyFact: market.SupplyFact{Token: token}, After: 10 + supply, Hash: hash}
		s.Supply.SetUint64(supply)
		e.newestSupplies.list = append(e.newestSupplies.list, s)
	}
	var blocks []market.Block
	for number := range uint64(3) {
		blocks = append(blocks, market.Block{Header: market.Header{Number: 11 + number, Hash: hash, Parent: hash}, Txs: []market.Tx{{}}})
	}
	n := &enrichment{Enricher: e, state: derive.NewState(market.Beginning{}), blocks: blocks, following: true}
	if err := n.supplies(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(blocks[0].Facts) != 1 || len(n.facts) != 1 {
		t.Errorf("the facts are %v", n.facts)
	}
}

// mockSupplies stands in for nodes that tell the newest supplies alone, as it has them.
type mockSupplies struct {
	mockKeys

	list  []chain.SupplyAfter
	asked []market.Address
}

func (n *mockSupplies) TellsNewestSupplies() bool { return true }

func (n *mockSupplies) NewestSupplies(_ context.Context, _ uint64, tokens []market.Address) ([]chain.SupplyAfter, error) {
	n.asked = append(n.asked, tokens...)
	return n.list, nil
}

// TestHowFarAheadASupplyMayBe: a supply after a block that is far above the one in hand would wait for good, and is none.
func TestHowFarAheadASupplyMayBe(t *testing.T) {
	t.Parallel()
	for after, want := range map[uint64]int{100: 1, 99 + newestAhead: 1, 100 + newestAhead: 0, 1 << 40: 0} {
		nodes := &mockSupplies{list: []chain.SupplyAfter{{SupplyFact: market.SupplyFact{Token: at(20)}, After: after, Hash: market.Hash{1}}}}
		e := New(Options{Config: &chainconfig.Chain{}, Nodes: nodes, GivesUp: func(budget.Purpose) bool { return false }})
		n := &enrichment{Enricher: e, following: true}
		facts := []market.TokenFact{{Token: at(20), HasDecimals: true}, {Token: at(21)}, {Token: at(22), HasDecimals: true, HasSupply: true}}
		if err := n.askNewestSupplies(t.Context(), &market.Block{Header: market.Header{Number: 100}}, facts); err != nil {
			t.Fatal(err)
		}
		if got := len(e.newestSupplies.list); got != want {
			t.Errorf("after block %d: %d wait, want %d", after, got, want)
		}
		if !slices.Equal(nodes.asked, []market.Address{at(20)}) {
			t.Errorf("%v are asked", nodes.asked)
		}
	}
}

// TestSuppliesAreGivenUpWithSamples: where the day's calls run out, nobody is asked for the supplies of new tokens.
func TestSuppliesAreGivenUpWithSamples(t *testing.T) {
	t.Parallel()
	nodes := &mockSupplies{}
	e := New(Options{Config: &chainconfig.Chain{}, Nodes: nodes, GivesUp: func(p budget.Purpose) bool { return p == budget.Samples }})
	n := &enrichment{Enricher: e, following: true}
	if err := n.askNewestSupplies(t.Context(), &market.Block{}, []market.TokenFact{{Token: at(20), HasDecimals: true}}); err != nil || len(nodes.asked) > 0 {
		t.Errorf("%v are asked, %v", nodes.asked, err)
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
	if err := n.keptSamples(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(n.blocks[0].Facts) != 1 {
		t.Errorf("the block has the facts %v", n.blocks[0].Facts)
	}
}
