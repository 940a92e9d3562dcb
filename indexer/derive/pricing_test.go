package derive_test

import (
	"math"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

func (b *bench) wantUSD(token market.Address, want float64) {
	b.t.Helper()
	if got := b.usd(token); !near(got, want) {
		b.t.Errorf("block %d: the price is %v USD, want %v", b.last.Number, got, want)
	}
}

func (b *bench) wantReference(token, pool market.Address) {
	b.t.Helper()
	if got := b.db.tokens[token].Pool; got != pool {
		b.t.Errorf("block %d: the reference is %s, want %s", b.last.Number, got, pool)
	}
}

// positioned is liquidity around tick, from lower to upper, in a V3 pool.
func positioned(pool market.Address, lower, upper int32, liquidity market.Amount) market.Event {
	return market.RangeLiquidity{Pool: pool, TickLower: lower, TickUpper: upper, Delta: in(liquidity)}
}

func priced(pool market.Address, tick int32) market.Event {
	return market.PoolPriced{Pool: pool, SqrtPriceX96: sqrtPrice(tick), Tick: tick}
}

func TestTradeValue(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(10))))
	block := b.next(30, nil, tx(
		moved(weth, alice, poolA, e18(2)), moved(dog, poolA, alice, e18(160)), synced(poolA, e18(840), e18(12)),
		swapped(poolA, out(e18(160)), in(e18(2)), router, alice),
	))
	if len(block.Trades) != 1 {
		t.Fatalf("%d trades, want 1", len(block.Trades))
	}
	got := block.Trades[0]
	price := 12.0 / 840
	want := market.Trade{
		Block: b.last.Number, LogIndex: 3, Time: b.last.Time, Tx: b.blocks[len(b.blocks)-1].Txs[0].ID, Pool: poolA, Base: dog,
		Trader: alice, BaseAmount: e18(160), QuoteAmount: e18(2), NanoUSD: 4000e9, HasUSD: true,
		CloseUSD: got.CloseUSD, CloseNative: got.CloseNative,
	}
	if got != want || !near(got.CloseUSD, price*2000) || !near(got.CloseNative, price) {
		t.Errorf("got  %+v\nwant %+v, at %v USD", got, want, price*2000)
	}
	p := b.db.pools[poolA]
	if p.FeePips != 3000 || p.CreatedBlock != b.last.Number-1 || p.LastTradeAt != b.last.Time || !near(p.Locked, 24) ||
		!near(p.Depth, 12*(1-math.Sqrt(0.98))) {
		t.Errorf("the pool is %+v", p)
	}
	for _, interval := range market.StoredIntervals {
		k := market.CandleKey{Pool: poolA, Interval: interval, Open: b.last.Time - b.last.Time%int64(interval)}
		c := b.db.candles[k]
		o := market.OHLC{Open: got.CloseUSD, High: got.CloseUSD, Low: got.CloseUSD, Close: got.CloseUSD}
		if c.USD != o || c.Native.Close != got.CloseNative || c.VolumeUSD != raw(4000e9) || c.VolumeQuote != e18(2) ||
			c.VolumeBase != e18(160) || c.Buys != 1 || c.Sells != 0 || c.LastBlock != b.last.Number {
			t.Errorf("the candle of %d s is %+v", interval, c)
		}
	}
	if len(b.db.candles) != len(market.StoredIntervals) {
		t.Errorf("%d candles, want %d", len(b.db.candles), len(market.StoredIntervals))
	}
}

// What moved one side alone, or both the same way, is no trade.
func TestNoTrade(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(10))))
	none := market.SignedAmount{}
	b.next(12, nil, tx(
		swapped(poolA, in(e18(1)), none, router, alice), swapped(poolA, none, out(e18(1)), router, alice),
		swapped(poolA, in(e18(1)), in(e18(1)), router, alice), swapped(poolA, none, none, router, alice),
		swapped(poolB, in(e18(1)), out(e18(1)), router, alice), // a pool that nobody knows
	))
	if len(b.db.trades) != 0 {
		t.Errorf("trades %+v, want none", b.db.trades)
	}
}

