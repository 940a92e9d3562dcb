package apiserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// blockTime is the time of a block after the world's own: two seconds after the one before.
func blockTime(number uint64) int64 { return chainTime + 2*int64(number-100) }

// seededPool is the pool of the world's token on base.
func seededPool(t *testing.T) market.Pool {
	t.Helper()
	return market.Pool{
		ID: address(t, pairID), Protocol: market.UniswapV2, Factory: address(t, native), Token0: address(t, token), Token1: address(t, weth),
		Base: address(t, token), Quote: address(t, weth), BaseIs0: true, Price: 0.001, Depth: 1, Locked: 100, LastTradeAt: chainTime,
		Day: market.Window{VolumeUSD: amount("123456789000000"), Buys: 3, Sells: 1, ReferenceUSD: 1.5},
	}
}

// seeBlock commits a block to both chains, on base with changes (nil has none), and waits until the server has seen it.
func seeBlock(t *testing.T, c *client, st *store.Store, watch *stopwatch, number uint64, change func(ch *market.Changes, at int64)) {
	t.Helper()
	at := blockTime(number)
	for _, chain := range []string{"bsc", "base"} {
		l, err := st.Leases.Acquire(t.Context(), chain, "test", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		h := market.Header{Number: number, Hash: market.Hash{byte(number)}, Parent: market.Hash{byte(number - 1)}, Time: at}
		commit := &store.Commit{
			Last: h, Blocks: []market.Header{h}, Head: store.HeadStatus{Number: number, Time: at, Safe: 90, Final: 80, FinalTime: at - 60},
		}
		if change != nil && chain == "base" {
			change(&commit.Changes, at)
		}
		if err := st.Commit(t.Context(), l, commit); err != nil {
			t.Fatal(err)
		}
	}
	watch.pass(2 * time.Second)
	eventually(t, fmt.Sprintf("block %d is seen", number), func() bool {
		return get[contract.Heartbeat](t, c, "/api/status/heartbeat").AsOf.Unix() == at
	})
}

// TestWhatDidNotChangeKeepsItsETag reads tokens and lists while blocks arrive in which nothing happens to them: as_of and blocks are
// those of the newest data in the body, so that a client that polls is told that it has everything. Then something changes: a
// pool, and after it the price of its quote.
func TestWhatDidNotChangeKeepsItsETag(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	still := good(1, "Still").with(func(c *coin) { c.buyers = 0 })
	old := good(2, "Older").with(func(c *coin) { c.buyers, c.ago = 0, 40*86_400 })
	mintCoins(t, st, "base", 101, still, good(3, "Otter"), old)
	o, watch := options(t, st), &stopwatch{now: clock}
	o.Now = watch.read
	c := startWith(t, o)
	const info, bareInfo, prices = "/api/token/info/" + token + "?chain=base", "/api/token/info/" + bare + "?chain=base",
		"/api/market/token-prices?mints=base:" + token
	targets := []string{
		info, bareInfo, prices, prices + ",bsc:" + token + "," + weth,
		"/api/token/" + token + "/candles?chain=base", "/api/chart/" + token + "?chain=base", "/api/chart/" + token + "?chain=base&tf=1m",
		"/api/chart/" + bare + "?chain=base", "/api/launch/token/" + still.mint(), "/api/launch/token/" + old.mint(),
		"/api/launch/launches", "/api/launch/launches?sort=new", "/api/market/live", "/api/majors", "/api/majors?chain=base&pair=ETH&tf=1h",
		"/api/dexscreener/search?q=" + token,
	}
	type tag struct{ etag, asOf string }
	read := func(target string) tag {
		res, _ := c.do(t, http.MethodGet, target, nil)
		return tag{res.Header.Get("ETag"), res.Header.Get("X-Data-As-Of")}
	}
	first := make(map[string]tag, len(targets))
	for _, target := range targets {
		first[target] = read(target)
	}
	// Not as long as it takes to the next ranking, which changes scores, nor to the next minute.
	for number := uint64(102); number <= 106; number++ {
		seeBlock(t, c, st, watch, number, nil)
	}
	for _, target := range targets {
		if got := read(target); got != first[target] {
			t.Errorf("%s: five blocks later it is %v, and nothing has changed; it was %v", target, got, first[target])
		}
	}
	changes := func(what string, number uint64, price float64) {
		t.Helper()
		i, p := get[contract.TokenInfo](t, c, info), get[contract.TokenPrices](t, c, prices)
		view := p.Prices["base:"+token]
		if !near(i.Price, price) || i.AsOf.Unix() != blockTime(number) || i.Blocks["base"].Number != int64(number) {
			t.Errorf("after %s at block %d the token is %v as of %s, blocks %v", what, number, *i.Price, i.AsOf, i.Blocks)
		}
		if !near(view.Price, price) || p.AsOf.Unix() != blockTime(number) || view.UpdatedAt.Unix() != blockTime(number) || *view.Block != int64(number) {
			t.Errorf("after %s at block %d its price is %+v, as of %s", what, number, view, p.AsOf)
		}
		if got := read(bareInfo); got != first[bareInfo] {
			t.Errorf("after %s the token without a pool is %v; it was %v", what, got, first[bareInfo])
		}
	}
	seeBlock(t, c, st, watch, 107, func(ch *market.Changes, at int64) {
		pool := seededPool(t)
		pool.Price, pool.LastTradeAt = 0.002, at
		ch.Pools = append(ch.Pools, set(pool.ID, pool))
	})
	changes("a trade", 107, 4)
	seeBlock(t, c, st, watch, 108, func(ch *market.Changes, _ int64) {
		ch.Quotes = append(ch.Quotes, set(address(t, weth), market.QuotePrice{Asset: address(t, weth), USD: 3000}))
	})
	changes("a move of its quote", 108, 6)
	watch.pass(time.Second)
	seeBlock(t, c, st, watch, 109, nil)
	changes("a move of its quote a block before", 108, 6)
}

// TestAClosedRangeHasTheSameBytesForEver reads charts of a past that is final while the chain goes on and the pool is traded.
func TestAClosedRangeHasTheSameBytesForEver(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	o, watch := options(t, st), &stopwatch{now: clock}
	o.Now = watch.read
	c := startWith(t, o)
	now := chainTime
	base := "/api/chart/" + token + "?chain=base&pair=" + pairID
	targets := []string{
		fmt.Sprintf("%s&tf=1h&from=%d&to=%d", base, now-90_000, now-80_000),                 // with the trade of a day ago
		fmt.Sprintf("%s&tf=1h&from=%d&to=%d&currency=native", base, now-90_000, now-80_000), // in the native coin
		fmt.Sprintf("%s&tf=1m&from=%d&to=%d", base, now-7200, now-3600),                     // without any trade
		fmt.Sprintf("%s&tf=1m&from=%d&to=%d&fill=false", base, now-7200, now-300),           // with one that is not filled
		fmt.Sprintf("%s&tf=15m&to=%d&limit=50", base, now-3600),                             // by its end alone
		base + "&tf=1m&to=1000000", // before the pool was there
	}
	first := make(map[string][]byte, len(targets))
	read := func(when string) {
		t.Helper()
		for _, target := range targets {
			res, body := c.do(t, http.MethodGet, target, nil)
			if !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %s is cached by %q", when, target, res.Header.Get("Cache-Control"))
			}
			if was, ok := first[target]; !ok {
				first[target] = body
			} else if !bytes.Equal(body, was) {
				t.Errorf("%s: %s begins %.110s, and began %.110s", when, target, body, was)
			}
			s := get[contract.CandleSeries](t, c, target)
			if asOf := s.AsOf.Unix(); asOf > s.To || asOf < s.To-int64(s.IntervalS) {
				t.Errorf("%s: %s is as of %d; want a time of its last bucket, which ends at %d", when, target, asOf, s.To)
			}
		}
	}
	read("at first")
	for number := uint64(101); number <= 103; number++ {
		seeBlock(t, c, st, watch, number, nil)
		read(fmt.Sprintf("at block %d", number))
	}
	seeBlock(t, c, st, watch, 104, func(ch *market.Changes, at int64) {
		pool := seededPool(t)
		pool.Price, pool.LastTradeAt = 0.002, at
		ch.Pools = append(ch.Pools, set(pool.ID, pool))
		key := market.CandleKey{Pool: pool.ID, Interval: 60, Open: at - at%60}
		ch.Candles = append(ch.Candles, set(key, market.Candle{CandleKey: key, USD: market.OHLC{Open: 4, High: 4, Low: 4, Close: 4}, Buys: 1, LastBlock: 104}))
	})
	read("after a trade")
}

