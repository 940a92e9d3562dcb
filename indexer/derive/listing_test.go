package derive_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// crowd is the n-th of many pools with an address of their own, idOf the n-th with an id in V4's manager.
func crowd(n int) market.Address {
	a, err := market.AddressFromBytes([]byte{0xcd, 17: byte(n >> 16), 18: byte(n >> 8), 19: byte(n)})
	if err != nil {
		panic(err)
	}
	return a
}

func idOf(n int) market.Address {
	return market.PoolID([32]byte{0x2d, 29: byte(n >> 16), 30: byte(n >> 8), 31: byte(n)})
}

// emptyPool initialises a V4 pool of dog and USDC with a hook that nobody declared, or none: what costs a stranger 51,700 gas.
func emptyPool(n int, hook market.Address) market.Event {
	return market.PoolCreated{
		Protocol: market.UniswapV4, Factory: v4, Pool: idOf(n), Token0: dog, Token1: usdc, Hooks: hook, SqrtPriceX96: sqrtPrice(0), TickSpacing: 60,
	}
}

// pairs makes pairs of dog and USDC, the n-th with n·unit USDC in it, and as many dogs.
func pairs(from, to int, unit uint64) (events []market.Event) {
	for n := from; n <= to; n++ {
		events = append(events, pair(crowd(n), dog, usdc), synced(crowd(n), e18(uint64(n)*unit), e6(uint64(n)*unit)))
	}
	return events
}

// listed are the listed pools of dog.
func (b *bench) listed() (ids []market.Address) {
	for _, id := range slices.SortedFunc(maps.Keys(b.db.pools), market.Address.Compare) {
		if p := b.db.pools[id]; p.Base == dog && !p.Unlisted {
			ids = append(ids, id)
		}
	}
	return ids
}

func (b *bench) wantListed(id market.Address, want bool) {
	b.t.Helper()
	p, ok := b.db.pools[id]
	if !ok || p.Unlisted == want {
		b.t.Errorf("block %d: pool %s is there: %v, listed: %v; want %v", b.last.Number, id, ok, !p.Unlisted, want)
	}
}

func TestAPoolIsListedFromItsFirstLiquidity(t *testing.T) {
	t.Parallel()
	late := func(protocol market.Protocol, factory market.Address) []market.Fact {
		return []market.Fact{market.PoolFact{Pool: poolA, Known: true, Info: created(protocol, factory, poolA, dog, usdc)}}
	}
	swap := market.Swap{Pool: poolA, Sender: router, Recipient: alice, Amount0: out(e18(1)), Amount1: in(e6(1)), SqrtPriceX96: sqrtPrice(0)}
	liquid := swap
	liquid.Liquidity = e18(5)
	v3Pool, v4Pool := created(market.UniswapV3, v3, poolA, dog, usdc), emptyPool(1, badHook)
	removed := market.RangeLiquidity{Pool: poolA, TickLower: -60, TickUpper: 60, Delta: out(e18(1))}
	swapped4 := swap
	swapped4.Pool = idOf(1)
	tests := []struct {
		name   string
		facts  []market.Fact
		events []market.Event
		pool   market.Address
		want   bool
	}{
		{"a new pair", nil, tx(pair(poolA, dog, usdc)), poolA, false},
		{"a pair with one side", nil, tx(pair(poolA, dog, usdc), synced(poolA, raw(0), e6(5))), poolA, false},
		{"a pair with both", nil, tx(pair(poolA, dog, usdc), synced(poolA, raw(1), raw(1))), poolA, true},
		{"a pair that is emptied in the same block", nil, tx(pair(poolA, dog, usdc), synced(poolA, raw(1), raw(1)), synced(poolA, raw(0), raw(0))), poolA, false},
		{"a V3 pool with a price", nil, tx(v3Pool, priced(poolA, 0)), poolA, false},
		{"a V3 pool with a position at the price", nil, tx(v3Pool, priced(poolA, 0), positioned(poolA, -60, 60, e18(1))), poolA, true},
		{"a V3 pool with a position elsewhere", nil, tx(v3Pool, priced(poolA, 0), positioned(poolA, 60, 120, e18(1))), poolA, true},
		{"a V3 pool that is emptied in the same block", nil, tx(v3Pool, priced(poolA, 0), positioned(poolA, -60, 60, e18(1)), removed), poolA, false},
		{"a V4 pool with a price", nil, tx(v4Pool), idOf(1), false},
		{"a V4 pool whose hook gives what is traded", nil, tx(v4Pool, swapped4), idOf(1), true},
		{"an older pair", late(market.UniswapV2, v2), nil, poolA, false},
		{"an older pair that trades", late(market.UniswapV2, v2), tx(synced(poolA, e18(1), e6(1)), swapped(poolA, out(e18(1)), in(e6(1)), router, alice)), poolA, true},
		{"an older V3 pool that trades", late(market.UniswapV3, v3), tx(liquid), poolA, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := stage(t)
			b.next(12, tt.facts, tt.events)
			b.wantListed(tt.pool, tt.want)
		})
	}
	t.Run("and stays so when all of it is taken out", func(t *testing.T) {
		t.Parallel()
		b := stage(t)
		b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1), e6(1))))
		b.next(12, nil, tx(synced(poolA, raw(0), raw(0))))
		b.wantListed(poolA, true)
	})
}

