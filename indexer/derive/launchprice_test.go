package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestChangeIsAgainstTheLaunchPrice holds the price before a young token's window against what its launch said: the buys of the
// launch's own block move the price, and must not be the price that they moved.
func TestChangeIsAgainstTheLaunchPrice(t *testing.T) {
	t.Parallel()
	curve := market.CurveID(pup)
	const launch, afterBuy = 10. / 1000 * 2000, 12.5 / 800 * 2000 // USD of a pup
	const paid = 5050 * 1e9                                       // the value of the buy in 1e-9 USD

	t.Run("bought in the block of the launch", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched()), tx(moved(pup, pad, bob, e18(200)), bought(bob)))
		if got := b.usd(pup); !near(got, afterBuy) {
			t.Fatalf("after the buy a pup is at %v USD, want %v", got, afterBuy)
		}
		b.wantWindow(curve, paid, 1, 0, launch)
	})
	t.Run("bought in the transaction of the launch", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched(), moved(pup, pad, bob, e18(200)), bought(bob)))
		b.wantWindow(curve, paid, 1, 0, launch)
	})
	t.Run("bought later", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.launchPup()
		b.next(60, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
		b.wantWindow(curve, paid, 1, 0, launch)
		// A day later the token is as old as the window, and the price before it is the one that the minute of the buy closed at.
		b.until(12 + 12 + 60 + 60 + day)
		b.wantWindow(curve, 0, 0, 0, afterBuy)
	})
	t.Run("bought in the same batch of blocks", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		first := len(b.blocks)
		b.block(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched()), tx(moved(pup, pad, bob, e18(200)), bought(bob)))
		b.block(12, nil, tx(moved(pup, pad, carol, e18(200)), bought(carol)))
		b.apply(t, b.blocks[first:], b.last)
		b.wantWindow(curve, 2*paid, 2, 0, launch)
	})
	t.Run("the launch posts its price", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		posted := func(e *market.Launched) {
			e.Rules.Pricing = market.PricePosted
			e.Reserves, e.Tells = market.CurveReserves{Price: units(1, 15)}, market.TellsPrice // 0.001 WETH
		}
		trade := bought(bob)
		trade.After, trade.Tells = market.CurveReserves{Price: units(3, 15)}, market.TellsPrice
		b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched(posted)), tx(moved(pup, pad, bob, e18(200)), trade))
		if got := b.usd(pup); !near(got, 6) {
			t.Fatalf("after the buy a pup is at %v USD, want 6", got)
		}
		b.wantWindow(curve, paid, 1, 0, 2)
	})
	t.Run("the launch says no price", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		silent := func(e *market.Launched) {
			e.Rules.Pricing = market.PricePosted
			e.Reserves, e.Tells = market.CurveReserves{}, 0
		}
		trade := bought(bob)
		trade.After, trade.Tells = market.CurveReserves{Price: units(3, 15)}, market.TellsPrice
		b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched(silent)), tx(moved(pup, pad, bob, e18(200)), trade))
		b.wantWindow(curve, paid, 1, 0, 6)
	})
	t.Run("the quote has no price yet", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.next(12, facts(usdc, weth, pup), tx(moved(pup, nobody, pad, e18(1000)), launched()))
		if got := b.db.pools[curve].Day; got != (market.Window{}) {
			t.Errorf("without a price in USD the window is %+v, want nothing", got)
		}
		b.next(12, nil, tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000))))
		b.next(12, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
		// The launch told a price in the native coin, of which nobody knew the price in USD yet. What it was before the first buy counts.
		b.wantWindow(curve, paid, 1, 0, launch)
	})
}

// TestChangeIsAgainstThePoolsOpeningPrice is the same for pools: they open at the price that their first liquidity has, and the buys of that
// block are the move since.
func TestChangeIsAgainstThePoolsOpeningPrice(t *testing.T) {
	t.Parallel()
	live := func(pool market.Address) market.Event {
		return market.Launched{Venue: "live", Token: pup, Creator: alice, Name: "Pup", Symbol: "PUP", Pool: pool}
	}
	reference := func(b *bench, pool market.Address, want float64) {
		t.Helper()
		day := b.db.pools[pool].Day
		if !near(day.ReferenceUSD, want) || !near(day.ReferenceQuote, want/2000) {
			t.Errorf("the price before the window is %v USD (%v in the quote), want %v (and %v)", day.ReferenceUSD, day.ReferenceQuote, want, want/2000)
		}
	}
	// A pup costs 0.001 WETH, or 2 USD, when the pool is filled.
	v2Events := func() []market.Event {
		return []market.Event{pair(poolA, pup, weth), synced(poolA, e18(1_000_000), e18(1000))}
	}
	buy := func() []market.Event {
		return []market.Event{
			synced(poolA, e18(500_000), e18(2000)), swapped(poolA, out(e18(500_000)), in(e18(1000)), router, bob), moved(pup, poolA, bob, e18(500_000)),
		}
	}
	t.Run("a pool that is filled", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, facts(pup), tx(append(v2Events(), live(poolA))...), tx(buy()...))
		if got := b.usd(pup); !near(got, 8) {
			t.Fatalf("after the buy a pup is at %v USD, want 8", got)
		}
		reference(b, poolA, 2)
	})
	t.Run("in the same transaction", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, facts(pup), tx(append(append(v2Events(), live(poolA)), buy()...)...))
		reference(b, poolA, 2)
	})
	t.Run("a pool of no launch", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, facts(pup), tx(v2Events()...), tx(buy()...))
		reference(b, poolA, 2)
	})
	t.Run("before anybody buys", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, facts(pup), tx(v2Events()...))
		reference(b, poolA, 2)
		b.next(12, nil, tx(buy()...))
		reference(b, poolA, 2)
	})
	t.Run("a pool that was met later", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		made, ok := pair(poolA, pup, weth).(market.PoolCreated)
		if !ok {
			t.Fatal("a pair isn't a pool")
		}
		known := append(facts(pup), market.PoolFact{Pool: poolA, Known: true, Info: made})
		b.next(12, known, tx(buy()...))
		if got := b.db.pools[poolA].Day.ReferenceUSD; !near(got, 8) {
			t.Errorf("the price before the window is %v USD, want the 8 of its first trade", got)
		}
	})
	v4Pool := func(b *bench, pool market.Address) {
		t.Helper()
		made := market.PoolCreated{Protocol: market.UniswapV4, Factory: v4, Pool: pool, Token0: market.Native, Token1: pup, SqrtPriceX96: sqrtPrice(0), TickSpacing: 60}
		liquid := market.RangeLiquidity{Pool: pool, TickLower: -6000, TickUpper: 6000, Delta: in(e18(1_000_000))}
		after := sqrtPrice(-600) // less pups per WETH
		trade := market.Swap{
			Pool: pool, Sender: router, Recipient: bob, Amount0: in(e18(10)), Amount1: out(e18(9)), SqrtPriceX96: after, Liquidity: e18(1_000_000), Tick: -600,
		}
		b.next(12, facts(pup), tx(made, liquid, live(pool)), tx(trade, moved(pup, v4, bob, e18(9))))
	}
	t.Run("a pool that is set to a price", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		v4Pool(b, poolID(5))
		if got := b.usd(pup); got < 2100 {
			t.Fatalf("after the buy a pup is at %v USD, want more than 2100", got)
		}
		reference(b, poolID(5), 2000)
	})
}
