package derive_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// windowedState is what a pool older than the index held, of whose ticks those within a window are told.
func windowedState(t fataler, id market.Address, whole market.TickMap, w market.TickWindow, tick int32) market.PoolStateFact {
	t.Helper()
	f := wholeState(id, whole, tick)
	inside := slices.DeleteFunc(slices.Clone(whole), func(n market.TickNet) bool { return n.Tick <= w.Lower || n.Tick >= w.Upper })
	closed, ok := inside.Close(w, tick, f.Liquidity)
	if !ok {
		t.Fatalf("the ticks %v have no window %+v", whole, w)
	}
	f.Ticks, f.Window = string(closed.Marshal()), w
	return f
}

func wholeState(id market.Address, whole market.TickMap, tick int32) market.PoolStateFact {
	return market.PoolStateFact{Pool: id, SqrtPriceX96: sqrtPrice(tick), Tick: tick, Liquidity: liquidityAt(whole, tick), Ticks: string(whole.Marshal())}
}

func liquidityAt(m market.TickMap, tick int32) market.Amount {
	var sum market.SignedAmount
	for _, n := range m {
		if n.Tick <= tick {
			sum = sum.Add(n.Net)
		}
	}
	return sum.Abs
}

// swappedTo is a purchase of dog that leaves the price at a tick.
func swappedTo(id market.Address, whole market.TickMap, tick int32) market.Event {
	return market.Swap{
		Pool: id, Sender: router, Recipient: alice, Amount0: out(e18(1)), Amount1: in(e18(1)), SqrtPriceX96: sqrtPrice(tick), Tick: tick,
		Liquidity: liquidityAt(whole, tick),
	}
}

// TestAWindowIsAsGoodAsAll has random liquidity come and go, and trades move the price within the window. Price, depth and active liquidity are those by
// all ticks, to the last bit, and what is locked is no more.
func TestAWindowIsAsGoodAsAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := market.TickMap{}
		var positions []market.RangeLiquidity
		draw := func() market.RangeLiquidity {
			lower := rapid.Int32Range(-40, 39).Draw(t, "lower") * 100
			return market.RangeLiquidity{
				Pool: poolA, TickLower: lower, TickUpper: rapid.Int32Range(lower/100+1, 40).Draw(t, "upper") * 100,
				Delta: in(e18(rapid.Uint64Range(1, 10_000).Draw(t, "liquidity"))),
			}
		}
		change := func(e market.RangeLiquidity) { whole.ChangeRange(e.TickLower, e.TickUpper, e.Delta) }
		for range rapid.IntRange(1, 20).Draw(t, "positions") {
			positions = append(positions, draw())
			change(positions[len(positions)-1])
		}
		w := market.TickWindow{Lower: rapid.Int32Range(-20, -1).Draw(t, "window's lower") * 300, Upper: rapid.Int32Range(5, 20).Draw(t, "window's upper") * 300}
		c := config()
		all, windowed := newIndexer(t, c, 100_000), newIndexer(t, c, 100_000)
		step := newChain()
		apply := func(fact func() market.Fact, facts []market.Fact, events ...market.Event) market.Block {
			b := step.block(12, facts, tx(events...))
			for _, x := range []*indexer{all, windowed} {
				own := b
				if own.Facts = slices.Clone(facts); fact != nil {
					own.Facts = append(own.Facts, wholeState(poolA, whole, 600))
					if x == windowed {
						own.Facts[len(own.Facts)-1] = fact()
					}
				}
				x.apply(t, []market.Block{own}, own.Header)
			}
			return b
		}
		base := rapid.SampledFrom([][2]market.Address{{dog, weth}, {usdc, dog}}).Draw(t, "tokens") // the base is token0, or token1
		apply(func() market.Fact { return windowedState(t, poolA, whole, w, 600) }, append(facts(usdc, weth, dog), olderPool(poolA, base[0], base[1])))
		tick := int32(600)
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			var events []market.Event
			for range rapid.IntRange(1, 4).Draw(t, "events") {
				switch rapid.IntRange(0, 2).Draw(t, "event") {
				case 0:
					e := draw()
					positions = append(positions, e)
					change(e)
					events = append(events, e)
				case 1:
					if len(positions) == 0 {
						continue
					}
					i := rapid.IntRange(0, len(positions)-1).Draw(t, "burnt")
					e := positions[i]
					positions = slices.Delete(positions, i, i+1)
					e.Delta = e.Delta.Negate()
					change(e)
					events = append(events, e)
				default:
					if next := rapid.Int32Range(w.Lower/600, w.Upper/600).Draw(t, "moved to") * 600; w.HasDepth(next) {
						tick = next
					}
					events = append(events, swappedTo(poolA, whole, tick))
				}
			}
			apply(nil, nil, events...)
			is, want := windowed.db.pools[poolA], all.db.pools[poolA]
			if is.Untrusted != market.Trusted || is.Window != w || is.Price != want.Price || is.Liquidity != want.Liquidity || is.Tick != want.Tick ||
				is.Liquidity != liquidityAt(whole, tick) {
				t.Fatalf("with a window it is %+v, with all ticks %+v", is, want)
			}
			if is.Depth != want.Depth || is.Locked > want.Locked*(1+1e-12) {
				t.Fatalf("at %d of %+v depth and locked are %v and %v, with all ticks %v and %v", tick, w, is.Depth, is.Locked, want.Depth, want.Locked)
			}
		}
	})
}