// TestTheDeepestPoolsAreListed holds the bound at its edge.
func TestTheDeepestPoolsAreListed(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{63: 63, 64: 64, 65: 64} {
		b := stage(t)
		b.next(12, nil, tx(pairs(1, n, 100)...))
		if got := b.listed(); len(got) != want {
			t.Errorf("of %d pools with liquidity %d are listed, want %d", n, len(got), want)
		}
		b.wantListed(crowd(1), n <= 64)
		b.wantListed(crowd(2), true)
		b.wantReference(dog, crowd(n))
	}
}

// TestAPoolComesBack has pools fall out of the deepest and come back by what their own events say.
func TestAPoolComesBack(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pairs(1, 65, 100)...))
	b.next(12, nil, tx(synced(crowd(1), e18(200), e6(200)))) // as deep as the last
	b.wantListed(crowd(1), false)
	b.next(12, nil, tx(synced(crowd(1), e18(201), e6(201))))
	b.wantListed(crowd(1), true)
	b.wantListed(crowd(2), false)
	// A pool whose liquidity was withdrawn stays listed until another pool with liquidity needs the place.
	b.next(12, nil, tx(synced(crowd(40), raw(0), raw(0))))
	b.wantListed(crowd(40), true)
	b.next(12, nil, tx(pair(crowd(70), dog, usdc)))
	b.wantListed(crowd(40), true)
	b.next(12, nil, tx(synced(crowd(2), e18(1), e6(1))))
	b.wantListed(crowd(40), false)
	b.wantListed(crowd(2), true)
	b.next(12, nil, tx(synced(crowd(40), e18(4000), e6(4000))))
	b.wantListed(crowd(40), true)
	b.wantListed(crowd(2), false)
	if got := b.listed(); len(got) != market.ListedPools {
		t.Errorf("%d pools are listed, want %d", len(got), market.ListedPools)
	}
}

// TestTheReferenceStaysListed has 64 pools deeper than the one that prices the token, but none by half.
func TestTheReferenceStaysListed(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1000), e6(1000))))
	var deeper []market.Event
	for n := 1; n <= 64; n++ {
		deeper = append(deeper, pair(crowd(n), dog, usdc), synced(crowd(n), e18(1400), e6(1400)))
	}
	b.next(12, nil, tx(deeper...))
	b.idle(12, 12)
	b.wantListed(poolA, true)
	b.wantReference(dog, poolA)
	if got := b.listed(); len(got) != market.ListedPools {
		t.Errorf("%d pools are listed, want %d", len(got), market.ListedPools)
	}
	// The candidate for the reference stays listed too, however many deeper pools come while it waits.
	b.next(12, nil, tx(synced(crowd(7), e18(1500), e6(1500))))
	deeper = nil
	for n := 101; n <= 164; n++ {
		deeper = append(deeper, pair(crowd(n), dog, usdc), synced(crowd(n), e18(1499), e6(1499)))
	}
	b.next(12, nil, tx(deeper...))
	b.wantListed(crowd(7), true)
	b.idle(12, 12)
	b.wantReference(dog, crowd(7))
}

// TestUntrustedPoolsPushNoTrustedOneOut gives pools that may price nothing all the depth there is.
func TestUntrustedPoolsPushNoTrustedOneOut(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pairs(1, 3, 1)...))
	for round := range 3 {
		var hooked []market.Event
		for n := 100 * round; n < 100*round+64; n++ {
			hooked = append(hooked, emptyPool(n, badHook), positioned(idOf(n), -6000, 6000, units(1, 30)))
		}
		b.next(12, nil, tx(hooked...))
		for n := 1; n <= 3; n++ {
			b.wantListed(crowd(n), true)
		}
		b.wantReference(dog, crowd(3))
		if got := b.listed(); len(got) != market.ListedPools {
			t.Errorf("%d pools are listed, want %d", len(got), market.ListedPools)
		}
	}
	// A trusted one that comes later, and holds next to nothing, takes an untrusted one's place.
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1), raw(10))))
	b.wantListed(poolA, true)
	// Where 64 trusted ones are, no untrusted one has a place.
	b.next(12, nil, tx(pairs(4, 80, 1)...))
	b.next(12, nil, tx(swapped(idOf(5), out(e18(1)), in(e6(1)), router, alice)))
	for _, id := range b.listed() {
		if b.db.pools[id].Untrusted != market.Trusted {
			t.Fatalf("%s is listed", id)
		}
	}
}