// TestARangeThatMayGetTradesIsNotKept reads a chart of a past that is final, of a pool that is older than the index and whose liquidity isn't known: its
// trades may come in yet. Once its state is known the range is closed.
func TestARangeThatMayGetTradesIsNotKept(t *testing.T) {
	t.Parallel()
	st := seeded(t, "sqlite")
	o, watch := options(t, st), &stopwatch{now: clock}
	o.Now = watch.read
	c := startWith(t, o)
	target := "/api/chart/" + token + "?chain=base&pair=" + pairID + "&tf=1m&to=1000000"
	for i, untrusted := range []market.UntrustedReason{market.UntrustedTicks, market.UntrustedHook, market.Trusted} {
		seeBlock(t, c, st, watch, uint64(101+i), func(ch *market.Changes, _ int64) {
			pool := seededPool(t)
			pool.Protocol, pool.CreatedBlock, pool.CreatedAt, pool.Untrusted = market.UniswapV3, 0, 0, untrusted
			ch.Pools = append(ch.Pools, set(pool.ID, pool))
		})
		res, _ := c.do(t, http.MethodGet, target, nil)
		if kept := strings.Contains(res.Header.Get("Cache-Control"), "immutable"); kept != (untrusted != market.UntrustedTicks) {
			t.Errorf("untrusted %q: cached by %q", untrusted, res.Header.Get("Cache-Control"))
		}
	}
}