// A quote asset is worth what its new reference pool says from the block on in which it becomes that, whether the block touches the
// quote's pools, other pools, or nothing.
func TestTheReferenceOfAQuoteChangesOnTime(t *testing.T) {
	t.Parallel()
	elsewhere := tx(swapped(poolA, out(e18(1)), in(units(1, 16)), router, alice))
	for name, last := range map[string][]market.Event{
		"a swap in the new pool": tx(swapped(poolC, in(e18(1)), out(e6(3000)), router, alice)),
		"a swap elsewhere":       elsewhere,
		"nothing":                nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := stage(t)
			b.next(12, nil, tx(
				pair(poolA, dog, weth), synced(poolA, e18(1000), e18(10)),
				pair(poolC, weth, usdc), synced(poolC, e18(20_000), e6(60_000_000)),
			))
			b.idle(8, 12)
			b.next(12, nil, elsewhere)
			if got := b.db.quotes[weth].USD; got != 2000 {
				t.Fatalf("WETH is at %v USD before, want 2000", got)
			}
			if last == nil {
				b.idle(1, 12)
			} else {
				b.next(12, nil, last)
				if got := b.lastTrade(); got.Pool == poolA && !near(got.CloseUSD, 0.01*3000) {
					t.Errorf("a trade is valued at %v USD, want 30", got.CloseUSD)
				}
			}
			b.wantReference(weth, poolC)
			if got := b.db.quotes[weth].USD; got != 3000 {
				t.Errorf("WETH is at %v USD, want 3000", got)
			}
		})
	}
}

// Uniswap V4 has pools of the native coin and its wrapped form. One is the other, and no trade of it says anything.
func TestAPoolOfTheNativeCoinAndItsWrappedFormIsNotTracked(t *testing.T) {
	t.Parallel()
	b := stage(t)
	pool := market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: poolID(1), Token0: market.Native, Token1: weth, SqrtPriceX96: sqrtPrice(0)}
	b.next(12, nil, tx(pool, positioned(poolID(1), -100, 100, e18(1000)), market.Swap{
		Pool: poolID(1), Sender: router, Recipient: router, Amount0: in(e18(1)), Amount1: out(e18(1)), SqrtPriceX96: sqrtPrice(0), Liquidity: e18(1000),
	}))
	if p, ok := b.db.pools[poolID(1)]; ok || len(b.db.trades) != 0 {
		t.Errorf("the pool is %+v, with the trades %+v", p, b.db.trades)
	}
	b.wantReference(weth, poolD)
}

func TestMinimumLiquidity(t *testing.T) {
	t.Parallel()
	b := stage(t, func(c *chainconfig.Chain) { c.Tracking.MinLiquidityUSD = 1000 })
	trade := swapped(poolA, out(raw(1000)), in(raw(1000)), router, alice)
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(499), e6(499)), trade))
	if len(b.db.trades) != 0 || len(b.db.candles) != 0 {
		t.Errorf("a pool of 998 USD has %d trades and %d candles", len(b.db.trades), len(b.db.candles))
	}
	b.next(12, nil, tx(synced(poolA, e18(500), e6(500)), trade))
	if len(b.db.trades) != 1 {
		t.Errorf("a pool of 1,000 USD has %d trades, want 1", len(b.db.trades))
	}
}

// A pump and dump inside one block shows in the volume and nowhere else.
func TestFlashPump(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(10))))
	small := swapped(poolA, out(e18(1)), in(units(1, 16)), router, alice)
	b.next(12, nil, tx(small))
	before := b.usd(dog)
	b.next(12, nil,
		tx(synced(poolA, e18(100), e18(100)), swapped(poolA, out(e18(900)), in(e18(90)), router, solver)),
		tx(synced(poolA, e18(99), e18(101)), swapped(poolA, out(e18(1)), in(e18(1)), router, alice)),
		tx(synced(poolA, e18(1000), e18(10)), swapped(poolA, in(e18(901)), out(e18(91)), router, solver)),
	)
	b.wantUSD(dog, before)
	for k, c := range b.db.candles {
		if c.USD.High != before || c.USD.Low != before || c.Native.High != 0.01 || c.Native.Low != 0.01 {
			t.Errorf("candle %v: %+v and %+v, want %v throughout", k, c.USD, c.Native, before)
		}
	}
	for _, trade := range b.db.trades {
		if trade.CloseUSD != before {
			t.Errorf("a trade closes at %v, want %v", trade.CloseUSD, before)
		}
	}
	if c := b.db.candles[market.CandleKey{Pool: poolA, Interval: 86400, Open: b.last.Time - b.last.Time%86400}]; c.Buys != 3 || c.Sells != 1 {
		t.Errorf("%d buys and %d sells, want 3 and 1", c.Buys, c.Sells)
	}
}