// TestPoolsThatPriceNothingAreRanked has 64 pools that don't count as a reference, and one that comes before all of them though its id is
// the last.
func TestPoolsThatPriceNothingAreRanked(t *testing.T) {
	t.Parallel()
	// A position of liquidity 10^12 is as much in USDC, which has 6 decimals, as one of 10^24 is in WETH. One WETH is worth 2,000 USDC: one of
	// 10^21 is twice as much in USD, and a thousandth in whole coins.
	usdcLiquidity, wethLiquidity := units(1, 12), units(1, 21)
	ranged := func(n int, quote, hook market.Address, lower, upper int32, liquidity market.Amount) []market.Event {
		p := created(market.UniswapV4, v4, idOf(n), dog, quote)
		p.Hooks, p.SqrtPriceX96 = hook, sqrtPrice(0)
		return tx(p, positioned(idOf(n), lower, upper, liquidity))
	}
	none := market.Address{}
	tests := []struct {
		name        string
		many, first func(n int) []market.Event
	}{
		{
			"a trusted one without depth before untrusted ones",
			func(n int) []market.Event { return ranged(n, usdc, badHook, -6000, 6000, usdcLiquidity) },
			func(n int) []market.Event { return ranged(n, usdc, none, -12000, -6000, usdcLiquidity) },
		},
		{
			"the deepest in USD of untrusted ones",
			func(n int) []market.Event { return ranged(n, usdc, badHook, -6000, 6000, usdcLiquidity) },
			func(n int) []market.Event { return ranged(n, weth, badHook, -6000, 6000, wethLiquidity) },
		},
		{
			"the one with the most USD of those without depth",
			func(n int) []market.Event { return ranged(n, usdc, none, -12000, -6000, usdcLiquidity) },
			func(n int) []market.Event { return ranged(n, weth, none, -12000, -6000, wethLiquidity) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := stage(t)
			var events []market.Event
			for n := 1; n <= market.ListedPools; n++ {
				events = append(events, tt.many(n)...)
			}
			b.next(12, nil, append(events, tt.first(market.ListedPools+1)...))
			b.wantReference(dog, none)
			b.wantListed(idOf(market.ListedPools+1), true)
			b.wantListed(idOf(market.ListedPools), false)
		})
	}
}

// TestALaunchTakesAPoolsPlace launches a token that has as many listed pools as there may be: its curve is listed from the launch on.
func TestALaunchTakesAPoolsPlace(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pairs(1, market.ListedPools, 100)...))
	b.next(12, nil, tx(launched(func(e *market.Launched) { e.Token = dog })))
	b.wantListed(market.CurveID(dog), true)
	b.wantListed(crowd(1), false) // the shallowest
	if got := b.listed(); len(got) != market.ListedPools {
		t.Errorf("%d pools are listed, want %d", len(got), market.ListedPools)
	}
}

// TestAFloodOfPools makes 10,000 pools with dust in them around one that is real.
func TestAFloodOfPools(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1000), e6(100_000))))
	for round := range 10 {
		var dust []market.Event
		for n := 1000 * round; n < 1000*round+1000; n++ {
			dust = append(dust, pair(crowd(n), dog, usdc), synced(crowd(n), raw(1e6), raw(uint64(1000+n))))
		}
		b.next(12, nil, tx(dust...))
	}
	b.wantListed(poolA, true)
	b.wantReference(dog, poolA)
	b.wantUSD(dog, 100)
	if got := b.listed(); len(got) != market.ListedPools {
		t.Errorf("%d pools are listed, want %d", len(got), market.ListedPools)
	}
	b.next(12, nil, tx(pair(poolB, dog, usdc), synced(poolB, e18(1000), e6(150_000))))
	b.idle(12, 12)
	b.wantReference(dog, poolB)
}

