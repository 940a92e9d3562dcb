package derive_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func minimum(usd float64) func(*chainconfig.Chain) {
	return func(c *chainconfig.Chain) { c.Tracking.MinLiquidityUSD = usd }
}

// olderPool is a fact of a concentrated pool whose creation wasn't seen.
func olderPool(id, token0, token1 market.Address) market.Fact {
	return market.PoolFact{Pool: id, Known: true, Info: created(market.UniswapV3, v3, id, token0, token1)}
}

// liquidityOf is a fact of a pool's state at a price of one, with a liquidity around it that is worth as much in whole tokens on either side.
func liquidityOf(id market.Address, liquidity market.Amount) market.Fact {
	return market.PoolStateFact{
		Pool: id, SqrtPriceX96: sqrtPrice(0), Liquidity: liquidity, Ticks: string(market.TickMap{}.AddRange(-6000, 6000, in(liquidity)).Marshal()),
	}
}

// traded is a purchase of some of a concentrated pool's token0 for as much of token1, at a price near one.
func traded(id market.Address, n uint64, tick int32) []market.Event {
	return tradedIn(id, n, tick, e18(5_000))
}

func tradedIn(id market.Address, n uint64, tick int32, liquidity market.Amount) []market.Event {
	return tx(market.Swap{
		Pool: id, Sender: router, Recipient: alice, Amount0: out(e18(n)), Amount1: in(e18(n)), SqrtPriceX96: sqrtPrice(tick), Tick: tick, Liquidity: liquidity,
	})
}

// TestTradesWaitForTheLiquidity: the trades of a pool older than the index wait while its liquidity isn't known. In the end the rows are those of an
// index that knew it from the first trade on, but for what the pool was taken for meanwhile; or there is no trade, where it doesn't suffice.
func TestTradesWaitForTheLiquidity(t *testing.T) {
	t.Parallel()
	trade := func(b *bench, liquidity market.Amount, state ...market.Fact) {
		steps := []struct {
			seconds int64
			n       uint64
			tick    int32
		}{{30, 1, 0}, {12, 3, 600}, {61, 2, -600}, {400, 4, 0}, {12, 5, 600}}
		for i, s := range steps {
			var known []market.Fact
			if i == 0 {
				known = []market.Fact{olderPool(poolA, dog, weth)}
			}
			if i == 3 || i == 0 {
				known = append(known, state[:min(len(state), 1)]...)
				state = state[min(len(state), 1):]
			}
			b.next(s.seconds, slices.DeleteFunc(known, func(f market.Fact) bool { return f == nil }), tradedIn(poolA, s.n, s.tick, liquidity), tradedIn(poolA, s.n+1, s.tick, liquidity))
			b.idle(1, 5)
		}
	}
	early, late := stage(t, minimum(1000)), stage(t, minimum(1000))
	enough := liquidityOf(poolA, e18(5_000))
	trade(early, e18(5_000), enough)
	trade(late, e18(5_000), nil, enough)
	if len(early.db.trades) != 10 || len(late.db.waiting) != 0 {
		t.Fatalf("%d trades are kept with the state known, and %d wait in the end", len(early.db.trades), len(late.db.waiting))
	}
	early.db.tokens[dog], early.db.ticks[poolA] = late.db.tokens[dog], late.db.ticks[poolA] // the pool prices the token from the state on
	knownLate := early.db.pools[poolA]
	knownLate.CountsSince = late.db.pools[poolA].CountsSince // and counts for members from there on
	early.db.pools[poolA] = knownLate
	if d := early.db.differences(late.db); len(d) > 0 {
		t.Errorf("known early and late, the rows differ:\n%s", strings.Join(d, "\n"))
	}
	if first := late.db.trades[0]; !first.HasUSD || first.NanoUSD != 2000e9 || first.CloseUSD != 2000 || first.CloseNative != 1 {
		t.Errorf("the first trade is %+v", first)
	}

	scarce := stage(t, minimum(1000))
	trade(scarce, units(1, 17), nil, liquidityOf(poolA, units(1, 17)))
	if n := len(scarce.db.trades); n != 0 || len(scarce.db.waiting) != 0 {
		t.Errorf("with too little liquidity %d trades are kept, %d wait", n, len(scarce.db.waiting))
	}
	never := stage(t, minimum(1000))
	trade(never, e18(5_000))
	if n := len(never.db.waiting); n != 10 || len(never.db.trades) != 0 {
		t.Errorf("without a state %d trades wait of 10, %d are kept", n, len(never.db.trades))
	}
	all := stage(t, minimum(0))
	trade(all, e18(5_000))
	if n := len(all.db.waiting); n != 0 || len(all.db.trades) != 10 {
		t.Errorf("without a minimum %d trades wait, %d are kept of 10", n, len(all.db.trades))
	}
}

