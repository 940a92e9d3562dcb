package derive_test

import (
	"math"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// pegged declares cat, which has 18 decimals, as a quote asset with a peg.
func pegged(usd, boundPct float64) func(*chainconfig.Chain) {
	return func(c *chainconfig.Chain) {
		c.Quotes = slices.Insert(c.Quotes, 2, chainconfig.Quote{Symbol: "CAT", Address: cat, PegUSD: usd, PegBoundPct: boundPct})
	}
}

// reserveOfDepth100 is the reserve of a quote of 18 decimals at which a pair's depth is 100 quotes exactly: 100/(1-sqrt(0.98)), as near as a double
// comes to it.
func reserveOfDepth100() market.Amount {
	v := raw(9_949_747_468_305_877)
	v.Mul(&v, new(raw(1_000_000)))
	return *v.Add(&v, new(raw(172_224)))
}

// TestLiquidityInRange: a position counts at its lower tick, and no more at its upper one.
func TestLiquidityInRange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lower, upper int32
		counts       bool
	}{
		"around the price":       {-600, 1200, true},
		"from the price on":      {600, 1200, true},
		"up to the price":        {-600, 600, false},
		"from above the price":   {601, 1200, false},
		"up to above the price":  {-600, 601, true},
		"from and to below that": {-600, 599, false},
	} {
		b := stage(t)
		b.next(12, nil, tx(created(market.UniswapV3, v3, poolA, dog, usdc), priced(poolA, 600), positioned(poolA, c.lower, c.upper, e18(7))))
		if got := b.db.pools[poolA].Liquidity == e18(7); got != c.counts {
			t.Errorf("a position %s counts: %v, want %v", name, got, c.counts)
		}
	}
}

// TestReservesOfAConcentratedPool: the reserves of such a pool are what its positions hold.
func TestReservesOfAConcentratedPool(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(created(market.UniswapV3, v3, poolA, dog, weth), priced(poolA, 0), positioned(poolA, -1200, 1200, e18(1000))))
	p := b.db.pools[poolA]
	want := 1000e18 * (1 - math.Pow(1.0001, -600))
	if got := p.Reserve0.Float64(); math.Abs(got-want) > 1e-6*want {
		t.Errorf("the pool holds %v of the first token, want %v", got, want)
	}
	if got := p.Reserve1.Float64(); math.Abs(got-want) > 1e-6*want {
		t.Errorf("the pool holds %v of the second token, want %v", got, want)
	}
	b.next(12, nil, tx(market.RangeLiquidity{Pool: poolA, TickLower: -1200, TickUpper: 1200, Delta: out(e18(1000))}))
	if p := b.db.pools[poolA]; !p.Reserve0.IsZero() || !p.Reserve1.IsZero() {
		t.Errorf("an empty pool holds %s and %s", p.Reserve0.Dec(), p.Reserve1.Dec())
	}
}

// TestReservesThatMove: a change of reserves counts for a pool whose reserves are known, and makes nobody's reserves known.
func TestReservesThatMove(t *testing.T) {
	t.Parallel()
	moved := func(change0, change1 market.SignedAmount) market.Event {
		return market.ReservesMoved{Pool: poolA, Change0: change0, Change1: change1}
	}
	const tokens, coins = 1000, 10
	known := synced(poolA, e18(tokens), e18(coins))
	for name, c := range map[string]struct {
		events []market.Event
		want   [2]uint64 // whole ones
	}{
		"a deposit":                 {[]market.Event{known, moved(in(e18(100)), in(e18(1)))}, [2]uint64{1100, 11}},
		"a swap":                    {[]market.Event{known, moved(in(e18(200)), out(e18(2)))}, [2]uint64{1200, 8}},
		"twice":                     {[]market.Event{known, moved(in(e18(1)), out(e18(1))), moved(in(e18(2)), out(e18(2)))}, [2]uint64{1003, 7}},
		"all of one":                {[]market.Event{known, moved(in(e18(1)), out(e18(coins)))}, [2]uint64{1001, 0}},
		"more than there is":        {[]market.Event{known, moved(in(e18(1)), out(e18(coins+1)))}, [2]uint64{}},
		"nothing known":             {[]market.Event{moved(in(e18(100)), in(e18(1)))}, [2]uint64{}},
		"nothing known of one":      {[]market.Event{synced(poolA, e18(tokens), raw(0)), moved(in(e18(100)), in(e18(1)))}, [2]uint64{tokens, 0}},
		"told again after a change": {[]market.Event{known, moved(in(e18(100)), in(e18(1))), known}, [2]uint64{tokens, coins}},
	} {
		for _, inBlocks := range []bool{false, true} {
			b := stage(t)
			b.next(12, nil, tx(pair(poolA, dog, weth)))
			if inBlocks {
				for _, e := range c.events {
					b.next(12, nil, tx(e))
				}
			} else {
				b.next(12, nil, tx(c.events...))
			}
			if p := b.db.pools[poolA]; p.Reserve0 != e18(c.want[0]) || p.Reserve1 != e18(c.want[1]) {
				t.Errorf("%s, a block each: %v: reserves %s and %s", name, inBlocks, p.Reserve0.Dec(), p.Reserve1.Dec())
			}
		}
	}
}

