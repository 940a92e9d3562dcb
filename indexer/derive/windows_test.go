package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// window sums a pool's 1-minute candles by hand: the minutes that are younger than 24 hours at now.
func (b *bench) window(pool market.Address) (w market.Window) {
	open := b.last.Time - b.last.Time%60 - 86400
	for k, c := range b.db.candles {
		if k.Pool == pool && k.Interval == 60 && k.Open > open {
			w.VolumeUSD.Add(&w.VolumeUSD, &c.VolumeUSD)
			w.Buys += c.Buys
			w.Sells += c.Sells
		}
	}
	return w
}

func (b *bench) wantWindow(pool market.Address, nano uint64, buys, sells int64, reference float64) {
	b.t.Helper()
	got := b.db.pools[pool].Day
	want := market.Window{VolumeUSD: raw(nano), Buys: buys, Sells: sells, ReferenceUSD: reference}
	if got.VolumeUSD != want.VolumeUSD || got.Buys != want.Buys || got.Sells != want.Sells || !near(got.ReferenceUSD, reference) {
		b.t.Errorf("at %d: the window is %+v, want %+v", b.last.Time-genesis.Time, got, want)
	}
	if sum := b.window(pool); sum.VolumeUSD != got.VolumeUSD || sum.Buys != got.Buys || sum.Sells != got.Sells {
		b.t.Errorf("at %d: the window is %+v, its minutes sum up to %+v", b.last.Time-genesis.Time, got, sum)
	}
}

// until lets a block without events pass at a second after genesis.
func (b *bench) until(second int64) {
	b.t.Helper()
	b.next(genesis.Time+second-b.last.Time, nil)
}

const day = 24 * 60 * 60

func TestWindowExpires(t *testing.T) {
	t.Parallel()
	b := stage(t) // 12 s after genesis, which is a midnight
	at := func(second int64, dogs uint64, sell bool) {
		t.Helper()
		// The price is 100 USDC over dogs; the trade is of one USDC.
		a0, a1 := out(e18(1)), in(e6(1))
		if sell {
			a0, a1 = a0.Negate(), a1.Negate()
		}
		events := tx(synced(poolA, e18(dogs), e6(100)), swapped(poolA, a0, a1, router, alice))
		if second == 60 {
			events = append(tx(pair(poolA, dog, usdc)), events...)
		}
		b.next(genesis.Time+second-b.last.Time, nil, events)
	}
	at(60, 100, false) // 1 USD
	at(119, 50, true)  // 2 USD, in the same minute
	b.wantWindow(poolA, 2e9, 1, 1, 1)
	at(600, 25, false) // 4 USD
	b.wantWindow(poolA, 3e9, 2, 1, 1)
	b.until(60 + day - 1)
	b.wantWindow(poolA, 3e9, 2, 1, 1)
	// The minute from 60 to 119 leaves as a whole, and what it closed at is the price before the window.
	b.until(60 + day)
	b.wantWindow(poolA, 1e9, 1, 0, 2)
	b.until(600 + day - 1)
	b.wantWindow(poolA, 1e9, 1, 0, 2)
	b.until(600 + day)
	b.wantWindow(poolA, 0, 0, 0, 4)
	b.until(600 + 9*day)
	b.wantWindow(poolA, 0, 0, 0, 4)
	at(600+9*day+30, 20, true) // 5 USD
	b.wantWindow(poolA, 1e9, 0, 1, 4)
	// One gap of many days takes it all out at once.
	b.until(600 + 30*day)
	b.wantWindow(poolA, 0, 0, 0, 5)
}

// A batch that is longer than the window expires what it made itself.
func TestWindowInOneBatch(t *testing.T) {
	t.Parallel()
	b := stage(t)
	first := len(b.blocks)
	b.block(48, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(100), e6(100)), swapped(poolA, out(e18(1)), in(e6(1)), router, alice)))
	b.block(day/2, nil, tx(swapped(poolA, in(e18(1)), out(e6(1)), router, alice)))
	b.block(day/2+60, nil, tx(synced(poolA, e18(50), e6(100)), swapped(poolA, out(e18(1)), in(e6(1)), router, alice)))
	b.apply(t, b.blocks[first:], b.last)
	b.wantWindow(poolA, 2e9, 1, 1, 1)
	b.idle(1, day)
	b.wantWindow(poolA, 0, 0, 0, 2)
}