// windowStory is a pool older than the index that prices dog, deep within its window, and a shallow pair beside it.
func windowStory(b *bench, whole market.TickMap, w market.TickWindow) {
	b.t.Helper()
	b.next(12, []market.Fact{olderPool(poolA, dog, weth), windowedState(b.t, poolA, whole, w, 0)}, tx(swappedTo(poolA, whole, 0)))
	b.next(12, nil, tx(pair(poolB, dog, usdc), synced(poolB, e18(10), e6(20_000))))
	b.wantReference(dog, poolA)
}

var (
	manyTicks  = market.TickMap{}.AddRange(-60_000, 60_000, in(e18(1_000))).AddRange(-1200, 1200, in(e18(4_000)))
	someWindow = market.TickWindow{Lower: -1800, Upper: 1800}
)

// TestLeavingAWindow: a block that closes with the price within 2 % of an end of the window, or outside, ends what is known of the ticks, another one doesn't,
// wherever the price was meanwhile.
func TestLeavingAWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ticks []int32
		stays bool
	}{
		"down to 2 % of its end":   {[]int32{-1800 + market.DepthTicks}, true},
		"nearer to its lower end":  {[]int32{-1801 + market.DepthTicks}, false},
		"below its lower end":      {[]int32{-1801}, false},
		"up to 2 % of its end":     {[]int32{1800 - market.DepthTicks}, true},
		"nearer to its upper end":  {[]int32{1801 - market.DepthTicks}, false},
		"to its upper end":         {[]int32{1800}, false},
		"out and back":             {[]int32{3000, 600}, true},
		"back, and out once more":  {[]int32{3000, 600, 3000}, false},
		"to the other side of it":  {[]int32{-3000, 3000}, false},
		"out of it by a new price": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := stage(t, minimum(1000))
			windowStory(b, manyTicks, someWindow)
			before, ticks := b.db.pools[poolA], b.db.ticks[poolA]
			events := tx(positioned(poolA, -3000, 3000, e18(10)))
			moved := manyTicks.AddRange(-3000, 3000, in(e18(10)))
			for _, tick := range c.ticks {
				events = append(events, swappedTo(poolA, moved, tick))
			}
			if c.ticks == nil {
				events = append(events, priced(poolA, 2400))
			}
			left := b.next(12, nil, events)
			p := b.db.pools[poolA]
			if c.stays {
				if p.Untrusted != market.Trusted || p.Window != someWindow || p.Locked == 0 || len(b.db.waiting) != 0 || len(b.db.trades) != 1+len(c.ticks) {
					t.Errorf("the pool is %+v, %d trades wait", p, len(b.db.waiting))
				}
				return
			}
			if _, kept := b.db.ticks[poolA]; kept || p.Untrusted != market.UntrustedTicks || !p.Window.IsWhole() || p.Price == 0 {
				t.Errorf("its ticks are kept: %v, the pool is %+v", kept, p)
			}
			if len(b.db.waiting) != len(c.ticks) || len(b.db.trades) != 1 {
				t.Errorf("%d trades wait, %d are kept", len(b.db.waiting), len(b.db.trades))
			}
			// A reorg brings the window back.
			b.db.undo(t, &left)
			b.last = b.blocks[len(b.blocks)-2].Header
			b.rewind(t, b.last, []market.Changes{left})
			if b.db.pools[poolA] != before || !slices.Equal(b.db.ticks[poolA], ticks) || len(b.db.waiting) != 0 {
				t.Errorf("after a reorg the pool is %+v, it was %+v", b.db.pools[poolA], before)
			}
		})
	}
}