// The same for WETH, whose price weighs every other one.
func TestFlashPumpOfTheNativeCoin(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(10))))
	b.next(12, nil,
		tx(synced(poolD, e18(1000), e6(200_000_000))),
		tx(swapped(poolA, out(e18(1)), in(units(1, 16)), router, alice)),
		tx(synced(poolD, e18(10_000), e6(20_000_000))),
	)
	if got := b.lastTrade(); got.NanoUSD != 20e9 || !near(got.CloseUSD, 20) {
		t.Errorf("a trade of 0.01 WETH is %+v, want 20 USD", got)
	}
}

// Another pool takes over only when it has been 1.5 times as deep for 10 blocks and 20 seconds.
func TestReferenceSwitch(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, quoteUSDC uint64) *bench {
		t.Helper()
		b := stage(t)
		b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1000), e6(100_000))))
		b.wantReference(dog, poolA)
		b.next(12, nil, tx(pair(poolB, dog, usdc), synced(poolB, e18(1000), e6(quoteUSDC))))
		return b
	}
	t.Run("at 1.5 times, after ten blocks", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 150_000)
		if got := b.db.tokens[dog]; got.Candidate != poolB || got.CandidateSince != b.last.Number {
			t.Fatalf("the candidate is %s since %d", got.Candidate, got.CandidateSince)
		}
		b.idle(9, 12)
		b.wantReference(dog, poolA)
		b.wantUSD(dog, 100)
		b.idle(1, 12)
		b.wantReference(dog, poolB)
		b.wantUSD(dog, 150)
		if got := b.db.tokens[dog]; !got.Candidate.IsNone() || got.CandidateSince != 0 {
			t.Errorf("a candidate stays behind: %+v", got)
		}
	})
	t.Run("after twenty seconds where blocks are short", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 150_000)
		since := b.last
		b.idle(19, 1)
		b.wantReference(dog, poolA)
		if got := b.db.tokens[dog]; got.Candidate != poolB || got.CandidateSince != since.Number || got.CandidateAt != since.Time {
			t.Errorf("the candidate is %s since block %d at %d, want %s since %d at %d", got.Candidate, got.CandidateSince, got.CandidateAt, poolB,
				since.Number, since.Time)
		}
		b.idle(1, 1)
		b.wantReference(dog, poolB)
		if got := b.db.tokens[dog]; got.CandidateAt != 0 {
			t.Errorf("a candidate's time stays behind: %d", got.CandidateAt)
		}
	})
	t.Run("after twenty seconds where blocks are short and have trades", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 150_000)
		for range 20 {
			b.wantReference(dog, poolA)
			b.next(1, nil, tx(swapped(poolB, out(e18(1)), in(e6(1)), router, alice)))
		}
		b.wantReference(dog, poolB)
	})
	t.Run("after twenty seconds where several blocks have one time", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 150_000)
		b.idle(100, 0)
		b.wantReference(dog, poolA)
		b.idle(1, 20)
		b.wantReference(dog, poolB)
	})
	t.Run("a dip in between begins the twenty seconds anew", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 200_000)
		b.idle(18, 1)
		b.next(1, nil, tx(synced(poolB, e18(1000), e6(149_000))))
		b.next(1, nil, tx(synced(poolB, e18(1000), e6(200_000))))
		b.idle(19, 1)
		b.wantReference(dog, poolA)
		b.idle(1, 1)
		b.wantReference(dog, poolB)
	})
	t.Run("with trades in between", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 150_000)
		for i := range 10 {
			b.wantReference(dog, poolA)
			pool := []market.Address{poolA, poolB}[i%2]
			b.next(12, nil, tx(swapped(pool, out(e18(1)), in(e6(1)), router, alice)))
		}
		b.wantReference(dog, poolB)
	})
	t.Run("below 1.5 times never", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 149_999)
		b.idle(30, 12)
		b.next(12, nil, tx(synced(poolB, e18(1000), e6(149_999))))
		b.wantReference(dog, poolA)
	})
	t.Run("a dip in between begins anew", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 200_000)
		b.idle(8, 12)
		b.next(12, nil, tx(synced(poolB, e18(1000), e6(149_000))))
		if got := b.db.tokens[dog].Candidate; !got.IsNone() {
			t.Fatalf("the candidate is %s, want none", got)
		}
		b.next(12, nil, tx(synced(poolB, e18(1000), e6(200_000))))
		b.idle(9, 12)
		b.wantReference(dog, poolA)
		b.idle(1, 12)
		b.wantReference(dog, poolB)
	})
	t.Run("a dip inside one block does not count", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 200_000)
		b.idle(8, 12)
		b.next(12, nil, tx(synced(poolB, e18(1000), e6(1))), tx(synced(poolB, e18(1000), e6(200_000))))
		b.idle(1, 12)
		b.wantReference(dog, poolB)
	})
	t.Run("depth inside one block does not count", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 50_000)
		b.next(12, nil, tx(synced(poolB, e18(1000), e6(9_000_000))), tx(synced(poolB, e18(1000), e6(50_000))))
		if got := b.db.tokens[dog].Candidate; !got.IsNone() {
			t.Errorf("the candidate is %s, want none", got)
		}
	})
	t.Run("a deeper third pool has to wait for itself", func(t *testing.T) {
		t.Parallel()
		b := begin(t, 200_000)
		b.idle(5, 12)
		b.next(12, nil, tx(pair(poolC, dog, usdc), synced(poolC, e18(1000), e6(400_000))))
		b.idle(9, 12)
		if got := b.db.tokens[dog].Pool; got == poolC {
			t.Error("it took over after 9 blocks")
		}
		b.idle(1, 12)
		b.wantReference(dog, poolC)
	})
}