// TestEmptyPoolsAreNotLoaded counts the rows that a block of a token costs after a flood of empty pools.
func TestEmptyPoolsAreNotLoaded(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(1000), e6(100_000))))
	var empty []market.Event
	for n := range 2000 {
		empty = append(empty, emptyPool(n, market.Address{}))
	}
	b.next(12, nil, tx(empty...))
	b.restart(b.last)
	block := b.block(12, nil, tx(synced(poolA, e18(1000), e6(100_001))))
	most := 0
	for _, wanted := range []func() market.Wanted{
		func() market.Wanted { return b.machine.Keys(b.state, []market.Block{block}, block.Header) },
		func() market.Wanted { return b.machine.MoreKeys(b.state, []market.Block{block}, block.Header) },
	} {
		w := wanted()
		rows := b.db.load(w)
		most = max(most, len(rows.Pools))
		b.state.Put(w, rows)
	}
	if most > 3 {
		t.Errorf("a block loads %d pools, want the one that it changes and what prices WETH", most)
	}
}

// TestALaunchsOwnPoolsStayListed gives a launched token deeper pools than its curve, and than the pool that it moved to.
func TestALaunchsOwnPoolsStayListed(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(pair(poolA, pup, weth)))
	b.wantListed(poolA, false)
	crowded := func(from int) (events []market.Event) {
		for n := from; n < from+64; n++ {
			events = append(events, pair(crowd(n), pup, weth), synced(crowd(n), e18(100_000), e18(5)))
		}
		return events
	}
	b.next(12, nil, tx(crowded(1)...))
	b.wantListed(market.CurveID(pup), true)
	// The pool that the token moves to is listed as soon as the launch names it, though nothing is in it yet.
	b.next(12, nil, tx(market.Graduated{Venue: "pad", Curve: pad, Token: pup, Pool: poolA}))
	if got := b.db.launches[pup].Pool; got != poolA {
		t.Fatalf("the launch moved to %s", got)
	}
	b.wantListed(poolA, true)
	b.next(12, nil, tx(crowded(101)...))
	b.wantListed(poolA, true)
	b.wantListed(market.CurveID(pup), true)
	b.restart(b.last)
	b.next(12, nil, tx(synced(poolA, e18(200), e18(40))))
	b.wantReference(pup, poolA)
}

// TestAPoolFromBeforeTheLaunchIsNoHolder has a pair of a token that isn't launched yet, which is filled later.
func TestAPoolFromBeforeTheLaunchIsNoHolder(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, facts(pup), tx(pair(poolA, pup, weth)))
	b.restart(b.last)
	b.launchPup()
	b.next(12, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
	b.restart(b.last)
	b.next(12, nil, tx(moved(pup, bob, poolA, e18(100)), synced(poolA, e18(100), e18(1))))
	if h := b.db.tokens[pup].Holders; h.Status != market.HoldersCurrent || h.Count != 1 {
		t.Errorf("holders %+v, want bob alone", h)
	}
}

// TestTicksAreLoadedForPoolsThatChange has a token with several pools of ranges, of which a block changes one.
func TestTicksAreLoadedForPoolsThatChange(t *testing.T) {
	t.Parallel()
	b := stage(t)
	for _, id := range []market.Address{poolA, poolB, poolC} {
		b.next(12, nil, tx(created(market.UniswapV3, v3, id, dog, usdc), priced(id, 0), positioned(id, -600, 600, e18(1000))))
	}
	b.restart(b.last)
	wantTicks := func(block market.Block, want ...market.Address) {
		t.Helper()
		var got []market.Address
		for _, wanted := range []func(*derive.State, []market.Block, market.Header) market.Wanted{b.machine.Keys, b.machine.MoreKeys} {
			w := wanted(b.state, []market.Block{block}, block.Header)
			rows := b.db.load(w)
			got = slices.AppendSeq(got, maps.Keys(rows.Ticks))
			b.state.Put(w, rows)
		}
		if !slices.Equal(got, want) {
			t.Errorf("block %d: the ticks of %v are loaded, want %v", block.Number, got, want)
		}
		b.apply(t, []market.Block{block}, block.Header)
	}
	wantTicks(b.block(12, nil, tx(positioned(poolA, -60, 60, e18(1)))), poolA)
	wantTicks(b.block(12, nil, tx(positioned(poolA, -60, 60, e18(1)))))
	// The next one is cached by now, without its ticks.
	wantTicks(b.block(12, nil, tx(positioned(poolB, -60, 60, e18(1)))), poolB)
	if got := len(b.db.ticks[poolB]); got != 4 {
		t.Errorf("the pool has %d ticks, want 4", got)
	}
	b.wantReference(dog, poolA)
}