// TestAPriceDoesNotFlap: a pool that left its window is asked anew, here only before the block that trades in it next. It stays the one that prices its token, and the trades
// of the block in which it left are kept with those that follow.
func TestAPriceDoesNotFlap(t *testing.T) {
	t.Parallel()
	b := stage(t, minimum(1000))
	windowStory(b, manyTicks, someWindow)
	b.next(12, nil, tx(swappedTo(poolA, manyTicks, 3000)))
	b.idle(8, 2)
	if token := b.db.tokens[dog]; token.Pool != poolA || token.Candidate != poolB {
		t.Fatalf("out of its window the token is %+v", token)
	}
	out := b.usd(dog)
	if !near(out, 2000*b.db.pools[poolA].Price) {
		t.Errorf("dog is at %v USD", out)
	}
	next := market.TickWindow{Lower: 1200, Upper: 4800}
	b.next(2, []market.Fact{windowedState(t, poolA, manyTicks, next, 3000)}, tx(swappedTo(poolA, manyTicks, 3600)))
	b.idle(20, 12)
	p := b.db.pools[poolA]
	if token := b.db.tokens[dog]; token.Pool != poolA || !token.Candidate.IsNone() || p.Window != next || p.Untrusted != market.Trusted {
		t.Errorf("with its next window the token is %+v, the pool %+v", token, p)
	}
	if len(b.db.waiting) != 0 || len(b.db.trades) != 3 || b.db.trades[1].CloseNative == 0 || p.Day.Buys != 3 {
		t.Errorf("%d trades wait, %d are kept", len(b.db.waiting), len(b.db.trades))
	}
}

// TestWindowsAnyBatches: blocks that leave a window, and take another one, give the same rows however they are cut into batches.
func TestWindowsAnyBatches(t *testing.T) {
	t.Parallel()
	b := stage(t, minimum(1000))
	windowStory(b, manyTicks, someWindow)
	moved := manyTicks.AddRange(-9000, 9000, in(e18(10)))
	b.next(12, nil, tx(swappedTo(poolA, manyTicks, 3000)), tx(positioned(poolA, -9000, 9000, e18(10))))
	b.next(12, nil, tx(positioned(poolA, -600, 600, e18(1)), market.RangeLiquidity{Pool: poolA, TickLower: -600, TickUpper: 600, Delta: out(e18(1))}))
	b.next(12, []market.Fact{windowedState(t, poolA, moved, market.TickWindow{Lower: 1200, Upper: 4800}, 3000)}, tx(swappedTo(poolA, moved, 4200)))
	b.next(12, nil, tx(swappedTo(poolA, moved, -600)), tx(swappedTo(poolA, moved, 4200)))
	b.next(12, []market.Fact{wholeState(poolA, moved, 4200)}, tx(swappedTo(poolA, moved, 60_600)))
	if p := b.db.pools[poolA]; p.Untrusted != market.Trusted || !p.Window.IsWhole() || len(b.db.trades) != 6 {
		t.Fatalf("the pool is %+v, with %d trades", p, len(b.db.trades))
	}
	for _, length := range []int{2, 3, 100} {
		for _, restart := range []bool{false, true} {
			x := newIndexer(t, config(minimum(1000)), 0)
			batched(t, x, b.blocks, func() int { return length }, restart)
			if d := b.db.differences(x.db); len(d) > 0 {
				t.Errorf("in batches of %d, restarting %v:\n%s", length, restart, strings.Join(d, "\n"))
			}
		}
	}
}

// TestAFalseWindow: a state whose ticks or price lie outside of its window changes nothing.
func TestAFalseWindow(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*market.PoolStateFact){
		"ends that are the wrong way round": func(f *market.PoolStateFact) { f.Window = market.TickWindow{Lower: 1800, Upper: -1800} },
		"a price above it":                  func(f *market.PoolStateFact) { f.Tick = 1800 },
		"a price below it":                  func(f *market.PoolStateFact) { f.Tick = -1801 },
		"a tick above it":                   func(f *market.PoolStateFact) { f.Window.Upper = 1199 },
		"a tick below it":                   func(f *market.PoolStateFact) { f.Window.Lower = -1199 },
	} {
		b := stage(t)
		state := windowedState(t, poolA, manyTicks, someWindow, 0)
		change(&state)
		b.next(12, []market.Fact{olderPool(poolA, dog, weth), state})
		if p := b.db.pools[poolA]; p.Untrusted != market.UntrustedTicks || !p.Window.IsWhole() || len(b.db.ticks[poolA]) != 0 {
			t.Errorf("%s: the pool is %+v", name, p)
		}
	}
}

