package mainnet

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/differ"
	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// reach is how deep reorgs are that an index here can take back.
const reach = 8

// behind is the same stand-in with an index of its own that begins near the head, behind nodes of the named profiles. Of these the limits of state and of
// logs count here: not how much is asked in a minute, or how long an answer takes.
func (s *standIn) behind(t *testing.T, names ...string) *standIn {
	t.Helper()
	cfg := *s.cfg
	cfg.Start, cfg.ReorgBlocks, cfg.Endpoints = chainconfig.Start{Now: true}, reach, nil
	for _, name := range names {
		p, err := profiles.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Rate, p.Latency = profiles.Rate{}, profiles.Latency{}
		n, err := node.Start(t.Context(), s.Chain, node.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		cfg.Endpoints = append(cfg.Endpoints, chainconfig.Endpoint{URL: n.URL(), Weight: 1})
	}
	out := *s
	out.cfg, out.database, out.metrics = &cfg, filepath.Join(t.TempDir(), "behind.db"), prometheus.NewRegistry()
	return &out
}

// unpriced counts the declared quotes without a price.
func (s *standIn) unpriced(t *testing.T, st *store.Store) int {
	t.Helper()
	quotes, err := st.Pools.Quotes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := len(s.cfg.Quotes)
	for _, q := range quotes[s.cfg.ID] {
		if q.USD > 0 {
			left--
		}
	}
	return left
}

// TestQuotesBehindNodesOfTheNewestState begins an index at the head of a chain in which nobody trades any more, behind nodes that have the
// newest state alone: those that say so, those that answer a question about an older block with it, and both. All liquidity is older than the
// index.
func TestQuotesBehindNodesOfTheNewestState(t *testing.T) {
	t.Parallel()
	const within = 20
	s := start(t, Options{Chain: "hyperevm", Past: 20, RealTxs: 12}, profiles.Profile{Client: "Geth"})
	early := poolsOf(t, s, s.index(t))
	for range 2 * reach {
		if _, err := s.Chain.Extend(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for name, behind := range map[string][]string{
		"says so":           {"hyperevm"},
		"doesn't say so":    {"hyperevm-public"},
		"two that say so":   {"hyperevm", "hyperevm"},
		"one of each":       {"hyperevm", "hyperevm-public"},
		"one of each, plus": {"hyperevm-public", "hyperevm", "hyperevm-public"},
	} {
		t.Run(name, func(t *testing.T) {
			l := s.behind(t, behind...)
			st, stop := l.run(t)
			l.await(t, st)
			blocks := 0
			for ; blocks < within && l.unpriced(t, st) > 0; blocks++ {
				if _, err := s.Chain.Extend(time.Now()); err != nil {
					t.Fatal(err)
				}
				l.await(t, st)
			}
			stop()
			t.Logf("all quotes have a price after %d blocks", blocks)
			if left := l.unpriced(t, st); left > 0 {
				t.Errorf("%d of %d quotes have no price after %d blocks", left, len(l.cfg.Quotes), within)
			}
			if of := holdPools(t, early, poolsOf(t, l, st)); of[market.UniswapV3] == 0 {
				t.Errorf("the pools are %v: the comparison shows little", of)
			}
		})
	}
}

// TestPoolsBehindNodesOfTheNewestState does the same with a chain whose traders go on, and that has reorgs, and ends and starts the indexer meanwhile. Every
// pool that has a price in the end has the one that an index has that saw the pool made, and all of its trades, those of before its state was known
// too; and an index of the same blocks that is given the facts has the same rows.
func TestPoolsBehindNodesOfTheNewestState(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"hyperevm", "hyperevm-public"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{Chain: "hyperevm", Txs: 30, Logs: 120, VolumeV2: 12, VolumeV3: 6, Past: 40, RealTxs: 12}, profiles.Profile{Client: "Geth"})
			s.cfg.Tracking.MinLiquidityUSD = 1000
			l, first := s.behind(t, profile), s.Chain.Head().Number-reach+1
			st, stop := l.run(t)
			for i := range 40 {
				l.await(t, st)
				if i%5 == 1 {
					stop()
					if err := st.Close(); err != nil {
						t.Fatal(err)
					}
					l.metrics = prometheus.NewRegistry()
					st, stop = l.run(t)
				}
				if i%4 == 3 {
					if err := s.Chain.Reorg(1 + i%3); err != nil {
						t.Fatal(err)
					}
				}
				if err := s.advance(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Chain.Extend(time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			l.await(t, st)
			stop()
			late := poolsOf(t, l, st)
			trusted := map[market.Protocol]int{}
			for id, p := range late {
				if p.Untrusted == market.UntrustedTicks {
					delete(late, id) // its state isn't known yet, so that it has no price
					continue
				}
				trusted[p.Protocol]++
			}
			saw := s.index(t)
			l.leaveOutUnwritten(t, saw, st, late)
			if holdPools(t, poolsOf(t, s, saw), late); trusted[market.UniswapV3] < 3 {
				t.Errorf("the comparison shows little: trusted are %v", trusted)
			}
			l.holdTrades(t, saw, st, late, first)
			l.holdSupplies(t, saw, st, late)
			l.compareReplay(t, st, profile, first)
		})
	}
}

// leaveOutUnwritten takes the pools away whose newest trade is in the block after which their state was told: of pools with made-up trades the
// stand-in has that state only once real transactions come after it.
func (s *standIn) leaveOutUnwritten(t *testing.T, saw, st *store.Store, pools map[market.Address]market.Pool) {
	t.Helper()
	facts, err := st.Facts.Between(t.Context(), s.cfg.ID, 0, s.Chain.Head().Number)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		state, ok := f.Fact.(market.PoolStateFact)
		if !ok || s.Chain.Block(f.Block) == nil || [32]byte(s.Chain.Block(f.Block).Hash) != [32]byte(f.Hash) {
			continue
		}
		trades, err := saw.Trades.Of(t.Context(), s.cfg.ID, state.Pool, 0, math.MaxInt64, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(trades); n > 0 && trades[n-1].Block == f.Block-1 {
			delete(pools, state.Pool)
		}
	}
}

// holdTrades holds the trades of pools whose state was told against those of an index that saw the pools made, and wants some that are older than the
// state. Of prices one has to be the same, in USD or in the native coin: another pool may have priced that coin in an index that knew all pools.
func (s *standIn) holdTrades(t *testing.T, saw, st *store.Store, pools map[market.Address]market.Pool, first uint64) {
	t.Helper()
	facts, err := st.Facts.Between(t.Context(), s.cfg.ID, 0, s.Chain.Head().Number)
	if err != nil {
		t.Fatal(err)
	}
	told := map[market.Address]uint64{}
	for _, f := range facts {
		if state, ok := f.Fact.(market.PoolStateFact); ok && told[state.Pool] == 0 {
			told[state.Pool] = f.Block
		}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
	waited := 0
	for id, p := range pools {
		if told[id] == 0 || !p.Protocol.Concentrated() {
			continue
		}
		all, err0 := saw.Trades.Of(t.Context(), s.cfg.ID, id, 0, math.MaxInt64, 1<<20)
		have, err1 := st.Trades.Of(t.Context(), s.cfg.ID, id, 0, math.MaxInt64, 1<<20)
		if err := errors.Join(err0, err1); err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(trade market.Trade) bool { return trade.Block < first })
		if len(all) != len(have) {
			t.Errorf("%s pool %s, whose state of block %d was told, has %d trades of %d", p.Protocol, id, told[id], len(have), len(all))
			continue
		}
		for i, want := range all {
			got := have[i]
			if got.Block < told[id] {
				waited++
			}
			if got.Key() != want.Key() || got.BaseAmount != want.BaseAmount || got.QuoteAmount != want.QuoteAmount || got.Sell != want.Sell || got.Time != want.Time ||
				!near(got.CloseUSD, want.CloseUSD) && !near(got.CloseNative, want.CloseNative) {
				t.Errorf("a trade of pool %s is %+v; of an index that saw the pool made it is %+v", id, got, want)
			}
		}
	}
	if t.Logf("%d trades are older than their pools' states", waited); waited == 0 {
		t.Error("the comparison shows little")
	}
}

// rebasing is the symbol of the token of hack/simnet/world that changes its supply without a transfer: it depends on when it was asked for.
const rebasing = "BREATH"

// holdSupplies wants the supply of each token that one of the pools prices, and that it is the one that an index has that knows it, too. The wrapped coin may have none: somebody
// wraps or unwraps some in nearly every block, so that it can't be told of which block an answer is.
func (s *standIn) holdSupplies(t *testing.T, saw, st *store.Store, pools map[market.Address]market.Pool) {
	t.Helper()
	var mints []market.Address
	for _, p := range pools {
		mints = append(mints, p.Base)
	}
	all, err0 := saw.Tokens.Now(t.Context(), mints)
	have, err1 := st.Tokens.Now(t.Context(), mints)
	if err := errors.Join(err0, err1); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i := range have {
		got := &have[i]
		if !got.HasSupply {
			if got.Mint != s.cfg.Native.Wrapped {
				t.Errorf("the token %s (%s) has no supply", got.Mint, got.Symbol)
			}
			continue
		}
		if k := slices.IndexFunc(all, func(o store.TokenNow) bool { return o.Mint == got.Mint && o.HasSupply }); k >= 0 && got.Symbol != rebasing {
			if compared++; all[k].Supply != got.Supply {
				t.Errorf("the token %s (%s) has a supply of %s; of an index that had the states it is %s", got.Mint, got.Symbol, got.Supply.Dec(), all[k].Supply.Dec())
			}
		}
	}
	if compared == 0 {
		t.Error("no supply was compared")
	}
}

// compareReplay holds the rows against those of an index of the same blocks that begins with the facts, behind a node of the same kind: it has none
// of the states any more. An index behind an archive node would know a pool's state from its first trade on, a block earlier or more.
func (s *standIn) compareReplay(t *testing.T, st *store.Store, profile string, first uint64) {
	t.Helper()
	facts, err := st.Facts.Between(t.Context(), s.cfg.ID, 0, s.Chain.Head().Number)
	if err != nil {
		t.Fatal(err)
	}
	again := s.behind(t, profile)
	again.cfg.Start = chainconfig.Start{Block: first}
	fresh, err := store.Open(t.Context(), "sqlite:"+again.database)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := fresh.Leases.Acquire(t.Context(), s.cfg.ID, "facts", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fresh.Inspect.KeepFacts(t.Context(), lease, facts), fresh.Leases.Release(t.Context(), lease), fresh.Close()); err != nil {
		t.Fatal(err)
	}
	want, err := st.Inspect.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	have, err := again.index(t).Inspect.Derived(t.Context(), s.cfg.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ.Tables(have, want) {
		t.Errorf("the index that began with the facts differs: %s", d)
	}
}
