package derive_test

import (
	"fmt"
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

// TestTooManyTicks holds the bound on a pool's ticks at its edge: beyond it the pool prices nothing for good, and its ticks are forgotten.
func TestTooManyTicks(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(created(market.UniswapV3, v3, poolA, dog, usdc), priced(poolA, 0), positioned(poolA, -600, 600, e18(1_000_000))))
	b.wantReference(dog, poolA)
	b.next(12, nil, tx(dense(poolA, 0, market.MaxTicks-3)...)) // and the two of the position
	if got := len(b.db.ticks[poolA]); got != market.MaxTicks || b.db.pools[poolA].Untrusted != market.Trusted {
		t.Fatalf("%d ticks, untrusted %q; want %d and a trusted pool", got, b.db.pools[poolA].Untrusted, market.MaxTicks)
	}
	full := b.db.pools[poolA]
	over := b.next(12, nil, tx(dense(poolA, market.MaxTicks-3, 1)...))
	p := b.db.pools[poolA]
	if _, kept := b.db.ticks[poolA]; kept || p.Untrusted != market.UntrustedTicks || p.Depth != 0 {
		t.Errorf("one tick more: its ticks are kept: %v, untrusted %q, depth %v", kept, p.Untrusted, p.Depth)
	}
	// A reorg brings all of it back.
	b.db.undo(t, &over)
	b.last = b.blocks[len(b.blocks)-2].Header
	b.restart(b.last)
	if got := len(b.db.ticks[poolA]); got != market.MaxTicks || b.db.pools[poolA] != full {
		t.Errorf("after a reorg it has %d ticks and is %+v", got, b.db.pools[poolA])
	}
	b.next(12, nil, tx(dense(poolA, market.MaxTicks-3, 1)...))
	// Nothing that happens to it later is kept, or makes it a price again. Another pool takes over.
	b.next(12, nil, tx(dense(poolA, market.MaxTicks-2, 3)...), tx(positioned(poolA, -600, 600, e18(1))))
	swap := market.Swap{Pool: poolA, Sender: router, Recipient: alice, Amount0: out(e18(1)), Amount1: in(e6(1)), SqrtPriceX96: sqrtPrice(0), Liquidity: e18(1_000_001)}
	b.next(12, nil, tx(swap), tx(pair(poolB, dog, usdc), synced(poolB, e18(1000), e6(1000))))
	b.idle(12, 12)
	if p := b.db.pools[poolA]; len(b.db.ticks) != 0 || p.Untrusted != market.UntrustedTicks || p.Liquidity != e18(1_000_001) {
		t.Errorf("later %d pools have ticks, and the pool is %+v", len(b.db.ticks), p)
	}
	b.wantReference(dog, poolB)
}