// TestASaleInTheBlockOfANewWindow: a pool that is asked anew before a block has its liquidity before that block, so that a member's sale in it counts.
func TestASaleInTheBlockOfANewWindow(t *testing.T) {
	t.Parallel()
	b := stage(t, minimum(1000), counted(1000))
	windowStory(b, manyTicks, someWindow)
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time)}, tx(moved(dog, poolA, alice, e18(100)), swappedTo(poolA, manyTicks, 0)))
	b.next(12, nil, tx(swappedTo(poolA, manyTicks, 3000)))
	if p := b.db.pools[poolA]; p.Untrusted != market.UntrustedTicks || p.Locked != 0 {
		t.Fatalf("out of its window the pool is %+v", p)
	}
	sale := market.Swap{
		Pool: poolA, Sender: router, Recipient: alice, Amount0: in(e18(1)), Amount1: out(e18(1)), SqrtPriceX96: sqrtPrice(3000), Tick: 3000,
		Liquidity: liquidityAt(manyTicks, 3000),
	}
	b.next(12, []market.Fact{windowedState(t, poolA, manyTicks, market.TickWindow{Lower: 1200, Upper: 4800}, 3000)}, tx(moved(dog, alice, poolA, e18(1)), sale))
	if p, _ := b.profit(1); p.Sales != 1 || p.IneligibleSells != 0 {
		t.Errorf("the sale is counted as %+v", p)
	}
}

// TestAVouchedHookIsKept: a launch's own pool, for whose hook its venue vouches, may get too many ticks and be asked for a window of them. It prices its token
// all the same.
func TestAVouchedHookIsKept(t *testing.T) {
	t.Parallel()
	b := stage(t)
	pool := poolID(5)
	b.launchPup()
	b.next(12, nil, tx(hooked(pool), fills(pool), graduatedTo(pool)))
	p := b.db.pools[pool]
	if p.Untrusted != market.Trusted {
		t.Fatalf("the pool is %q", p.Untrusted)
	}
	p.Window = someWindow
	b.db.pools[pool] = p
	b.restart(b.last)
	b.next(12, []market.Fact{windowedState(t, pool, manyTicks, someWindow, 0)}, tx(swappedTo(pool, manyTicks, 600)))
	if p := b.db.pools[pool]; p.Untrusted != market.Trusted || p.Window != someWindow || p.Tick != 600 {
		t.Errorf("asked for its state the pool is %+v", p)
	}
}

// TestAHookStaysOne: a pool of a hook that isn't declared prices nothing, whatever becomes of its ticks and whatever it is asked for.
func TestAHookStaysOne(t *testing.T) {
	t.Parallel()
	b := stage(t)
	hooked := created(market.UniswapV4, v4, poolID(1), dog, usdc)
	hooked.Hooks = badHook
	b.next(12, []market.Fact{market.PoolFact{Pool: hooked.Pool, Known: true, Info: hooked}})
	// Liquidity that goes and was never seen come.
	b.next(12, nil, tx(market.RangeLiquidity{Pool: hooked.Pool, TickLower: -600, TickUpper: 600, Delta: out(e18(1))}))
	if p := b.db.pools[hooked.Pool]; p.Untrusted != market.UntrustedHook {
		t.Errorf("with less than nothing in it the pool is %q", p.Untrusted)
	}
	b.next(12, []market.Fact{windowedState(t, hooked.Pool, manyTicks, someWindow, 0)}, tx(swappedTo(hooked.Pool, manyTicks, 600)))
	if p := b.db.pools[hooked.Pool]; p.Untrusted != market.UntrustedHook {
		t.Errorf("asked for its state the pool is %q", p.Untrusted)
	}
	// An earlier version wrote such a pool as one whose ticks aren't known.
	p := b.db.pools[hooked.Pool]
	p.Untrusted = market.UntrustedTicks
	b.db.pools[hooked.Pool] = p
	b.restart(b.last)
	b.next(12, []market.Fact{windowedState(t, hooked.Pool, manyTicks, someWindow, 0)}, tx(swappedTo(hooked.Pool, manyTicks, 600)))
	if p := b.db.pools[hooked.Pool]; p.Untrusted != market.UntrustedHook {
		t.Errorf("asked for its state the pool of an earlier version is %q", p.Untrusted)
	}
}