// TestWhoseTradesDontWait: whoever is known, or never will be, has no waiting trades.
func TestWhoseTradesDontWait(t *testing.T) {
	t.Parallel()
	hooked := market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: poolID(1), Token0: dog, Token1: weth, Hooks: badHook}
	for name, facts := range map[string][]market.Fact{
		"a hook that isn't declared": {market.PoolFact{Pool: hooked.Pool, Known: true, Info: hooked}},
		"a pool of reserves":         {market.PoolFact{Pool: hooked.Pool, Known: true, Info: created(market.UniswapV2, v2, hooked.Pool, dog, weth)}},
	} {
		b := stage(t, minimum(1e9))
		b.next(12, facts, traded(hooked.Pool, 1, 0))
		if len(b.db.waiting) != 0 {
			t.Errorf("%s: %d trades wait", name, len(b.db.waiting))
		}
	}
	b := newBench(t, minimum(1000)) // where WETH has no price
	b.next(12, append(facts(usdc, usdt, weth, dog), olderPool(poolA, dog, weth), liquidityOf(poolA, e18(5_000))), traded(poolA, 1, 0))
	if len(b.db.waiting) != 0 || len(b.db.trades) != 0 {
		t.Errorf("%d trades wait, and %d are kept, of a pool with a known liquidity and a quote without a price", len(b.db.waiting), len(b.db.trades))
	}
	b = stage(t, minimum(1e9))
	b.next(12, nil, tx(created(market.UniswapV3, v3, poolA, dog, weth), priced(poolA, 0)), traded(poolA, 1, 0))
	if len(b.db.waiting) != 0 {
		t.Errorf("%d trades of a pool wait that was seen made", len(b.db.waiting))
	}
}

// TestTradesWaitForTheQuote: where a pool's state is told before its quote has a price, the pool's trades wait on, the new ones too.
func TestTradesWaitForTheQuote(t *testing.T) {
	t.Parallel()
	b := newBench(t, minimum(1000))
	b.next(12, append(facts(usdc, usdt, weth, dog), olderPool(poolA, dog, weth)), traded(poolA, 1, 0))
	b.next(12, []market.Fact{liquidityOf(poolA, e18(5_000))}, traded(poolA, 2, 0))
	if len(b.db.waiting) != 2 || len(b.db.trades) != 0 {
		t.Fatalf("%d trades wait of 2, %d are kept", len(b.db.waiting), len(b.db.trades))
	}
	b.next(12, nil, tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000))))
	b.next(12, nil, traded(poolA, 3, 0))
	if len(b.db.waiting) != 0 || len(b.db.trades) != 3 {
		t.Fatalf("%d trades wait, %d are kept of 3", len(b.db.waiting), len(b.db.trades))
	}
	for i, has := range []bool{false, false, true} { // in USD as the quote was worth in the trade's block
		if got := b.db.trades[i]; got.HasUSD != has || (got.CloseUSD > 0) != has {
			t.Errorf("trade %d is %+v", i, got)
		}
	}
}

// TestWaitingTradesOfAPoolWithCandles: a pool whose ticks turn out false has candles already. Its waiting trades go into them, though the block that decides
// has no trade and nothing is cached.
func TestWaitingTradesOfAPoolWithCandles(t *testing.T) {
	t.Parallel()
	b := stage(t, minimum(1000))
	b.next(12, []market.Fact{olderPool(poolA, dog, weth), liquidityOf(poolA, e18(5_000))}, traded(poolA, 1, 0))
	b.next(1, nil, tx(market.RangeLiquidity{Pool: poolA, TickLower: -600, TickUpper: 600, Delta: out(e18(1_000_000))}))
	b.next(1, nil, traded(poolA, 2, 0))
	if len(b.db.trades) != 1 || len(b.db.waiting) != 1 {
		t.Fatalf("%d trades are kept, %d wait; want one each", len(b.db.trades), len(b.db.waiting))
	}
	b.restart(b.last)
	b.next(12, []market.Fact{liquidityOf(poolA, e18(5_000))})
	key := market.CandleKey{Pool: poolA, Interval: 60, Open: b.db.trades[0].Time - b.db.trades[0].Time%60}
	if c := b.db.candles[key]; len(b.db.trades) != 2 || c.Buys != 2 || c.VolumeBase != e18(3) || b.db.pools[poolA].Day.Buys != 2 {
		t.Errorf("%d trades are kept, and the minute is %+v", len(b.db.trades), c)
	}
}