// TestLiquidityOfOneRange: a pool of one range has the liquidity that its creation or a swap tells, from there on with what is put in and taken out. What a pool without a known
// liquidity gets makes none known.
func TestLiquidityOfOneRange(t *testing.T) {
	t.Parallel()
	made := created(market.MeteoraDAMMv2, damm, poolA, dog, weth)
	made.SqrtPriceX96, made.Liquidity = sqrtPrice(0), e18(1000)
	withoutRange := made
	withoutRange.Liquidity = market.Amount{}
	old := seen(market.MeteoraDAMMv2, damm, poolA, dog, weth)
	changed := func(delta market.SignedAmount) market.Event { return market.RangeLiquidity{Pool: poolA, Delta: delta} }
	swapTo := func(tick int32, crossed market.Amount) market.Event {
		return market.Swap{Pool: poolA, Sender: router, Recipient: router, Amount0: in(e18(1)), Amount1: out(e18(1)), SqrtPriceX96: sqrtPrice(tick), Crossed: crossed}
	}
	rise := market.SignedAmount{Abs: sqrtPrice(600)}.Add(market.SignedAmount{Abs: sqrtPrice(0), Neg: true}).Abs
	rise.Rsh(&rise, 32)
	var told market.Amount
	told.Lsh(new(e18(1)), 128)
	told.Div(&told, &rise)
	more := *new(market.Amount).Add(&told, new(e18(7)))
	for name, c := range map[string]struct {
		events []market.Event
		want   market.Amount
	}{
		"made with it":             {[]market.Event{made}, e18(1000)},
		"more":                     {[]market.Event{made, changed(in(e18(5)))}, e18(1005)},
		"less":                     {[]market.Event{made, changed(out(e18(5)))}, e18(995)},
		"a swap leaves it":         {[]market.Event{made, swapTo(600, market.Amount{})}, e18(1000)},
		"a swap shows another":     {[]market.Event{made, swapTo(600, e18(1))}, told},
		"all of it":                {[]market.Event{made, changed(out(e18(1000)))}, market.Amount{}},
		"more than there is":       {[]market.Event{made, changed(out(e18(1001)))}, market.Amount{}},
		"no range":                 {[]market.Event{withoutRange, changed(in(e18(5))), swapTo(600, market.Amount{})}, market.Amount{}},
		"nothing known":            {[]market.Event{old, changed(in(e18(5)))}, market.Amount{}},
		"a first swap":             {[]market.Event{old, swapTo(0, e18(1))}, market.Amount{}},
		"a second swap":            {[]market.Event{old, swapTo(0, e18(1)), swapTo(600, e18(1))}, told},
		"a second swap downwards":  {[]market.Event{old, swapTo(600, e18(1)), swapTo(0, e18(1))}, told},
		"more after a second swap": {[]market.Event{old, swapTo(0, e18(1)), swapTo(600, e18(1)), changed(in(e18(7)))}, more},
		"less than nothing after":  {[]market.Event{old, swapTo(0, e18(1)), swapTo(600, e18(1)), changed(out(*new(market.Amount).Add(&told, new(raw(1)))))}, market.Amount{}},
	} {
		b := stage(t, ofSolana)
		for _, e := range c.events {
			b.next(12, nil, tx(e))
		}
		if p := b.db.pools[poolA]; p.Liquidity != c.want || p.Untrusted != market.Trusted {
			t.Errorf("%s: liquidity %s, want %s; %q", name, p.Liquidity.Dec(), c.want.Dec(), p.Untrusted)
		}
	}
}

