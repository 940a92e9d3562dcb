package enrich

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// mockKeys stands in for nodes that tell what V4 pools are: the position manager knows some of them, and there are no logs of the past.
type mockKeys struct {
	chain.FactSource
	chain.SampleSource
	chain.GasSource
	chain.PoolSource
	chain.PoolKeySource
	chain.ContractSource

	managed map[market.Address]market.PoolCreated
	// usual is the one pool that its tokens tell.
	usual market.PoolCreated
	asked []market.Address
}

func (n *mockKeys) KeysOfPools(_ context.Context, _ []chainconfig.Exchange, pools []market.Address) (known []market.PoolCreated, err error) {
	n.asked = append(n.asked, pools...)
	for _, p := range pools {
		if c, is := n.managed[p]; is {
			known = append(known, c)
		}
	}
	return known, nil
}

func (n *mockKeys) CreationsOfPools(context.Context, []chainconfig.Exchange, []market.Address, uint64) (created []market.PoolCreated, from uint64, err error) {
	return nil, 1, nil
}

func (n *mockKeys) UsualPools(_ []chainconfig.Exchange, pairs [][2]market.Address, fees ...uint32) []market.PoolCreated {
	if len(fees) == 0 && slices.Contains(pairs, [2]market.Address{n.usual.Token0, n.usual.Token1}) {
		return []market.PoolCreated{n.usual}
	}
	return nil
}

func (n *mockKeys) TellsNewestSupplies() bool { return false }

// TestWhichV4PoolsAreAskedAbout has five V4 pools trade in each of two blocks. One was seen made of tokens that aren't tracked: anybody can make such ones, and nobody is
// asked about it. One is told by the tokens that its trades move, one by the position manager, and one by nobody. The fifth was seen made of tracked tokens in the
// block. An index that begins anew with the kept facts has the same ones of the same blocks.
func TestWhichV4PoolsAreAskedAbout(t *testing.T) {
	t.Parallel()
	dog, cat, weth, manager := at(20), at(21), at(3), at(9)
	id := func(n byte) market.Address { return market.PoolID([32]byte{31: n}) }
	of := func(n byte, a, b market.Address) market.PoolCreated {
		return market.PoolCreated{Protocol: market.UniswapV4, Factory: manager, Pool: id(n), Token0: a, Token1: b}
	}
	untracked, usual, managed, untold, seen := of(1, dog, cat), of(2, dog, weth), of(3, cat, weth), of(4, cat, weth), of(5, cat, weth)
	cfg := &chainconfig.Chain{
		ID: "test", Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: weth}, Quotes: []chainconfig.Quote{{Symbol: "WETH", Address: weth}},
		Exchanges: []chainconfig.Exchange{{Name: "v4", Protocol: market.UniswapV4, Factory: manager}},
	}
	m, err := derive.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	trades := market.Tx{Logs: []market.Log{{Event: market.Transfer{Token: dog, From: manager, To: at(30)}}}}
	for _, p := range []market.PoolCreated{untracked, usual, managed, untold, seen} {
		trades.Logs = append(trades.Logs, market.Log{Event: market.Swap{Pool: p.Pool, Amount0: market.SignedAmount{Abs: market.Amount{1}}}})
	}
	run := func(kept []store.StoredFact) (told []store.StoredFact, asked []market.Address) {
		nodes := &mockKeys{managed: map[market.Address]market.PoolCreated{managed.Pool: managed, untracked.Pool: untracked}, usual: usual}
		e := New(Options{
			Config: cfg, Nodes: nodes, Machine: m, Beat: func() {}, SetAside: func(string, string, string) {}, Log: slog.New(slog.DiscardHandler),
			KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) {
				return map[uint64][]store.StoredFact{8: kept}, nil
			},
		})
		s := derive.NewState(market.Beginning{})
		for number := range uint64(2) {
			made := market.Tx{Logs: []market.Log{{Event: untracked}, {Event: seen}}}
			b := market.Block{Header: market.Header{Number: 8 + number, Hash: market.Hash{byte(8 + number)}}, Txs: []market.Tx{trades}}
			if number == 0 {
				b.Txs = []market.Tx{made, trades}
			}
			n := &enrichment{Enricher: e, state: s, blocks: []market.Block{b}}
			if err := n.pools(t.Context()); err != nil {
				t.Fatal(err)
			}
			told = append(told, n.facts...)
			s.Put(market.Wanted{}, market.Rows{Pools: []market.Pool{{ID: usual.Pool}, {ID: managed.Pool}, {ID: seen.Pool}}})
		}
		if !e.untracked[untracked.Pool] || len(e.untracked) != 1 || len(e.notPools) > 0 {
			t.Errorf("untracked are %v, and no pools %v", e.untracked, e.notPools)
		}
		return told, nodes.asked
	}
	told, asked := run(nil)
	if want := []market.Address{managed.Pool, untold.Pool}; !slices.Equal(asked, want) {
		t.Errorf("the position manager is asked about %v, want %v", asked, want)
	}
	var infos []market.PoolCreated
	for _, f := range told {
		if p, ok := f.Fact.(market.PoolFact); ok && f.Block == 8 {
			infos = append(infos, p.Info)
		}
	}
	if want := []market.PoolCreated{usual, managed}; !slices.Equal(infos, want) || len(told) != len(want) {
		t.Errorf("known in the first block are %v of %d, want %v", infos, len(told), want)
	}
	again, askedAgain := run(told)
	if !slices.Equal(again, told) || !slices.Equal(askedAgain, []market.Address{untold.Pool}) {
		t.Errorf("with the kept facts %v is asked about, and told is %v; before %v", askedAgain, again, told)
	}
}

