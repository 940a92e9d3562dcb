package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestStateOfAnOlderPool: a concentrated pool that is older than the index is untrusted until a state of it is given; from then on it has that
// state. A state with broken or too many ticks changes nothing, nor does one for a pool that needs none.
func TestStateOfAnOlderPool(t *testing.T) {
	t.Parallel()
	older := func(info market.PoolCreated) market.Fact {
		return market.PoolFact{Pool: info.Pool, Known: true, Info: info}
	}
	concentrated := created(market.UniswapV3, v3, poolA, dog, usdc)
	many := func(n int) (m market.TickMap) {
		for i := range n {
			m = append(m, market.TickNet{Tick: int32(i) - 400_000, Net: in(raw(1))})
		}
		return m
	}
	state := func(ticks market.TickMap) market.PoolStateFact {
		return market.PoolStateFact{
			Pool: poolA, SqrtPriceX96: sqrtPrice(-600), Tick: -600, Liquidity: e18(7), Ticks: string(ticks.Marshal()),
		}
	}
	good := state(market.TickMap{}.AddRange(-6000, 6000, in(e18(7))))
	broken := good
	broken.Ticks = good.Ticks[:len(good.Ticks)-1]
	for name, test := range map[string]struct {
		facts []market.Fact
		want  market.UntrustedReason
		ticks int
	}{
		"no state":             {nil, market.UntrustedTicks, 0},
		"its state":            {[]market.Fact{good}, market.Trusted, 2},
		"its state, once more": {[]market.Fact{state(many(3)), good}, market.Trusted, 2},
		"ticks that end early": {[]market.Fact{broken}, market.UntrustedTicks, 0},
		"the most ticks":       {[]market.Fact{state(many(market.MaxTicks))}, market.Trusted, market.MaxTicks},
		"a tick more":          {[]market.Fact{state(many(market.MaxTicks + 1))}, market.UntrustedTicks, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := stage(t)
			b.next(12, append([]market.Fact{older(concentrated)}, test.facts...))
			p := b.db.pools[poolA]
			if p.Untrusted != test.want || len(b.db.ticks[poolA]) != test.ticks || p.CreatedBlock != 0 {
				t.Errorf("%d ticks, and the pool is %+v", len(b.db.ticks[poolA]), p)
			}
			if told := p.Tick == -600 && p.Liquidity == e18(7) && p.SqrtPriceX96 == sqrtPrice(-600); told != (test.want == market.Trusted) {
				t.Errorf("the pool is %+v", p)
			}
		})
	}
	t.Run("other pools", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		hooked := created(market.UniswapV4, v4, poolB, cat, usdc)
		hooked.Hooks = carol
		reserves := created(market.UniswapV2, v2, poolC, pup, usdc)
		b.next(12, []market.Fact{older(hooked)}, tx(concentrated, priced(poolA, 0), positioned(poolA, -600, 600, e18(1))))
		of := func(pool market.Address) market.PoolStateFact {
			f := good
			f.Pool = pool
			return f
		}
		b.next(12, []market.Fact{of(poolA), of(poolB), of(crowd(1))})
		if p := b.db.pools[poolA]; p.Tick != 0 || p.Liquidity != e18(1) || p.Untrusted != market.Trusted {
			t.Errorf("a pool whose creation was seen is %+v", p)
		}
		if p := b.db.pools[poolB]; !p.Liquidity.IsZero() || p.Untrusted != market.UntrustedHook {
			t.Errorf("a pool with a hook is %+v", p)
		}
		if _, known := b.db.pools[crowd(1)]; known {
			t.Error("a state makes a pool")
		}
		b.next(12, []market.Fact{older(reserves), market.PoolStateFact{Pool: poolC, Reserve0: e18(3), Reserve1: e18(4)}})
		if p := b.db.pools[poolC]; p.Reserve0 != e18(3) || p.Reserve1 != e18(4) {
			t.Errorf("a pool of reserves is %+v", p)
		}
	})
}