// TestPegAtItsBound: a peg stands while the asset's own pools are within its bound, the bound itself included. One without a bound always stands.
func TestPegAtItsBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		boundPct float64
		usdc     uint64 // for a million
		usd      float64
		pegged   bool
	}{
		{25, 750_000, 1, true},
		{25, 749_999, 0.749999, false},
		{25, 1_250_000, 1, true},
		{25, 1_250_001, 1.250001, false},
		{0, 500_000, 1, true},
		{0, 1_500_000, 1, true},
	} {
		b := stage(t, pegged(1, c.boundPct))
		b.next(12, nil, tx(pair(poolC, cat, usdc), synced(poolC, e18(1_000_000), e6(c.usdc))))
		if got := b.db.quotes[cat]; !near(got.USD, c.usd) || got.Pegged != c.pegged {
			t.Errorf("with a bound of %v %% and a million for %d USDC the asset is %+v, want %v USD, pegged: %v", c.boundPct, c.usdc, got, c.usd, c.pegged)
		}
	}
}

// TestPegOfAnotherPrice: what has no peg is priced in pegged assets, whatever their pegs are.
func TestPegOfAnotherPrice(t *testing.T) {
	t.Parallel()
	b := newBench(t, pegged(1.25, 2))
	b.next(12, facts(usdc, usdt, weth, cat))
	if got := b.db.quotes[weth]; got.USD != 0 || got.Pegged {
		t.Errorf("without a pool WETH is %+v, want no price and no peg", got)
	}
	b.next(12, nil, tx(pair(poolA, weth, cat), synced(poolA, e18(1000), e18(2_000_000))))
	if got := b.db.quotes[weth]; got.USD != 2500 || got.Pegged {
		t.Errorf("at 2,000 of an asset of 1.25 USD, WETH is %+v, want 2,500 USD and no peg", got)
	}
}

// TestUnpricedQuotes: a quote asset without a peg counts as unpriced until a pool prices it.
func TestUnpricedQuotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := func(when string, wantUnpriced ...market.Address) {
		t.Helper()
		b.load(nil, b.last)
		unpriced, pegged := b.machine.UnpricedQuotes(b.state)
		if !slices.Equal(unpriced, wantUnpriced) || !slices.Equal(pegged, []market.Address{usdc, usdt}) {
			t.Errorf("%s: %v are unpriced and %v pegged, want %v and USDC and USDT", when, unpriced, pegged, wantUnpriced)
		}
	}
	want("before any block", weth)
	b.next(12, facts(usdc, weth))
	want("without a pool", weth)
	b.next(12, nil, tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000))))
	want("with a pool")
}

// TestLeastDepthForAQuote: a pool may price a quote asset from a depth of 1,000 USD on.
func TestLeastDepthForAQuote(t *testing.T) {
	t.Parallel()
	enough := reserveOfDepth100()
	var less market.Amount
	less.Sub(&enough, new(e18(1)))
	for _, c := range []struct {
		reserve market.Amount
		priced  bool
	}{{enough, true}, {less, false}} {
		b := newBench(t, pegged(10, 2)) // so that a depth of 100 is one of 1,000 USD
		b.next(12, facts(weth, cat), tx(pair(poolA, weth, cat), synced(poolA, e18(100), c.reserve)))
		depth := b.db.pools[poolA].Depth
		if got := b.db.quotes[weth].USD > 0; got != c.priced || (depth == 100) != c.priced {
			t.Errorf("a depth of %v USD prices a quote asset: %v, want %v", 10*depth, got, c.priced)
		}
	}
}

// TestEquallyDeepPools: of pools of one depth the one with the lowest id prices a token, in whichever order they were made.
func TestEquallyDeepPools(t *testing.T) {
	t.Parallel()
	made := map[market.Address][]market.Event{}
	for _, id := range []market.Address{poolA, poolB, poolC} {
		made[id] = tx(pair(id, dog, usdc), synced(id, e18(1000), e6(100_000)))
	}
	for _, order := range [][]market.Address{{poolA, poolB, poolC}, {poolC, poolB, poolA}, {poolB, poolC, poolA}} {
		b := stage(t)
		b.next(12, nil, made[order[0]], made[order[1]], made[order[2]])
		b.wantReference(dog, poolA)
	}
}

