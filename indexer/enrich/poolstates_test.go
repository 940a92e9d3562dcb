package enrich

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// mockStates stands in for nodes: it gives a pool's state before a block as the test has it, and answers nothing else.
type mockStates struct {
	chain.FactSource
	chain.SampleSource
	chain.GasSource
	chain.PoolSource
	chain.PoolKeySource
	chain.ContractSource

	// ticks are where the price is after a block; without an entry the state isn't known.
	ticks map[uint64]int32
	asked []uint64
	// purposes are those of the calls.
	purposes []budget.Purpose
}

func (n *mockStates) PoolStates(ctx context.Context, at chain.Ref, pools []market.PoolCreated) (states []chain.PoolState, gone bool, err error) {
	n.asked, n.purposes = append(n.asked, at.Number+1), append(n.purposes, rpc.PurposeOf(ctx))
	tick, known := n.ticks[at.Number]
	for _, p := range pools {
		states = append(states, chain.PoolState{Known: known, PoolStateFact: market.PoolStateFact{
			Pool: p.Pool, Tick: tick, SqrtPriceX96: market.Amount{1}, Window: market.TickWindow{Lower: tick - 1000, Upper: tick + 1000},
		}})
	}
	return states, false, nil
}

// machineOf derives a chain with one quote asset.
func machineOf(t *testing.T, weth market.Address) *derive.Machine {
	t.Helper()
	m, err := derive.New(&chainconfig.Chain{
		ID: "test", Family: chainconfig.EVM, Native: chainconfig.Native{Wrapped: weth}, Quotes: []chainconfig.Quote{{Symbol: "WETH", Address: weth}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// enricherOf makes an enricher with the facts that an earlier index kept. All rows have to be in the state.
func enricherOf(m *derive.Machine, nodes *mockStates, kept []store.StoredFact) *Enricher {
	return New(Options{
		Config: &chainconfig.Chain{}, Nodes: nodes, Machine: m, Beat: func() {}, Load: func(context.Context, market.Wanted) error { return nil },
		GivesUp: func(budget.Purpose) bool { return false },
		KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) {
			out := map[uint64][]store.StoredFact{}
			for _, f := range kept {
				out[f.Block] = append(out[f.Block], f)
			}
			return out, nil
		},
	})
}

// TestWindowsAreAskedAnew follows pools of which a window of the ticks is known, in one batch, in batches of one block, and as an index that begins anew
// with the kept facts: they ask before the same blocks, and take the same facts in.
func TestWindowsAreAskedAnew(t *testing.T) {
	t.Parallel()
	const pool, dog, weth = 4, 2, 3
	window := market.TickWindow{Lower: -1000, Upper: 1000}
	windowed := market.Pool{Window: window}
	for name, c := range map[string]struct {
		pool market.Pool
		// swaps are where the trades of the blocks from 1 on leave the price; a block without any has a trade of another pool, and nil is a block without events.
		swaps [][]int32
		// unknown are the blocks after which the state can't be had; want are those before which the pool is asked.
		unknown, want []uint64
	}{
		"it stays within":                            {windowed, [][]int32{{100}, {700}, {-700}, {0}}, nil, nil},
		"it comes near an end":                       {windowed, [][]int32{{701}, {}, {800}, {800}}, nil, []uint64{3}},
		"it leaves":                                  {windowed, [][]int32{{1500}, {1600}, {1600}}, nil, []uint64{2}},
		"it leaves and comes back in its block":      {windowed, [][]int32{{1500, 0}, {100}}, nil, nil},
		"it leaves and comes back in the next block": {windowed, [][]int32{{1500}, {0}, {100}}, nil, []uint64{2, 3}},
		"it leaves one window after the other":       {windowed, [][]int32{{1500}, {3500}, {3600}, {9000}, {9100}}, nil, []uint64{2, 3, 5}},
		"it was seen made":                           {market.Pool{Window: window, CreatedBlock: 7}, [][]int32{{1500}, {1600}, {1600}}, nil, []uint64{2}},
		"nothing was known of it":                    {market.Pool{Untrusted: market.UntrustedTicks}, [][]int32{{0}, {100}, {900}, {900}}, nil, []uint64{1, 4}},
		"all of it is known":                         {market.Pool{}, [][]int32{{5000}, {-5000}}, nil, nil},
		"it has a hook that isn't declared":          {market.Pool{Window: window, Untrusted: market.UntrustedHook}, [][]int32{{5000}, {5000}}, nil, nil},
		"asked in vain near the end, then it leaves": {windowed, [][]int32{{750}, {760}, {750}, {900}, {900}, {900}}, []uint64{1}, []uint64{2, 5}},
		"asked in vain once it left":                 {windowed, [][]int32{{1500}, {1500}, {1500}}, []uint64{1}, []uint64{2}},
		"it leaves, and nobody trades in it":         {windowed, [][]int32{{1500}, {}, {}}, nil, []uint64{2}},
		"it leaves, and nothing happens":             {windowed, [][]int32{{1500}, nil, {}, nil}, nil, []uint64{3}},
		"it leaves again and again": {
			windowed,
			[][]int32{{1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}, {1500}, {0}},
			nil,
			[]uint64{2, 3, 5, 8, 13},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machineOf(t, at(weth))
			c.pool.ID, c.pool.Base, c.pool.Quote, c.pool.Protocol, c.pool.TickSpacing = at(pool), at(dog), at(weth), market.UniswapV3, 1
			nodes := &mockStates{ticks: map[uint64]int32{0: 0}}
			var blocks []market.Block
			for i, ticks := range c.swaps {
				b := market.Block{Header: market.Header{Number: uint64(i + 1), Hash: market.Hash{byte(i + 1)}, Time: int64(1000 + i)}}
				nodes.ticks[b.Number] = nodes.ticks[b.Number-1]
				if ticks != nil && len(ticks) == 0 {
					b.Txs = []market.Tx{{ID: market.EVMTx([32]byte{byte(i), 99}), Logs: []market.Log{{Event: market.Swap{Pool: at(5)}}}}}
				}
				for k, tick := range ticks {
					swap := market.Swap{Pool: at(pool), Tick: tick, SqrtPriceX96: market.Amount{1}}
					b.Txs = append(b.Txs, market.Tx{ID: market.EVMTx([32]byte{byte(i), byte(k)}), Logs: []market.Log{{Event: swap}}})
					nodes.ticks[b.Number] = tick
				}
				blocks = append(blocks, b)
			}
			for _, n := range c.unknown {
				delete(nodes.ticks, n)
			}
			run := func(length int, kept []store.StoredFact) (facts []string, stored []store.StoredFact, asked []uint64) {
				nodes.asked = nil
				s := derive.NewState(market.Beginning{})
				s.Put(market.Wanted{Pools: []market.Address{at(pool), at(5)}}, market.Rows{Pools: []market.Pool{c.pool}})
				s.Put(market.Wanted{PoolsOf: []market.Address{at(dog)}, Tokens: []market.Address{at(dog), at(weth)}, Launches: []market.Address{at(dog)}}, market.Rows{})
				e := enricherOf(m, nodes, kept)
				for list := range slices.Chunk(blocks, length) {
					list = slices.Clone(list)
					for i := range list {
						list[i].Facts = nil
					}
					n := &enrichment{Enricher: e, state: s, blocks: list}
					if err := n.poolStates(t.Context()); err != nil {
						t.Fatal(err)
					}
					for _, f := range n.facts {
						if f, ok := f.Fact.(market.PoolStateFact); ok {
							facts = append(facts, fmt.Sprint(f.Tick, f.Window))
						}
					}
					stored = append(stored, n.facts...)
					if err := m.Apply(s, list, list[len(list)-1].Header); err != nil {
						t.Fatal(err)
					}
					_ = s.Flush(100)
				}
				return facts, stored, nodes.asked
			}
			facts, stored, asked := run(len(blocks), nil)
			if !slices.Equal(asked, c.want) {
				t.Errorf("it is asked before the blocks %v, want %v", asked, c.want)
			}
			one, _, askedByOne := run(1, nil)
			if !slices.Equal(asked, askedByOne) || !slices.Equal(facts, one) {
				t.Errorf("block by block it is asked before %v and told %v; at once %v and %v", askedByOne, one, asked, facts)
			}
			if len(c.unknown) > 0 {
				return
			}
			again, _, askedAgain := run(1, stored)
			if len(askedAgain) > 0 || strings.Join(again, "\n") != strings.Join(facts, "\n") {
				t.Errorf("with the kept facts it is asked before %v and told %v; before %v", askedAgain, again, facts)
			}
		})
	}
}

// TestAKeptStateOfAnUnknownPool has an earlier index's state of a pool that this index doesn't know, as when the pool's quote isn't declared any more, and a trade
// out of that state's window.
func TestAKeptStateOfAnUnknownPool(t *testing.T) {
	t.Parallel()
	swap := func(tick int32) []market.Tx {
		return []market.Tx{{Logs: []market.Log{{Event: market.Swap{Pool: at(4), Tick: tick, SqrtPriceX96: market.Amount{1}}}}}}
	}
	blocks := []market.Block{
		{Header: market.Header{Number: 1}, Txs: swap(5000), Facts: []market.Fact{market.PoolStateFact{Pool: at(4), Window: market.TickWindow{Lower: -1000, Upper: 1000}}}},
		{Header: market.Header{Number: 2}, Txs: swap(5000)},
	}
	s := derive.NewState(market.Beginning{})
	s.Put(market.Wanted{Pools: []market.Address{at(4)}}, market.Rows{})
	nodes := &mockStates{}
	e := New(Options{
		Config: &chainconfig.Chain{}, Nodes: nodes, Beat: func() {},
		KeptFacts: func(context.Context, uint64, uint64) (map[uint64][]store.StoredFact, error) { return nil, nil },
	})
	n := &enrichment{Enricher: e, state: s, blocks: blocks}
	if err := n.poolStates(t.Context()); err != nil || len(nodes.asked) > 0 {
		t.Errorf("it is asked before the blocks %v, %v", nodes.asked, err)
	}
}

// TestNinePoolsAtOnce has nine pools without a state trade in each block: eight are asked before the first, and the ninth before the next. An index that begins anew with
// the kept facts asks none, though eight of them leave it room for the ninth. A batch that is enriched a second time, as after a commit that failed, asks
// as it did before.
func TestNinePoolsAtOnce(t *testing.T) {
	t.Parallel()
	const weth = 3
	m := machineOf(t, at(weth))
	nodes := &mockStates{ticks: map[uint64]int32{0: 0, 1: 0, 2: 1500, 3: 1500}}
	run := func(kept []store.StoredFact, twice bool) (stored []store.StoredFact, asked int) {
		var blocks []market.Block
		var pools []market.Pool
		var ids []market.Address
		for n := range byte(9) {
			p := market.Pool{ID: at(10 + n), Base: at(30 + n), Quote: at(weth), Protocol: market.UniswapV3, TickSpacing: 1, Untrusted: market.UntrustedTicks}
			pools, ids = append(pools, p), append(ids, p.ID)
		}
		for n := range uint64(3) {
			b := market.Block{Header: market.Header{Number: n + 1, Hash: market.Hash{byte(n + 1)}, Time: int64(1000 + n)}}
			for _, id := range ids {
				b.Txs = append(b.Txs, market.Tx{Logs: []market.Log{{Event: market.Swap{Pool: id, Tick: nodes.ticks[n+1], SqrtPriceX96: market.Amount{1}}}}})
			}
			blocks = append(blocks, b)
		}
		s := derive.NewState(market.Beginning{})
		s.Put(market.Wanted{Pools: ids}, market.Rows{Pools: pools})
		for i := range pools {
			s.Put(market.Wanted{PoolsOf: []market.Address{pools[i].Base}, Tokens: []market.Address{pools[i].Base, at(weth)}, Launches: []market.Address{pools[i].Base}}, market.Rows{})
		}
		e := enricherOf(m, nodes, kept)
		nodes.asked = nil
		for i := range blocks {
			list := blocks[i : i+1]
			n := &enrichment{Enricher: e, state: s, blocks: list}
			if err := n.poolStates(t.Context()); err != nil {
				t.Fatal(err)
			}
			if twice {
				list[0].Facts = nil
				n = &enrichment{Enricher: e, state: s, blocks: list}
				if err := n.poolStates(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			stored = append(stored, n.facts...)
			if err := m.Apply(s, list, list[0].Header); err != nil {
				t.Fatal(err)
			}
			_ = s.Flush(100)
		}
		return stored, len(nodes.asked)
	}
	told := func(facts []store.StoredFact) string {
		var lines []string
		for _, f := range facts {
			s, _ := f.Fact.(market.PoolStateFact)
			lines = append(lines, fmt.Sprint(f.Block, s.Pool, s.Tick, s.Window))
		}
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	stored, asked := run(nil, false)
	if len(stored) != 8+1+8 || asked != 3 {
		t.Fatalf("asked %d times it was told\n%s", asked, told(stored))
	}
	if again, asked := run(stored, false); asked != 0 || told(again) != told(stored) {
		t.Errorf("with the kept facts it asks %d times and takes\n%s\nwant\n%s", asked, told(again), told(stored))
	}
	if again, _ := run(nil, true); told(again) != told(stored) {
		t.Errorf("enriched twice it is told\n%s\nwant\n%s", told(again), told(stored))
	}
}

// PoolsOf finds no pools of quotes.
func (n *mockStates) PoolsOf(ctx context.Context, at chain.Ref, _ []chainconfig.Exchange, _ [][2]market.Address) ([]market.Address, bool, error) {
	n.asked, n.purposes = append(n.asked, at.Number+1), append(n.purposes, rpc.PurposeOf(ctx))
	return nil, false, nil
}

func (n *mockStates) PoolFacts(context.Context, chain.Ref, []chainconfig.Exchange, []market.Address, func(market.PoolFact) bool) ([]market.PoolFact, []bool, error) {
	return nil, nil, nil
}

func (n *mockStates) UsualPools([]chainconfig.Exchange, [][2]market.Address, ...uint32) []market.PoolCreated {
	return nil
}

// TestStatesThatAreGivenUpAreAskedLater has a pool without a state, and one that left its window, trade in each block, while states are given up before the first ones. Each is
// asked once they are taken up again and its pause is over. In an index that is made anew the calls count as that index's.
func TestStatesThatAreGivenUpAreAskedLater(t *testing.T) {
	t.Parallel()
	const pool, windowed, weth, taken = 4, 5, 3, 40
	for purpose, want := range map[budget.Purpose]budget.Purpose{budget.Blocks: budget.PoolStates, budget.Reindexing: budget.Reindexing} {
		m := machineOf(t, at(weth))
		nodes := &mockStates{ticks: map[uint64]int32{stateGonePause: 0, stateGonePause + 1: 0}}
		s := derive.NewState(market.Beginning{})
		s.Put(market.Wanted{Pools: []market.Address{at(pool), at(windowed)}}, market.Rows{Pools: []market.Pool{
			{ID: at(pool), Base: at(2), Quote: at(weth), Protocol: market.UniswapV3, TickSpacing: 1, Untrusted: market.UntrustedTicks},
			{ID: at(windowed), Base: at(2), Quote: at(weth), Protocol: market.UniswapV3, TickSpacing: 1, Window: market.TickWindow{Lower: -1000, Upper: 1000}},
		}})
		e := enricherOf(m, nodes, nil)
		number := uint64(0)
		e.GivesUp = func(p budget.Purpose) bool { return p == budget.PoolStates && number < taken }
		for number = 1; number < stateGonePause+9; number++ {
			b := market.Block{Header: market.Header{Number: number, Hash: market.Hash{byte(number)}}}
			for _, id := range []market.Address{at(pool), at(windowed)} {
				b.Txs = append(b.Txs, market.Tx{Logs: []market.Log{{Event: market.Swap{Pool: id, Tick: 1500, SqrtPriceX96: market.Amount{1}}}}})
			}
			n := &enrichment{Enricher: e, state: s, blocks: []market.Block{b}, following: true}
			if err := n.poolStates(rpc.For(t.Context(), purpose)); err != nil {
				t.Fatal(err)
			}
		}
		// The pool without a state is given up before block 1. The other leaves its window in block 1, and is given up before block 2.
		if first, second := uint64(1+stateGonePause), uint64(2+stateGonePause); len(nodes.asked) < 2 || nodes.asked[0] != first || nodes.asked[1] != second || nodes.purposes[0] != want {
			t.Errorf("nodes are asked before the blocks %v, want %d and %d first, for %v, want %s", nodes.asked, first, second, nodes.purposes, want)
		}
	}
}

// TestQuotesArePricedWhileStatesAreGivenUp has a quote without a price: its pools are looked for, although other pools' states are given up.
func TestQuotesArePricedWhileStatesAreGivenUp(t *testing.T) {
	t.Parallel()
	cfg := &chainconfig.Chain{
		ID: "test", Family: chainconfig.EVM, Start: chainconfig.Start{Now: true}, Native: chainconfig.Native{Wrapped: at(3)},
		Quotes: []chainconfig.Quote{{Symbol: "USDC", Address: at(4), PegUSD: 1}, {Symbol: "WETH", Address: at(3)}},
	}
	m, err := derive.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	nodes := &mockStates{}
	e := enricherOf(m, nodes, nil)
	e.Config = cfg
	e.GivesUp = func(p budget.Purpose) bool { return p == budget.PoolStates }
	for number := uint64(1); number < 1+firstQuotePause; number++ {
		n := &enrichment{Enricher: e, state: derive.NewState(market.Beginning{}), blocks: []market.Block{{Header: market.Header{Number: number}}}}
		if err := n.quotePools(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(nodes.asked, []uint64{1}) || !slices.Equal(nodes.purposes, []budget.Purpose{budget.PoolStates}) {
		t.Errorf("nodes are asked before the blocks %v for %v", nodes.asked, nodes.purposes)
	}
}

// TestNewestStatesWaitForABlockWithEvents has nodes tell the newest states of two pools after block 1. Blocks without events follow, which a fresh index that is given the facts
// doesn't read: the state of the pool that the index knew is a fact of the first block with events. That of a pool which the index found itself, and which a quote needs for
// its price, doesn't wait. A block whose parent is another one has no use for either.
func TestNewestStatesWaitForABlockWithEvents(t *testing.T) {
	t.Parallel()
	const known, found, weth = 4, 5, 3
	type link struct{ number, hash, parent byte }
	for name, c := range map[string]struct {
		blocks               []link // the last one has events
		wantKnown, wantFound []uint64
	}{
		"none is empty":                {[]link{{2, 2, 1}}, []uint64{2}, []uint64{2}},
		"one is empty":                 {[]link{{2, 2, 1}, {3, 3, 2}}, []uint64{3}, []uint64{2}},
		"three are empty":              {[]link{{2, 2, 1}, {3, 3, 2}, {4, 4, 3}, {5, 5, 4}}, []uint64{5}, []uint64{2}},
		"one is taken up twice":        {[]link{{2, 2, 1}, {2, 2, 1}, {3, 3, 2}}, []uint64{3}, []uint64{2, 2}},
		"one is taken back":            {[]link{{2, 2, 1}, {3, 3, 2}, {3, 30, 2}}, nil, []uint64{2}},
		"the first has another parent": {[]link{{2, 20, 10}, {3, 30, 20}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enricherOf(machineOf(t, at(weth)), &mockStates{}, nil)
			for _, pool := range []byte{known, found} {
				e.newestStates.keep(newestState{
					after: chain.Ref{Number: 1, Hash: market.Hash{1}}, isNew: pool == found,
					pool:  market.PoolCreated{Pool: at(pool), Protocol: market.UniswapV3, Token0: at(2), Token1: at(weth), TickSpacing: 1},
					state: chain.PoolState{Known: true, PoolStateFact: market.PoolStateFact{Pool: at(pool)}},
				})
			}
			has := map[market.Address][]uint64{}
			for i, l := range c.blocks {
				b := market.Block{Header: market.Header{Number: uint64(l.number), Hash: market.Hash{l.hash}, Parent: market.Hash{l.parent}}}
				if i == len(c.blocks)-1 {
					b.Txs = []market.Tx{{Logs: []market.Log{{Event: market.Swap{Pool: at(9)}}}}}
				}
				s := derive.NewState(market.Beginning{})
				s.Put(market.Wanted{Pools: []market.Address{at(known), at(found)}}, market.Rows{Pools: []market.Pool{
					{ID: at(known), Base: at(2), Quote: at(weth), Protocol: market.UniswapV3, TickSpacing: 1, Untrusted: market.UntrustedTicks},
				}})
				n := &enrichment{Enricher: e, state: s, blocks: []market.Block{b}, following: true}
				if err := n.takeAllStates(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, f := range n.facts {
					if state, ok := f.Fact.(market.PoolStateFact); ok {
						has[state.Pool] = append(has[state.Pool], f.Block)
					}
				}
			}
			if got := has[at(known)]; !slices.Equal(got, c.wantKnown) {
				t.Errorf("the known pool's state is a fact of the blocks %v, want %v", got, c.wantKnown)
			}
			if got := has[at(found)]; !slices.Equal(got, c.wantFound) {
				t.Errorf("the found pool's state is a fact of the blocks %v, want %v", got, c.wantFound)
			}
		})
	}
}
