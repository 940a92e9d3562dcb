package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestMinimumLiquidityInUSD: the least liquidity for which a pool's trades are kept is in USD, whatever the pool's quote is.
func TestMinimumLiquidityInUSD(t *testing.T) {
	t.Parallel()
	b := stage(t, func(c *chainconfig.Chain) { c.Tracking.MinLiquidityUSD = 1000 })
	trade := swapped(poolA, out(raw(1000)), in(raw(1000)), router, alice)
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(500), units(249, 15)), trade))
	if len(b.db.trades) != 0 {
		t.Errorf("a pool of 996 USD has %d trades, want none", len(b.db.trades))
	}
	b.next(12, nil, tx(synced(poolA, e18(500), units(250, 15)), trade))
	if len(b.db.trades) != 1 {
		t.Errorf("a pool of 1,000 USD has %d trades, want 1", len(b.db.trades))
	}
}

// TestTradeAtNoPrice: a trade that empties its pool has no price. Its candle counts it and keeps the prices that it has, and a minute of such trades
// alone leaves the price before the window as it was.
func TestTradeAtNoPrice(t *testing.T) {
	t.Parallel()
	b := stage(t)
	trade := swapped(poolA, out(e18(1)), in(e6(1)), router, alice)
	filled, empty := synced(poolA, e18(100), e6(100)), synced(poolA, raw(0), e6(101))
	b.next(48, nil, tx(pair(poolA, dog, usdc), filled, trade))
	b.next(12, nil, tx(empty, trade))
	c := b.db.candles[market.CandleKey{Pool: poolA, Interval: 60, Open: genesis.Time + 60}]
	if c.USD != (market.OHLC{Open: 1, High: 1, Low: 1, Close: 1}) || c.Native.Low != 1./2000 || c.Native.Close != 1./2000 || c.Buys != 2 {
		t.Errorf("the candle is %+v, want two buys at 1 USD", c)
	}
	b.next(528, nil, tx(trade))
	b.wantWindow(poolA, 3e9, 3, 0, 1)
	b.until(600 + day)
	b.wantWindow(poolA, 0, 0, 0, 1)
}

// TestPriceBeforeTheWindowInTheQuote: the price before the window in the pool's quote is what the last minute that left it closed at. It follows from the price
// in the native coin or from a peg, however little was traded, and for another quote from the minute's volumes in the quote and in USD.
func TestPriceBeforeTheWindowInTheQuote(t *testing.T) {
	t.Parallel()
	b := stage(t, pegged(2, 0), func(c *chainconfig.Chain) {
		c.Quotes = append(c.Quotes, chainconfig.Quote{Symbol: "FROG", Address: frog})
	})
	b.next(12, facts(frog), tx(pair(poolB, frog, usdc), synced(poolB, e18(1_000_000), e6(5_000_000))))
	pools := []struct {
		id, quote market.Address
		paid      market.Amount
	}{{crowd(1), weth, raw(1000)}, {crowd(2), cat, raw(1000)}, {crowd(3), frog, e18(3)}, {crowd(4), frog, raw(1000)}}
	for _, p := range pools {
		b.next(0, nil, tx(pair(p.id, dog, p.quote), synced(p.id, e18(1000), e18(10)), swapped(p.id, out(e18(1)), in(p.paid), router, alice)))
	}
	b.until(60 + day)
	for i, want := range []float64{0.01, 0.01, 0.01, 0} { // nothing tells what dust of a quote without a peg was worth
		if got := b.db.pools[pools[i].id].Day.ReferenceQuote; !near(got, want) {
			t.Errorf("the pool of %v closed at %v of its quote, want %v", pools[i].quote, got, want)
		}
	}
}