// A thin pool at any price moves nothing while a deeper one is there.
func TestThinPoolTakeover(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1000), e6(100_000))))
	b.next(12, nil, tx(pair(poolB, dog, usdc), synced(poolB, raw(1000), e6(10_000))))
	for range 30 {
		b.next(12, nil, tx(synced(poolB, raw(1000), e6(10_000)), swapped(poolB, out(raw(10)), in(e6(10)), router, solver)))
	}
	b.wantReference(dog, poolA)
	b.wantUSD(dog, 100)
}

// A pool full of its own token has nothing to take out.
func TestPoolOneSidedInItsOwnToken(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(
		created(market.UniswapV3, v3, poolA, dog, usdc), priced(poolA, 0),
		positioned(poolA, 60, 6000, units(1, 30)), // all of it above the price: dog alone
	))
	b.idle(12, 12)
	if got := b.db.tokens[dog].Pool; !got.IsNone() {
		t.Errorf("dog is priced by %s, want nothing", got)
	}
	b.next(12, nil, tx(pair(poolB, dog, usdc), synced(poolB, e18(1000), e6(1000))))
	b.wantReference(dog, poolB)
	b.idle(12, 12)
	b.wantReference(dog, poolB)
}

// A position of one tick holds little: it is as deep as what is in it, however large its liquidity reads.
func TestOneTickPool(t *testing.T) {
	t.Parallel()
	b := stage(t)
	// The same liquidity, 1e21: over the whole range it is 1,000 of each, in one tick a twentieth of a WETH.
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(1000))))
	b.next(12, nil, tx(
		created(market.UniswapV3, v3, poolB, dog, weth), priced(poolB, 0), positioned(poolB, -1, 1, e18(1000)),
	))
	b.idle(12, 12)
	b.wantReference(dog, poolA)
	if thin, deep := b.db.pools[poolB], b.db.pools[poolA]; thin.Depth <= 0 || thin.Depth > deep.Depth/100 || thin.Locked > deep.Locked/10_000 {
		t.Errorf("the one-tick pool has depth %v and %v locked, the other %v and %v", thin.Depth, thin.Locked, deep.Depth, deep.Locked)
	}
	// Nor does it take over when it is a hundred times as liquid and priced elsewhere.
	b.next(12, nil, tx(priced(poolB, 6000), positioned(poolB, 5999, 6001, e18(100_000))))
	b.idle(12, 12)
	b.wantReference(dog, poolA)
	b.wantUSD(dog, 2000)
}