// TestHowLongTradesWait: an hour of the chain's time, and no second longer.
func TestHowLongTradesWait(t *testing.T) {
	t.Parallel()
	for seconds, kept := range map[int64]int{3599: 2, 3600: 2, 3601: 1} {
		t.Run(strconv.FormatInt(seconds, 10), func(t *testing.T) {
			t.Parallel()
			b := stage(t, minimum(1000))
			b.next(12, []market.Fact{olderPool(poolA, dog, weth)}, traded(poolA, 1, 0))
			c := b.next(seconds, []market.Fact{liquidityOf(poolA, e18(5_000))}, traded(poolA, 2, 0))
			if len(b.db.trades) != kept || len(b.db.waiting) != 0 || c.Dropped != (market.DroppedTrades{Aged: 2 - kept}) {
				t.Errorf("%d trades are kept, want %d; %d wait, dropped are %+v", len(b.db.trades), kept, len(b.db.waiting), c.Dropped)
			}
		})
	}
	b := stage(t, minimum(1000))
	b.next(12, []market.Fact{olderPool(poolA, dog, weth)}, traded(poolA, 1, 0))
	if c := b.next(3601, nil); len(b.db.waiting) != 0 || c.Dropped.Aged != 1 {
		t.Errorf("a block without events leaves %d trades waiting", len(b.db.waiting))
	}
}

// TestHowManyTradesWait: of a pool the newest thousand, of a chain a hundred thousand.
func TestHowManyTradesWait(t *testing.T) {
	t.Parallel()
	const ofPool, ofChain = 1_000, 100_000
	b := stage(t, minimum(1000))
	many := func(id market.Address, n int) (list [][]market.Event) {
		for i := range n {
			list = append(list, traded(id, uint64(i+1), 0))
		}
		return list
	}
	b.next(12, []market.Fact{olderPool(crowd(0), dog, weth)}, many(crowd(0), ofPool)...)
	if len(b.db.waiting) != ofPool {
		t.Fatalf("%d trades wait", len(b.db.waiting))
	}
	c := b.next(12, nil, many(crowd(0), 2)...)
	if c.Dropped != (market.DroppedTrades{OfPool: 2}) || len(b.db.waiting) != ofPool {
		t.Errorf("%d trades wait, dropped are %+v", len(b.db.waiting), c.Dropped)
	}
	keys := func(n, want int) {
		t.Helper()
		b.next(0, nil, many(crowd(0), n)...)
		if got := b.state.WaitingKeys(); got != want {
			t.Errorf("%d keys are kept of %d trades that wait, want %d", got, b.state.Waiting(), want)
		}
	}
	keys(2*ofPool-2, 3*ofPool)
	keys(1, ofPool) // too many were of trades that don't wait any more
	for range 5 {
		b.next(0, nil, many(crowd(0), ofPool)...)
		if n := b.state.WaitingKeys(); n > 3*ofPool {
			t.Fatalf("%d keys are kept of %d trades that wait", n, b.state.Waiting())
		}
	}
	for i := 1; i < ofChain/ofPool; i++ {
		b.next(1, []market.Fact{olderPool(crowd(i), dog, weth)}, many(crowd(i), ofPool)...)
	}
	c = b.next(1, []market.Fact{olderPool(poolA, dog, weth)}, append(many(poolA, 3), many(crowd(1), 2)...)...)
	if c.Dropped != (market.DroppedTrades{OfPool: 2, OfChain: 3}) || len(b.db.waiting) != ofChain {
		t.Errorf("%d trades wait, dropped are %+v", len(b.db.waiting), c.Dropped)
	}
	b.restart(b.last)
	c = b.next(1, []market.Fact{liquidityOf(crowd(0), e18(5_000))})
	if len(c.Trades) != ofPool || c.Trades[0].BaseAmount != e18(1) || c.Trades[ofPool-1].BaseAmount != e18(ofPool) || b.state.Waiting() != ofChain-ofPool {
		t.Errorf("%d trades are kept, the first %+v; %d wait", len(c.Trades), c.Trades[0], b.state.Waiting())
	}
	if p := b.db.pools[crowd(0)]; p.Day.Buys != ofPool || p.LastTradeAt != genesis.Time+12+12+12 {
		t.Errorf("the pool is %+v", p)
	}
	if c = b.next(1, nil, traded(poolA, 1, 0)); c.Dropped != (market.DroppedTrades{}) || b.state.Waiting() != ofChain-ofPool+1 {
		t.Errorf("dropped are %+v, %d wait", c.Dropped, b.state.Waiting())
	}
	for range 3 { // the keys are cleaned, and those of trades that wait stay
		b.next(1, nil, many(crowd(1), ofPool)...)
	}
	if c = b.next(3601, nil); b.state.Waiting() != 0 || b.state.WaitingKeys() != 0 || c.Dropped.Aged != ofChain-ofPool+1 {
		t.Errorf("after an hour %d trades wait, with %d keys; dropped are %+v", b.state.Waiting(), b.state.WaitingKeys(), c.Dropped)
	}
}
