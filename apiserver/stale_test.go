package apiserver_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// TestAHaltedChainIsNotLive halts one chain beside one that goes on: its figures say so everywhere, it gives no token
// that the other has too, and nothing of it is kept for good.
func TestAHaltedChainIsNotLive(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.SetState(t.Context(), l, store.ChainHalted, "test"); err != nil {
		t.Fatal(err)
	}
	c := start(t, st)
	majors := get[contract.Majors](t, c, "/api/majors")
	if majors.Stale {
		t.Error("the whole list is stale because one chain is")
	}
	for _, m := range majors.Majors {
		if known := m.Asset == "ETH"; known && m.Stale != (m.Chain == "base") {
			t.Errorf("%s of %s is stale: %v", m.Asset, m.Chain, m.Stale)
		}
	}
	if p := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints="+token+",base:"+token); p.Prices[token].Chain != "bsc" ||
		p.Prices[token].Stale || !p.Prices["base:"+token].Stale {
		t.Errorf("prices are %+v", p.Prices)
	}
	res, body := c.do(t, http.MethodGet, "/api/chart/"+token+"?tf=1m&chain=base&pair="+pairID+"&to=1000000", nil)
	if got := res.Header.Get("Cache-Control"); strings.Contains(got, "immutable") || !strings.Contains(string(body), `"stale":true`) {
		t.Errorf("a chart of the halted chain is cached by %q: %s", got, body)
	}
	if live := get[contract.MarketLive](t, c, "/api/market/live"); live.Stale || len(live.Tokens) != 1 || live.Tokens[0].Chain != "bsc" {
		t.Errorf("the live list is %+v", live)
	}
}

// TestSecondsOfTheLastDay asks for buckets below a minute, which are made of trades: they begin with the close before them,
// even inside a minute, are never kept for good, and don't pretend to know of trades that are not kept any more.
func TestSecondsOfTheLastDay(t *testing.T) {
	t.Parallel()
	c := start(t, seeded(t, "sqlite"))
	at := clock.Unix() - 2 - 120 // of the trade at 1.2
	chart := func(from, to int64) (contract.CandleSeries, string) {
		target := "/api/chart/" + token + "?tf=1s&chain=base&pair=" + pairID + "&from=" + strconv.FormatInt(from, 10) + "&to=" + strconv.FormatInt(to, 10)
		res, _ := c.do(t, http.MethodGet, target, nil)
		return get[contract.CandleSeries](t, c, target), res.Header.Get("Cache-Control")
	}
	if s, _ := chart(at+1, at+3); len(s.Candles) != 2 || s.Candles[0].C != 1.2 || !s.Candles[0].Fill {
		t.Errorf("the seconds after a trade are %+v; want its close", s.Candles)
	}
	if s, _ := chart(at-1, at+1); len(s.Candles) != 2 || s.Candles[0].C != 1.1 || s.Candles[1].C != 1.2 || s.Candles[1].N != 1 {
		t.Errorf("the seconds around a trade are %+v", s.Candles)
	}
	long := clock.Unix() - 3*86_400
	if s, cached := chart(long, long+60); len(s.Candles) != 0 || strings.Contains(cached, "immutable") || s.From != s.To {
		t.Errorf("three days ago there are %d candles from %d to %d, cached by %q", len(s.Candles), s.From, s.To, cached)
	}
	if _, cached := chart(at-60, at-30); strings.Contains(cached, "immutable") {
		t.Errorf("final seconds are cached by %q", cached)
	}
}

// TestSearchForgetsNothing asks for the price of a token that is about to be made, and searches it the moment that it is:
// that it wasn't there must not take it out of the index.
func TestSearchForgetsNothing(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	o := options(t, st)
	began := time.Now()
	o.Now = func() time.Time { return clock.Add(time.Since(began)) }
	c := startWith(t, o)
	l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	const fresh = "0x9900000000000000000000000000000000000099"
	get[contract.TokenPrices](t, c, "/api/market/token-prices?mints=base:"+fresh)
	h := market.Header{Number: 101, Hash: market.Hash{2}, Parent: market.Hash{1}, Time: clock.Unix() - 1}
	commit := &store.Commit{Last: h, Blocks: []market.Header{h}, Head: store.HeadStatus{Number: 101, Time: h.Time}}
	pool := market.Pool{
		ID: address(t, "0x9800000000000000000000000000000000000098"), Protocol: market.UniswapV2, Factory: address(t, native),
		Token0: address(t, fresh), Token1: address(t, weth), Base: address(t, fresh), Quote: address(t, weth), BaseIs0: true, Price: 0.5, Locked: 1,
	}
	commit.Changes.Pools = append(commit.Changes.Pools, set(pool.ID, pool))
	commit.Changes.Tokens = append(commit.Changes.Tokens, set(pool.Base, market.Token{Mint: pool.Base, Symbol: "FRESH", Pool: pool.ID, FirstBlock: 101}))
	if err := st.Commit(t.Context(), l, commit); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c.do(t, http.MethodGet, "/api/dexscreener/search?q=fresh", nil)
		time.Sleep(20 * time.Millisecond)
	}
	eventually(t, "it is found", func() bool {
		return len(get[contract.DexSearch](t, c, "/api/dexscreener/search?q=fresh").Pairs) == 1
	})
}