func TestUntrustedPools(t *testing.T) {
	t.Parallel()
	hooked := func(hook market.Address) market.PoolCreated {
		return market.PoolCreated{
			Protocol: market.UniswapV4, Factory: v4, Pool: poolID(1), Token0: dog, Token1: usdc, Hooks: hook,
			SqrtPriceX96: sqrtPrice(0),
		}
	}
	late := created(market.UniswapV3, v3, poolID(1), dog, usdc)
	forged := created(market.UniswapV2, carol, poolID(1), dog, usdc)
	wrongKind := created(market.UniswapV2, v3, poolID(1), dog, usdc)
	liquidity := tx(priced(poolID(1), 0), positioned(poolID(1), -6000, 6000, e18(1_000_000)))
	tests := []struct {
		name    string
		facts   []market.Fact
		events  []market.Event
		tracked bool
		why     market.UntrustedReason
		trusted bool
	}{
		{"a hook that is not declared", nil, append(tx(hooked(badHook)), liquidity...), true, market.UntrustedHook, false},
		{"a declared hook", nil, append(tx(hooked(goodHook)), liquidity...), true, market.Trusted, true},
		{"no hook", nil, append(tx(hooked(market.Address{})), liquidity...), true, market.Trusted, true},
		{"an older V3 pool, whose ticks are unknown", []market.Fact{market.PoolFact{Pool: poolID(1), Known: true, Info: late}}, liquidity, true, market.UntrustedTicks, false},
		{"a pool that a fact denies", []market.Fact{market.PoolFact{Pool: poolID(1), Reason: "no"}}, liquidity, false, "", false},
		{"nobody's factory", nil, append(tx(forged), liquidity...), false, "", false},
		{"a factory of another protocol", nil, append(tx(wrongKind), liquidity...), false, "", false},
		{"a V3 pool that gives more than it has", nil, append(append(tx(created(market.UniswapV3, v3, poolID(1), dog, usdc)), liquidity...),
			market.RangeLiquidity{Pool: poolID(1), TickLower: -60, TickUpper: 60, Delta: out(e18(1_000_001))}), true, market.UntrustedTicks, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := stage(t)
			b.next(12, tt.facts, tt.events)
			b.idle(12, 12)
			p, tracked := b.db.pools[poolID(1)]
			if tracked != tt.tracked || p.Untrusted != tt.why {
				t.Errorf("tracked %v, untrusted %q; want %v, %q", tracked, p.Untrusted, tt.tracked, tt.why)
			}
			if got := b.db.tokens[dog].Pool; got.IsNone() == tt.trusted {
				t.Errorf("dog is priced by %q", got)
			}
		})
	}
}

// A stable that its own pools price beyond its bound is worth what they say; within the bound it is worth its peg.
func TestDepeggedStable(t *testing.T) {
	t.Parallel()
	b := stage(t)
	at := func(usdcPerMillion uint64) {
		t.Helper()
		b.next(12, nil, tx(synced(poolC, e6(1_000_000), e6(usdcPerMillion))))
	}
	want := func(usd float64, pegged bool) {
		t.Helper()
		if got := b.db.quotes[usdt]; !near(got.USD, usd) || got.Pegged != pegged {
			t.Errorf("block %d: USDT is %+v, want %v, pegged %v", b.last.Number, got, usd, pegged)
		}
	}
	b.next(12, nil, tx(
		pair(poolC, usdt, usdc), synced(poolC, e6(1_000_000), e6(1_000_000)), pair(poolA, dog, usdt), synced(poolA, e18(1000), e6(100_000)),
	))
	want(1, true)
	at(985_000)
	want(1, true)
	at(1_015_000)
	want(1, true)
	at(900_000)
	want(0.9, false)
	b.wantUSD(dog, 90)
	at(1_100_000)
	want(1.1, false)
	at(1_000_000)
	want(1, true)
	b.wantUSD(dog, 100)
}

// A pool with next to nothing in it says nothing about a peg, though it be the only one.
func TestThinPoolDoesNotDepeg(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, usdt), synced(poolA, e18(1000), e6(1_000_000))))
	b.wantUSD(dog, 1000)
	// Anyone can make the pair of two stables on an exchange that has none, with four cents in it.
	b.next(12, nil, tx(pair(poolC, usdt, usdc), synced(poolC, e6(2), raw(20_000))))
	if got := b.db.quotes[usdt]; got.USD != 1 || !got.Pegged {
		t.Errorf("two cents turned USDT into %+v", got)
	}
	b.wantUSD(dog, 1000)
}

