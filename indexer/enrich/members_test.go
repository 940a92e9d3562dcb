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

// receiptNode stands in for nodes that give receipts, and answers nothing else.
type receiptNode struct {
	chain.FactSource
	chain.SampleSource
	chain.PoolSource
	chain.PoolKeySource
	chain.ContractSource

	asked []market.TxID
}

func (n *receiptNode) Gas(_ context.Context, questions []chain.GasQuestion) ([]chain.Gas, error) {
	out := make([]chain.Gas, len(questions))
	for i, q := range questions {
		n.asked = append(n.asked, q.Tx)
		out[i] = chain.Gas{Known: true, Sender: at(byte(1))}
	}
	return out, nil
}

func at(n byte) market.Address { return market.EVMAddress([32]byte{12: 7, 31: n}) }

// trading has a block of so many transactions in which a member trades in a pool, and an enricher that has kept some facts of it.
func trading(t *testing.T, txs int, since int64, n *receiptNode, kept []store.StoredFact, givenUp bool) *enrichment {
	t.Helper()
	const dog, weth, pool, member = 2, 3, 4, 1
	m, err := derive.New(&chainconfig.Chain{
		ID: "test", Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: at(weth)}, Quotes: []chainconfig.Quote{{Symbol: "WETH", Address: at(weth)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := derive.NewState(market.Beginning{Watched: []market.WatchedWallet{{Wallet: at(member), Member: 1, Since: since}}})
	s.Put(market.Wanted{Pools: []market.Address{at(pool)}}, market.Rows{Pools: []market.Pool{{ID: at(pool), Base: at(dog), Quote: at(weth)}}})
	b := market.Block{Header: market.Header{Number: 9, Hash: market.Hash{9}, Time: 1_000}}
	one := market.Amount{1}
	for i := range txs {
		b.Txs = append(b.Txs, market.Tx{ID: market.EVMTx([32]byte{30: byte(i >> 8), 31: byte(i)}), Logs: []market.Log{{Index: uint64(i), Event: market.Swap{
			Pool: at(pool), Recipient: at(member), Amount0: market.SignedAmount{Abs: one}, Amount1: market.SignedAmount{Abs: one, Neg: true},
		}}}})
	}
	blocks := []market.Block{b}
	_ = m.MoreKeys(s, blocks, b.Header)
	e := New(Options{
		Config: &chainconfig.Chain{}, Nodes: n, Machine: m, Beat: func() {}, GivesUp: func(p budget.Purpose) bool { return givenUp && p == budget.Members },
		KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) {
			return map[uint64][]store.StoredFact{9: kept}, nil
		},
	})
	return &enrichment{Enricher: e, state: s, blocks: blocks}
}

// TestReceiptsPerBlock: receipts are asked for up to a bound, and by an index that is made anew for no others.
func TestReceiptsPerBlock(t *testing.T) {
	t.Parallel()
	first := &receiptNode{}
	e := trading(t, receiptsPerBlock+1, 0, first, nil, false)
	if err := e.members(t.Context()); err != nil || len(first.asked) != receiptsPerBlock || len(e.facts) != receiptsPerBlock {
		t.Fatalf("%d receipts are asked for, and %d facts kept, %v", len(first.asked), len(e.facts), err)
	}
	again := &receiptNode{}
	fresh := trading(t, receiptsPerBlock+1, 0, again, e.facts, false)
	if err := fresh.members(t.Context()); err != nil || len(again.asked) != 0 || len(fresh.facts) != receiptsPerBlock {
		t.Errorf("an index made anew asks for %d, and has %d facts, %v", len(again.asked), len(fresh.facts), err)
	}
}

// TestReceiptsOfWhatCounts: of trades before they count for a member no receipts are asked for.
func TestReceiptsOfWhatCounts(t *testing.T) {
	t.Parallel()
	for since, want := range map[int64]int{1_000: 1, 1_001: 0} {
		n := &receiptNode{}
		if err := trading(t, 1, since, n, nil, false).members(t.Context()); err != nil || len(n.asked) != want {
			t.Errorf("since %d: %d are asked for, %v", since, len(n.asked), err)
		}
	}
}

// TestGivenUpIsKept: what isn't asked since a day's requests run out is unknown for an index that is made anew, too.
func TestGivenUpIsKept(t *testing.T) {
	t.Parallel()
	n := &receiptNode{}
	e := trading(t, 1, 0, n, nil, true)
	if err := e.members(t.Context()); err != nil || len(n.asked) != 0 {
		t.Fatal(n.asked, err)
	}
	if !slices.ContainsFunc(e.facts, func(f store.StoredFact) bool {
		g, ok := f.Fact.(market.GasFact)
		return ok && !g.Known && g.Wallet == at(1)
	}) {
		t.Errorf("facts are %+v", e.facts)
	}
}

// TestBalancesBefore: what a wallet had its own transactions tell. A stranger may send something to another account of it, of which that one's contents alone are told.
func TestBalancesBefore(t *testing.T) {
	t.Parallel()
	const member, stranger, dog, cat = 1, 2, 3, 4
	change := func(token byte, before uint64) market.Log {
		return market.Log{Event: market.BalanceChange{
			Token: at(token), Owner: at(member), Change: market.SignedAmount{Abs: market.Amount{1}}, Before: market.Amount{before}, HasBefore: true,
		}}
	}
	b := market.Block{Txs: []market.Tx{
		{ID: market.EVMTx([32]byte{1}), Payer: at(stranger), Logs: []market.Log{change(dog, 0), change(cat, 0)}},
		{ID: market.EVMTx([32]byte{2}), Payer: at(member), Logs: []market.Log{change(dog, 7)}},
		{ID: market.EVMTx([32]byte{3}), Payer: at(member), Logs: []market.Log{change(dog, 8)}},
	}}
	e := &enrichment{blocks: []market.Block{b}}
	k := market.BalanceKey{Token: at(dog), Account: at(member)}
	got := e.balancesBefore(&b, []market.BalanceKey{k, {Token: at(cat), Account: at(member)}})
	if len(got) != 1 || got[k] != (market.Amount{7}) {
		t.Errorf("%v", got)
	}
	for i, tells := range []bool{false, true} {
		if got := e.tells(&derive.Touch{Wallet: at(member), Tx: b.Txs[i].ID}); got != tells {
			t.Errorf("transaction %d tells: %t", i, got)
		}
	}
}
