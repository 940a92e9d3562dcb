package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestMinutesThatLeaveTheWindow: a batch asks for the minutes that leave the last 24 hours while it lasts: those after the ones that had left at the
// last block, up to the one that leaves at the newest header. An index without a block yet asks for none.
func TestMinutesThatLeaveTheWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := func(second int64) market.Header { return market.Header{Number: 200, Time: genesis.Time + second} }
	w := b.machine.Keys(derive.NewState(market.Beginning{Last: at(90)}), nil, at(250))
	if from, to := w.ExpireFrom-genesis.Time+day, w.ExpireTo-genesis.Time+day; from != 120 || to != 240 {
		t.Errorf("the minutes asked for open from %d to %d s after those of a day before, want 120 to 240", from, to)
	}
	if w = b.machine.Keys(derive.NewState(market.Beginning{Last: at(90)}), nil, at(110)); w.ExpireFrom <= w.ExpireTo {
		t.Errorf("inside one minute those from %d to %d are asked for, want none", w.ExpireFrom, w.ExpireTo)
	}
	if w = b.machine.Keys(derive.NewState(market.Beginning{}), nil, at(250)); w.ExpireFrom <= w.ExpireTo {
		t.Errorf("without a block those from %d to %d are asked for, want none", w.ExpireFrom, w.ExpireTo)
	}
}

// TestTradeAtACandlesOpening: a trade in the very second in which a candle opens is in that candle, and a later batch finds it there.
func TestTradeAtACandlesOpening(t *testing.T) {
	t.Parallel()
	b := stage(t)
	trade := swapped(poolA, out(e18(1)), in(e6(1)), router, alice)
	b.next(day-12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(100), e6(100)), trade))
	b.restart(b.last)
	b.next(12, nil, tx(trade))
	for _, interval := range market.StoredIntervals {
		if got := b.db.candles[market.CandleKey{Pool: poolA, Interval: interval, Open: genesis.Time + day}].Buys; got != 2 {
			t.Errorf("the candle of %d s has %d buys, want 2", interval, got)
		}
	}
}

// TestAPoolWithoutTicksIsLoadedOnce: what is known to have no ticks isn't asked for again in every batch that touches it.
func TestAPoolWithoutTicksIsLoadedOnce(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(created(market.UniswapV3, v3, poolA, dog, usdc), priced(poolA, 0)))
	b.restart(b.last)
	block := b.block(12, nil, tx(priced(poolA, 600), priced(poolB, 600))) // nobody knows poolB
	b.load([]market.Block{block}, block.Header)
	if w := b.machine.Keys(b.state, []market.Block{block}, block.Header); len(w.Pools) != 0 {
		t.Errorf("%v are asked for once more", w.Pools)
	}
}

// TestGraduationInTheBatchOfTheLaunch: a curve's own contract names no token. Where it graduates one in the batch of blocks that launches it, the pool
// that it names is loaded all the same, and is listed as the token's own.
func TestGraduationInTheBatchOfTheLaunch(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolB, pup, weth))) // without liquidity, so that it isn't listed
	b.restart(b.last)
	first := len(b.blocks)
	b.block(12, facts(pup), tx(moved(pup, nobody, ownCurve, e18(1000)), launched(func(e *market.Launched) { e.Curve = ownCurve })))
	b.block(12, nil, tx(market.Graduated{Curve: ownCurve, Pool: poolB}))
	b.apply(t, b.blocks[first:], b.last)
	if l, p := b.db.launches[pup], b.db.pools[poolB]; l.State != market.LaunchGraduated || l.Pool != poolB || p.Unlisted {
		t.Errorf("the launch is %+v, and its pool unlisted: %v", l, p.Unlisted)
	}
}