// TestStrangersPoolsForgetNoOthers has more V4 pools than are remembered, made or told of, of tokens that aren't tracked: a contract that is no pool stays one.
func TestStrangersPoolsForgetNoOthers(t *testing.T) {
	t.Parallel()
	cfg := &chainconfig.Chain{
		ID: "test", Family: chainconfig.EVM, Quotes: []chainconfig.Quote{{Symbol: "WETH", Address: at(3)}},
		Exchanges: []chainconfig.Exchange{{Name: "v4", Protocol: market.UniswapV4, Factory: at(9)}},
	}
	m, err := derive.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := &enrichment{Enricher: New(Options{Config: cfg, Machine: m}), state: derive.NewState(market.Beginning{})}
	e.noteNotPool(at(50), notPool{asked: 1})
	strangers := func(n int) market.PoolCreated {
		return market.PoolCreated{
			Protocol: market.UniswapV4, Factory: at(9), Pool: market.PoolID([32]byte{29: byte(n >> 16), 30: byte(n >> 8), 31: byte(n)}), Token0: at(20), Token1: at(21),
		}
	}
	for n := range untrackedKept {
		e.noteMade(strangers(n))
	}
	last := strangers(untrackedKept)
	told := &market.Block{Header: market.Header{Number: 8}, Facts: []market.Fact{market.PoolFact{Pool: last.Pool, Known: true, Info: last}}}
	if len(e.untracked) != untrackedKept {
		t.Fatalf("%d pools are remembered", len(e.untracked))
	}
	e.rememberNotPools(told, map[market.Address]bool{})
	if _, is := e.notPools[at(50)]; !is || len(e.notPools) != 1 || len(e.untracked) != 1 || !e.untracked[last.Pool] {
		t.Errorf("no pools are %v, and %d pools are untracked", e.notPools, len(e.untracked))
	}
	e.Forget(told.Facts[0], true)
	if len(e.untracked) > 0 {
		t.Error("a pool of which a false fact told is untracked for good")
	}
}

// TestDroppedTradesCountOnceCommitted enriches blocks that trade in a pool of which nobody tells, and that aren't committed at first.
func TestDroppedTradesCountOnceCommitted(t *testing.T) {
	t.Parallel()
	cfg := &chainconfig.Chain{ID: "test", Family: chainconfig.EVM}
	m, err := derive.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	dropped := 0
	e := New(Options{
		Config: cfg, Nodes: &mockKeys{}, Machine: m, Beat: func() {}, Log: slog.New(slog.DiscardHandler),
		SetAside: func(kind, _, _ string) {
			if kind == "trade" {
				dropped++
			}
		},
	})
	one := market.Amount{1}
	swap := market.Swap{Pool: market.PoolID([32]byte{1}), Amount0: market.SignedAmount{Abs: one}, Amount1: market.SignedAmount{Abs: one, Neg: true}}
	trades := &market.Block{Header: market.Header{Number: 8}, Txs: []market.Tx{{Logs: []market.Log{{Event: swap}}}}}
	for range 2 {
		if _, err := e.Enrich(t.Context(), Batch{State: derive.NewState(market.Beginning{}), More: func() error { return nil }}); err != nil {
			t.Fatal(err)
		}
		if _, err := e.poolKeys.Known(t.Context(), []market.Address{swap.Pool}, trades); err != nil || dropped > 0 {
			t.Fatalf("before the commit %d trades are counted, %v", dropped, err)
		}
	}
	if e.Committed(); dropped != 1 {
		t.Errorf("%d trades are counted", dropped)
	}
}
