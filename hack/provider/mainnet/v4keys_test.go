package mainnet

import (
	"cmp"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/boardwalkhq/boardwalk/hack/provider/node"
	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// withoutKeys has nobody tell an index what V4 pools are: there is no position manager, and the node gives the logs of one block at a time, so that no pool's
// creation is found in the block of its first trade.
func (s *standIn) withoutKeys(t *testing.T) {
	t.Helper()
	n, err := node.Start(t.Context(), s.Chain, node.Options{Profile: profiles.Profile{
		Client: "Geth", Logs: profiles.LogLimits{Range: 1, TooWide: profiles.Refusal{Code: -32602, Message: "query exceeds max block range %[2]d"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	s.cfg.Endpoints = []chainconfig.Endpoint{{URL: n.URL(), Weight: 1}}
	s.cfg.Exchanges = slices.Clone(s.cfg.Exchanges)
	for i := range s.cfg.Exchanges {
		s.cfg.Exchanges[i].PositionManager = markettest.Address("")
	}
}

// plainV4Trades are the trades in V4 pools without a hook, from a block on.
func (s *standIn) plainV4Trades(t *testing.T, st *store.Store, first uint64) (trades []market.Trade) {
	t.Helper()
	for id, p := range poolsOf(t, s, st) {
		if p.Protocol != market.UniswapV4 || !p.Hooks.IsNone() {
			continue
		}
		list, err := st.Trades.Of(t.Context(), s.cfg.ID, id, 0, math.MaxInt64, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		trades = append(trades, slices.DeleteFunc(list, func(trade market.Trade) bool { return trade.Block < first })...)
	}
	slices.SortFunc(trades, func(a, b market.Trade) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.LogIndex, b.LogIndex))
	})
	return trades
}

// TestNoTradeOfAV4PoolIsLostThatNobodyTells follows a chain with reorgs and restarts. V4 pools without a hook are known by what their trades move: all of their trades are
// those of an index that saw the pools made, and of one that begins anew with the facts.
func TestNoTradeOfAV4PoolIsLostThatNobodyTells(t *testing.T) {
	t.Parallel()
	s := start(t, Options{Chain: "base", Txs: 4, Logs: 12, VolumeV2: 2, VolumeV3: 1, Past: 12, RealTxs: 25}, profiles.Profile{Client: "Geth"})
	s.cfg.Tracking.MinLiquidityUSD = 1000
	const began = 10
	l := s.later(t, s.Chain.Head().Number-s.Chain.Genesis()-began)
	l.withoutKeys(t)
	first := l.cfg.Start.Block
	st, stop := l.run(t)
	for i := range 24 {
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
	have, want := l.plainV4Trades(t, st, first), s.plainV4Trades(t, s.index(t), first)
	pools, known := map[market.Address]bool{}, poolsOf(t, l, st)
	for _, trade := range want {
		if pools[trade.Pool] = true; known[trade.Pool].CreatedBlock > 0 {
			t.Fatalf("the index saw pool %s made", trade.Pool)
		}
	}
	if len(pools) < 3 || len(want) < 10 {
		t.Errorf("%d trades in %d pools show little", len(want), len(pools))
	}
	if len(have) != len(want) {
		t.Fatalf("the index has %d trades, and one that saw the pools made %d", len(have), len(want))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
	for i, w := range want {
		h := have[i]
		if h.Key() != w.Key() || h.BaseAmount != w.BaseAmount || h.QuoteAmount != w.QuoteAmount || h.Sell != w.Sell || h.Time != w.Time || h.Trader != w.Trader ||
			!near(h.CloseUSD, w.CloseUSD) && !near(h.CloseNative, w.CloseNative) {
			t.Errorf("a trade is %+v; of an index that saw the pool made it is %+v", h, w)
		}
	}
	if again := l.plainV4Trades(t, l.anewWithFacts(t, st), first); !slices.Equal(have, again) {
		t.Errorf("the index that began with the facts has the trades\n%+v\nwant\n%+v", again, have)
	}
}

// anewWithFacts indexes the same blocks behind the same node, with the facts that an index kept.
func (s *standIn) anewWithFacts(t *testing.T, st *store.Store) *store.Store {
	t.Helper()
	facts, err := st.Facts.Between(t.Context(), s.cfg.ID, 0, s.Chain.Head().Number)
	if err != nil {
		t.Fatal(err)
	}
	again := *s
	again.database, again.metrics = filepath.Join(t.TempDir(), "anew.db"), prometheus.NewRegistry()
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
	return again.index(t)
}
