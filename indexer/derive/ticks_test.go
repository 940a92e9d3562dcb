package derive_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// dense puts ranges of one tick spacing each, all of another liquidity, beside each other below the price: n of them make n+1 ticks.
func dense(pool market.Address, from, n int) (events []market.Event) {
	for i := from; i < from+n; i++ {
		tick := int32(i) - 400_000
		events = append(events, positioned(pool, tick, tick+1, raw(uint64(i+1))))
	}
	return events
}

// BenchmarkLiquidityChange is a block with one change of liquidity in a pool that has many ticks. B/row and B/image are what it writes of the
// ticks: the row, and its former image as JSON.
func BenchmarkLiquidityChange(b *testing.B) {
	for _, ticks := range []int{2_000, 36_000, 50_000, 131_000} {
		b.Run(fmt.Sprint(ticks, " ticks"), func(b *testing.B) {
			c := newChain()
			x := newIndexer(b, config(), 100_000)
			next := func(facts []market.Fact, events []market.Event) market.Changes {
				block := c.block(12, facts, events)
				return x.apply(b, []market.Block{block}, block.Header)
			}
			next(facts(usdc, dog), append(tx(created(market.UniswapV3, v3, poolA, dog, usdc), priced(poolA, 0)), dense(poolA, 0, ticks-3)...))
			var written market.Changes
			for i := 0; b.Loop(); i++ {
				at := int32(60 * (i%2 + 1))
				written = next(nil, tx(positioned(poolA, -at, at, e18(1))))
			}
			b.ReportMetric(float64(len(written.Ticks[0].After.Marshal())), "B/row")
			b.ReportMetric(float64(len(written.Ticks[0].Before.Marshal()))*4/3, "B/image")
		})
	}
}

// TestTooManyTicks holds the bound on a pool's ticks at its edge: beyond it the nearer half of them is kept, as a window, and the pool prices its token
// as before. Only what lies within the window is booked from there on. Once the price leaves it, the pool is asked for its ticks, though it was seen made.
func TestTooManyTicks(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(created(market.UniswapV3, v3, poolA, dog, usdc), priced(poolA, 0), positioned(poolA, -600, 600, e18(1_000_000))))
	b.wantReference(dog, poolA)
	b.next(12, nil, tx(dense(poolA, 0, market.MaxTicks-3)...)) // and the two of the position
	full := b.db.pools[poolA]
	if got := len(b.db.ticks[poolA]); got != market.MaxTicks || full.Untrusted != market.Trusted || !full.Window.IsWhole() {
		t.Fatalf("%d ticks, and the pool is %+v; want %d and a trusted pool", got, full, market.MaxTicks)
	}
	over := b.next(12, nil, tx(dense(poolA, market.MaxTicks-3, 1)...))
	p := b.db.pools[poolA]
	highest := int32(market.MaxTicks-2) - 400_000          // of the dense ones
	lower := highest - (market.MaxTicks/2 - 2)             // of which all but two of the kept are
	kept := market.TickWindow{Lower: lower, Upper: -lower} // the price is 0
	if p.Window != kept || p.Untrusted != market.Trusted || p.Price != full.Price || p.Depth != full.Depth || p.Locked > full.Locked {
		t.Errorf("one tick more: the window is %+v, want %+v; the pool is %+v, before %+v", p.Window, kept, p, full)
	}
	if got, most := len(b.db.ticks[poolA]), market.MaxTicks/2+2; got > most || got < most-2 {
		t.Errorf("one tick more: %d ticks are kept, want %d", got, most)
	}
	// A reorg brings all of it back.
	b.db.undo(t, &over)
	b.last = b.blocks[len(b.blocks)-2].Header
	b.restart(b.last)
	if got := len(b.db.ticks[poolA]); got != market.MaxTicks || b.db.pools[poolA] != full {
		t.Errorf("after a reorg it has %d ticks and is %+v", got, b.db.pools[poolA])
	}
	b.next(12, nil, tx(dense(poolA, market.MaxTicks-3, 1)...))
	// A change of liquidity outside of the window is ignored. Of one that crosses an end of the window, the part inside counts.
	before := b.db.ticks[poolA].Copy()
	b.next(12, nil, tx(positioned(poolA, -390_000, lower, e18(5)), positioned(poolA, -lower, 390_000, e18(5))))
	if !slices.Equal(b.db.ticks[poolA], before) {
		t.Error("liquidity outside of the window changed the ticks within")
	}
	b.next(12, nil, tx(positioned(poolA, -800_000, 800_000, e18(1_000_000))))
	before.ChangeRange(lower, -lower, in(e18(1_000_000)))
	if p := b.db.pools[poolA]; !slices.Equal(b.db.ticks[poolA], before) || p.Liquidity != e18(2_000_000) || p.Depth < 1.9*full.Depth {
		t.Errorf("after liquidity across the window's ends the pool is %+v", p)
	}
	b.wantReference(dog, poolA)
	// Its price leaves the window: until it is asked nothing of it counts, and another pool takes over.
	swap := func(tick int32) market.Event {
		return market.Swap{Pool: poolA, Sender: router, Recipient: alice, Amount0: out(e18(1)), Amount1: in(e6(1)), SqrtPriceX96: sqrtPrice(tick), Tick: tick, Liquidity: e18(1_000_001)}
	}
	b.next(12, nil, tx(swap(-lower)), tx(pair(poolB, dog, usdc), synced(poolB, e18(1000), e6(1000))))
	b.idle(12, 12)
	if p := b.db.pools[poolA]; len(b.db.ticks) != 0 || p.Untrusted != market.UntrustedTicks || p.Liquidity != e18(1_000_001) || !p.Window.IsWhole() {
		t.Errorf("outside of its window %d pools have ticks, and the pool is %+v", len(b.db.ticks), p)
	}
	b.wantReference(dog, poolB)
	liquidity := e18(1_000_001)
	b.next(12, []market.Fact{market.PoolStateFact{
		Pool: poolA, SqrtPriceX96: sqrtPrice(600), Tick: 600, Liquidity: liquidity, Window: market.TickWindow{Lower: -600, Upper: 1800},
		Ticks: string(market.TickMap{}.AddRange(-600, 1800, in(liquidity)).Marshal()),
	}}, tx(swap(600)))
	if p := b.db.pools[poolA]; p.Untrusted != market.Trusted || p.Depth == 0 || p.CreatedBlock == 0 || len(b.db.ticks[poolA]) != 2 {
		t.Errorf("after it was asked the pool is %+v", p)
	}
}