// A quote asset is priced by pegged ones alone, so that no token is more than two hops from the dollar.
func TestTwoHops(t *testing.T) {
	t.Parallel()
	b := stage(t, func(c *chainconfig.Chain) {
		c.Quotes = append(c.Quotes, chainconfig.Quote{Symbol: "FROG", Address: frog})
	})
	// FROG is a quote asset whose only pool is against WETH, which is itself priced by a pool: three hops for dog.
	b.next(12, facts(frog), tx(
		pair(poolA, frog, weth), synced(poolA, e18(1000), e18(1000)), pair(poolB, dog, frog), synced(poolB, e18(1000), e18(1000)),
	))
	b.idle(12, 12)
	if got := b.db.quotes[frog].USD; got != 0 {
		t.Errorf("FROG is at %v USD over two hops, want unknown", got)
	}
	if got := b.db.tokens[dog].Pool; !got.IsNone() {
		t.Errorf("dog is priced over three hops by %s", got)
	}
	b.next(12, nil, tx(swapped(poolB, out(e18(1)), in(e18(1)), router, alice)))
	if got := b.lastTrade(); got.HasUSD || got.NanoUSD != 0 || got.CloseUSD != 0 {
		t.Errorf("a trade without a price is %+v", got)
	}
	// With a pool of its own against a pegged asset it is one hop, and dog two.
	b.next(12, nil, tx(pair(poolC, frog, usdc), synced(poolC, e18(1_000_000), e6(5_000_000))))
	if got := b.db.quotes[frog].USD; !near(got, 5) {
		t.Errorf("FROG is at %v USD, want 5", got)
	}
	b.next(12, nil, tx(swapped(poolB, out(e18(1)), in(e18(1)), router, alice)))
	if got := b.lastTrade(); !got.HasUSD || got.NanoUSD != 5e9 || !near(got.CloseNative, 5.0/2000) {
		t.Errorf("a trade of one FROG is %+v, want 5 USD", got)
	}
	b.wantReference(dog, poolB)
	b.wantUSD(dog, 5)
}

// The order in which quotes are declared is that of preference. One that leaves the native coin without a price for
// good has to be refused, if it can't be made to work.
func TestQuotesInAnyOrder(t *testing.T) {
	t.Parallel()
	c := config(func(c *chainconfig.Chain) { c.Quotes[0], c.Quotes[2] = c.Quotes[2], c.Quotes[0] })
	if _, err := derive.New(c); err != nil {
		return
	}
	b := &bench{chain: newChain(), indexer: newIndexer(t, c, 100_000), t: t}
	b.next(12, facts(usdc, usdt, weth), tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000))))
	if got := b.db.quotes[weth].USD; !near(got, 2000) {
		t.Errorf("WETH, declared before USDC, is at %v USD, want 2000 or a refusal", got)
	}
}

// Prices need decimals, on both sides.
func TestUnknownDecimals(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, []market.Fact{market.TokenFact{Token: frog, Name: "frog"}}, tx(
		pair(poolA, frog, usdc), synced(poolA, e18(1000), e6(1000)), swapped(poolA, out(e18(1)), in(e6(1)), router, alice),
	))
	p := b.db.pools[poolA]
	if p.Price != 0 || p.Depth != 0 || !b.db.tokens[frog].Pool.IsNone() {
		t.Errorf("a token without decimals has the price %v and the pool %s", p.Price, b.db.tokens[frog].Pool)
	}
	if got := b.lastTrade(); got.NanoUSD != 1e9 || got.CloseUSD != 0 {
		t.Errorf("its trade is %+v, want one USD at no price", got)
	}
	for k, c := range b.db.candles {
		if c.USD != (market.OHLC{}) {
			t.Errorf("candle %v has prices %+v", k, c.USD)
		}
	}
}

func TestSolidlyStable(t *testing.T) {
	t.Parallel()
	b := stage(t)
	c := created(market.Solidly, solidly, poolA, usdt, usdc)
	c.Stable = true
	b.next(12, nil, tx(c, synced(poolA, e6(1_100_000), e6(900_000))))
	if got := b.db.pools[poolA].Price; got < 0.98 || got > 1 {
		t.Errorf("a stable pool of 1.1 and 0.9 million prices at %v, want nearly 1", got)
	}
	if got := b.db.quotes[usdt]; !got.Pegged {
		t.Errorf("USDT is %+v", got)
	}
}