// TestACurveWithoutAPricePricesNothing: a curve of which no log tells the price has raised funds, and so a depth. It takes no token's price over.
func TestACurveWithoutAPricePricesNothing(t *testing.T) {
	t.Parallel()
	silent := untoldBuy()
	silent.After = market.CurveReserves{RealBase: e18(600), RealQuote: e6(100_000)}
	silent.Tells = market.TellsBase | market.TellsQuote
	launch := func(b *bench, known ...market.Fact) {
		b.next(12, append(known, curveFact(otherPad, usdc)), tx(moved(pup, nobody, otherPad, e18(1000)), launched(untold)))
		b.next(12, nil, tx(silent))
		if p := b.db.pools[market.CurveID(pup)]; p.Price != 0 || p.Depth <= 0 {
			t.Fatalf("the curve is %+v, want a depth without a price", p)
		}
		b.idle(12, 12)
	}
	b := stage(t)
	b.next(12, facts(pup), tx(pair(poolA, pup, usdc), synced(poolA, e18(1000), e6(1000))))
	launch(b)
	b.wantReference(pup, poolA)
	b.wantUSD(pup, 1)

	b = stage(t)
	launch(b, facts(pup)...)
	if got := b.db.tokens[pup]; !got.Pool.IsNone() || !got.Candidate.IsNone() {
		t.Errorf("%q prices the token and %q is to, want nothing", got.Pool, got.Candidate)
	}
}

// TestAQuoteFollowsItsNewPoolAtOnce: the block in which another pool takes a quote asset over is priced by it already.
func TestAQuoteFollowsItsNewPoolAtOnce(t *testing.T) {
	t.Parallel()
	b := stage(t)
	deep := synced(poolC, e18(40_000), e6(60_000_000))
	b.next(12, nil, tx(pair(poolC, weth, usdt), deep))
	b.next(12, nil, tx(pair(poolA, dog, weth), synced(poolA, e18(1000), e18(10))))
	b.idle(8, 12)
	if got := b.db.quotes[weth].USD; got != 2000 {
		t.Fatalf("after 9 blocks WETH is at %v USD, want 2000", got)
	}
	b.next(12, nil, tx(deep), tx(swapped(poolA, out(e18(1)), in(units(1, 16)), router, alice)))
	b.wantReference(weth, poolC)
	if got := b.lastTrade(); b.db.quotes[weth].USD != 1500 || got.NanoUSD != 15e9 {
		t.Errorf("in the tenth block WETH is at %v USD, and a trade of 0.01 is %+v; want 1500 and 15 USD", b.db.quotes[weth].USD, got)
	}
}

// TestPeggedQuotesComeFirst: a document that lists an asset with a peg behind one without is refused, with the names of both.
func TestPeggedQuotesComeFirst(t *testing.T) {
	t.Parallel()
	_, err := derive.New(config(func(c *chainconfig.Chain) { c.Quotes[1], c.Quotes[2] = c.Quotes[2], c.Quotes[1] }))
	const want = "chain test: quotes: USDT has a peg and stands after WETH, which has none: list pegged assets first"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestSinceWhenAPoolCounts: it counts for members from the block on in which it holds the bound, until one in which it holds less. What is taken out and put
// back within a block doesn't matter, and what is taken out in one block and put back in the next does.
func TestSinceWhenAPoolCounts(t *testing.T) {
	t.Parallel()
	b := stage(t, counted(20_000))
	since := func(want int64, what string) {
		t.Helper()
		if got := b.db.pools[poolA].CountsSince; got != want {
			t.Errorf("%s, it counts since %d, want %d", what, got, want)
		}
	}
	state := func(dollars ...uint64) int64 {
		var events []market.Event
		for _, d := range dollars {
			events = append(events, synced(poolA, e18(10_000), e6(d)))
		}
		b.next(12, nil, tx(events...))
		return b.last.Time
	}
	b.next(12, nil, tx(pair(poolA, dog, usdc), synced(poolA, e18(10_000), raw(9_999_999_999))))
	since(0, "a millionth of a dollar short")
	first := state(10_000)
	since(first, "with the bound")
	state(5, 12_000)
	since(first, "after all was taken out and more put back in a block")
	state(9_000)
	since(0, "with less")
	again := state(10_000)
	since(again, "with the bound again")
	b.next(12, nil, tx(swapped(poolA, in(e18(1)), out(e6(1)), router, alice)))
	since(again, "after a trade")
}