// Two blocks of one minute, two batches: the minute is one candle, and leaves the window once.
func TestMinuteAcrossBatches(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.limit = 0
	trade := swapped(poolA, out(e18(1)), in(e6(1)), router, alice)
	b.next(48, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(100), e6(100)), trade))
	b.next(10, nil, tx(trade))
	b.next(10, nil, tx(trade))
	b.wantWindow(poolA, 3e9, 3, 0, 1)
	k := market.CandleKey{Pool: poolA, Interval: 60, Open: genesis.Time + 60}
	if got := b.db.candles[k]; got.Buys != 3 || got.VolumeBase != e18(3) || got.LastBlock != b.last.Number {
		t.Errorf("the minute is %+v", got)
	}
	b.next(day-30, nil, tx(trade))
	b.wantWindow(poolA, 4e9, 4, 0, 1)
	b.next(20, nil, tx(trade)) // exactly a day after the minute opened
	b.wantWindow(poolA, 2e9, 2, 0, 1)
}

func TestCandles(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(48, nil, tx(pair(poolA, dog, usdc)))
	for _, step := range []struct {
		seconds int64
		usdc    uint64
	}{{0, 100}, {20, 300}, {20, 50}, {19, 200}, {1, 400}} {
		b.next(step.seconds, nil, tx(synced(poolA, e18(100), e6(step.usdc)), swapped(poolA, out(e18(1)), in(e6(1)), router, alice)))
	}
	tests := []struct {
		interval int32
		open     int64
		want     market.OHLC
		buys     int64
	}{
		{60, 60, market.OHLC{Open: 1, High: 3, Low: 0.5, Close: 2}, 4},
		{60, 120, market.OHLC{Open: 4, High: 4, Low: 4, Close: 4}, 1},
		{300, 0, market.OHLC{Open: 1, High: 4, Low: 0.5, Close: 4}, 5},
		{3600, 0, market.OHLC{Open: 1, High: 4, Low: 0.5, Close: 4}, 5},
		{86400, 0, market.OHLC{Open: 1, High: 4, Low: 0.5, Close: 4}, 5},
	}
	for _, tt := range tests {
		got := b.db.candles[market.CandleKey{Pool: poolA, Interval: tt.interval, Open: genesis.Time + tt.open}]
		o := got.USD
		if !near(o.Open, tt.want.Open) || !near(o.High, tt.want.High) || !near(o.Low, tt.want.Low) || !near(o.Close, tt.want.Close) || got.Buys != tt.buys {
			t.Errorf("the candle of %d s at %d is %+v with %d buys, want %+v with %d", tt.interval, tt.open, o, got.Buys, tt.want, tt.buys)
		}
		if !near(got.Native.Close, tt.want.Close/2000) {
			t.Errorf("the candle of %d s at %d closes at %v of the native coin", tt.interval, tt.open, got.Native.Close)
		}
	}
	if len(b.db.candles) != len(tests) {
		t.Errorf("%d candles, want %d", len(b.db.candles), len(tests))
	}
}

func TestBlocksInOrder(t *testing.T) {
	t.Parallel()
	b := stage(t)
	again := b.blocks[0]
	b.load([]market.Block{again}, again.Header)
	if err := b.machine.Apply(b.state, []market.Block{again}, again.Header); err == nil {
		t.Error("a block that was applied passed a second time")
	}
}

// A commit that changes nothing writes nothing.
func TestQuietBlocksWriteNothing(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(synced(poolD, e18(10_000), e6(20_000_000)), synced(poolA, e18(1), e18(1)), moved(dog, alice, bob, e18(1))))
	c := b.next(12, nil, tx(synced(poolD, e18(10_000), e6(20_000_000))))
	if n := len(c.Tokens) + len(c.Pools) + len(c.Ticks) + len(c.Candles) + len(c.Balances) + len(c.Quotes) + len(c.Trades) + len(c.Queued); n != 0 {
		t.Errorf("%d rows are written: %+v", n, c)
	}
}