// A Slipstream pool logs its first price before its factory announces it, so that the price is there before the first trade.
func TestSlipstreamIsPricedBeforeItIsAnnounced(t *testing.T) {
	t.Parallel()
	b := stage(t)
	announced := created(market.Slipstream, slipstream, poolA, dog, weth)
	announced.TickSpacing = 200
	stray := created(market.Slipstream, carol, poolB, cat, weth) // nobody declares carol
	b.next(12, nil,
		tx(priced(poolC, 1200)), // another transaction's
		tx(priced(poolB, 600), stray, priced(poolD, 1200), priced(poolA, -600), announced, positioned(poolA, -6000, 6000, e18(1000))),
	)
	p := b.db.pools[poolA]
	const price = 1 / (1.03044 * 1.03044) // sqrtPrice(-600), squared
	if p.Tick != -600 || p.SqrtPriceX96 != sqrtPrice(-600) || p.Liquidity != e18(1000) || !near(p.Price, price) || p.Depth <= 0 ||
		p.Untrusted != market.Trusted || p.FeePips != 0 || p.TickSpacing != 200 || p.CreatedBlock != b.last.Number {
		t.Errorf("the pool is %+v", p)
	}
	b.wantUSD(dog, 2000*price)
	if _, known := b.db.pools[poolB]; known {
		t.Error("a pool of a factory that nobody declares is known")
	}
	// A price that was logged in an earlier transaction isn't the creation's.
	late := created(market.Slipstream, slipstream, poolC, cat, weth)
	b.next(12, nil, tx(priced(poolC, 1200)), tx(late))
	if p := b.db.pools[poolC]; !p.SqrtPriceX96.IsZero() || p.Tick != 0 {
		t.Errorf("a pool without a price in its creation is %+v", p)
	}
}

// V4 trades the native coin as the zero address.
func TestNativeCoinOfV4(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(
		market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: poolID(1), Token0: market.Native, Token1: dog, SqrtPriceX96: sqrtPrice(0)},
		positioned(poolID(1), -6000, 6000, e18(1000)),
	))
	p := b.db.pools[poolID(1)]
	if p.Base != dog || p.Quote != weth || p.BaseIs0 || p.Token0 != market.Native || !near(p.Price, 1) {
		t.Fatalf("the pool is %+v", p)
	}
	b.wantUSD(dog, 2000)
	if _, ok := b.db.tokens[market.Native]; ok {
		t.Error("the zero address has become a token")
	}
}

// A pool's tick map outlives the cache: what it held is there when the pool is touched again.
func TestTicksSurviveASmallCache(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.limit = 0
	b.next(12, nil, tx(
		created(market.UniswapV3, v3, poolA, weth, usdc), priced(poolA, 0), positioned(poolA, -6000, 6000, e18(1000)),
	))
	want := b.db.pools[poolA].Depth
	// WETH's pools are looked at in every one of these blocks, this one's ticks in none.
	for range 3 {
		b.next(12, nil, tx(synced(poolD, e18(10_000), e6(20_000_000))))
	}
	b.next(12, nil, tx(priced(poolA, 0)))
	if got := b.db.pools[poolA].Depth; got != want || want == 0 {
		t.Errorf("the depth is %v after some quiet blocks, want %v", got, want)
	}
}

// TestAReferenceThatChangesInAQuietTime has a quote asset's other pool take over while nothing happens: what the asset was worth before the
// window follows from that pool at once, not with the next block that is read.
func TestAReferenceThatChangesInAQuietTime(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]int{"block by block": 20, "at once": 1} {
		b := stage(t)
		b.next(12, nil, tx(pair(poolC, weth, usdt), synced(poolC, e18(40_000), e6(60_000_000))))
		for range steps {
			var last market.Header
			for range 20 / steps {
				last = b.block(12, nil).Header
			}
			b.apply(t, nil, last)
		}
		b.wantReference(weth, poolC)
		if got := b.db.quotes[weth].DayUSD; got != 1500 {
			t.Errorf("%s: WETH was worth %v USD before the window, want 1500", name, got)
		}
	}
}
