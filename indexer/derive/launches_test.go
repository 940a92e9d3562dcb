package derive_test

import (
	"math"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The curve of these tests sells 800 of 1,000 pups, from virtual reserves of 1,000 pups and 10 WETH.
func launched(change ...func(*market.Launched)) market.Launched {
	e := market.Launched{
		Venue: "pad", Token: pup, Creator: alice, Name: "Pup", Symbol: "PUP", Metadata: "ipfs://pup", Curve: pad, Quote: market.Native,
		Rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}, SaleBase: e18(800), TargetQuote: e18(40),
		Reserves: market.CurveReserves{VirtualBase: e18(1000), VirtualQuote: e18(10)}, Tells: market.TellsVirtual, FeeBps: 100,
	}
	for _, f := range change {
		f(&e)
	}
	return e
}

// bought takes 200 pups for 2.5 WETH and a fee of 0.025.
func bought(trader market.Address) market.CurveTrade {
	fee := units(25, 15)
	paid := units(25, 17)
	return market.CurveTrade{
		Venue: "pad", Curve: pad, Token: pup, Trader: trader, BaseAmount: e18(200), QuoteAmount: *paid.Add(&paid, &fee), Raised: units(25, 17),
		After: market.CurveReserves{VirtualBase: e18(800), VirtualQuote: units(125, 17), RealBase: e18(600), RealQuote: units(25, 17)},
		Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote,
	}
}

func (b *bench) launchPup(change ...func(*market.Launched)) {
	b.t.Helper()
	b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched(change...)))
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	l := b.db.launches[pup]
	if l.State != market.LaunchOnCurve || l.Creator != alice || l.Venue != "pad" || l.Quote != weth || l.Progress != 0 || !l.HasProgress {
		t.Errorf("after the launch: %+v", l)
	}
	// 10 WETH at 2,000 USD for 1,000 pups, before anybody bought.
	if got := b.usd(pup); got != 20 {
		t.Errorf("a fresh pup is at %v USD, want 20", got)
	}
	if h := b.db.tokens[pup].Holders; h.Status != market.HoldersCurrent || h.Count != 0 {
		t.Errorf("holders %+v, want none of a followed token: the venue is no holder", h)
	}
	b.next(12, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
	l = b.db.launches[pup]
	if l.Progress != 25 || l.Reserves.RealBase != e18(600) || l.Reserves.RealQuote != units(25, 17) {
		t.Errorf("after a quarter was sold: %+v", l)
	}
	if got := b.usd(pup); got != 12.5/800*2000 {
		t.Errorf("a pup is at %v USD, want %v", got, 12.5/800*2000)
	}
	p := b.db.pools[market.CurveID(pup)]
	if depth := 12.5 * (1 - math.Sqrt(0.98)); p.Locked != 5 || !near(p.Depth, depth) || p.FeePips != 10_000 {
		t.Errorf("the curve has %v locked, a depth of %v and a fee of %d ppm, want 2 x 2.5 WETH raised, %v and one per cent", p.Locked, p.Depth, p.FeePips,
			depth)
	}
	if got := b.lastTrade(); got.Pool != p.ID || got.Trader != bob || got.Sell || got.NanoUSD != 5050*1e9 || got.CloseUSD != b.usd(pup) {
		t.Errorf("the trade is %+v", got)
	}
	if b.db.tokens[pup].Holders.Count != 1 {
		t.Errorf("%d holders, want bob alone", b.db.tokens[pup].Holders.Count)
	}
}

func TestGraduation(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(bought(bob)))
	// Somebody's own pool must not price a token that is on its curve, however deep.
	b.next(12, nil, tx(pair(poolA, pup, usdc), synced(poolA, e18(1000), e6(9_000_000))))
	b.idle(20, 12)
	if got := b.db.tokens[pup].Pool; got != market.CurveID(pup) {
		t.Fatalf("%s prices a token on its curve", got)
	}
	b.next(12, nil, tx(market.CurveCompleted{Venue: "pad", Curve: pad, Token: pup}))
	if l := b.db.launches[pup]; l.State != market.LaunchCompleted || l.CompletedAt != b.last.Time || l.GraduatedAt != 0 {
		t.Errorf("a full curve: %+v", l)
	}
	if got := b.db.tokens[pup].Pool; got != market.CurveID(pup) {
		t.Errorf("%s prices a token between curve and pool", got)
	}
	b.next(12, nil, tx(pair(poolB, pup, weth), synced(poolB, e18(200), e18(10)),
		market.Graduated{Venue: "pad", Curve: pad, Token: pup, Pool: poolB}))
	l := b.db.launches[pup]
	if l.State != market.LaunchGraduated || l.GraduatedAt != b.last.Time || l.Pool != poolB || l.GraduatedTx.IsNone() {
		t.Errorf("after the graduation: %+v", l)
	}
	if got := b.db.tokens[pup].Pool; got != poolB {
		t.Errorf("%s prices the graduated token, want the pool it moved to at once", got)
	}
	if c := b.db.pools[market.CurveID(pup)]; c.Locked != 0 || c.Depth != 0 {
		t.Errorf("the curve still holds %v", c.Locked)
	}
	trades := len(b.db.trades)
	b.next(12, nil, tx(bought(carol)))
	if len(b.db.trades) != trades || b.db.launches[pup] != l {
		t.Error("a trade with a curve that is no more counts")
	}
}

func TestGraduationWithoutANamedPool(t *testing.T) {
	t.Parallel()
	graduated := market.Graduated{Venue: "pad", Curve: pad, Token: pup}
	for name, events := range map[string][]market.Event{
		"a pool made after the log":  {graduated, pair(poolB, pup, weth), synced(poolB, e18(200), e18(10))},
		"a pool made before the log": {pair(poolB, pup, weth), synced(poolB, e18(200), e18(10)), graduated},
	} {
		b := stage(t)
		b.launchPup()
		b.next(12, nil, events)
		if l := b.db.launches[pup]; l.Pool != poolB || b.db.tokens[pup].Pool != poolB {
			t.Errorf("%s: moved to %q, priced by %q", name, l.Pool, b.db.tokens[pup].Pool)
		}
	}
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(pair(poolB, pup, weth)))
	b.next(12, nil, tx(synced(poolB, e18(200), e18(10)), graduated))
	if l := b.db.launches[pup]; l.Pool != poolB || b.db.tokens[pup].Pool != poolB {
		t.Errorf("a pool made by somebody earlier: moved to %q, priced by %q", l.Pool, b.db.tokens[pup].Pool)
	}
}

// TestGraduationNamedTwice: the first log of a graduation may leave the pool to the second.
func TestGraduationNamedTwice(t *testing.T) {
	t.Parallel()
	graduated := func(pool market.Address) market.Event {
		return market.Graduated{Venue: "pad", Curve: pad, Token: pup, Pool: pool}
	}
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(pair(poolA, pup, usdt), pair(poolB, pup, weth), synced(poolB, e18(200), e18(10)), graduated(market.Address{}), graduated(poolB)))
	if l := b.db.launches[pup]; l.Pool != poolB || b.db.tokens[pup].Pool != poolB {
		t.Errorf("moved to %q, priced by %q", l.Pool, b.db.tokens[pup].Pool)
	}
	b.next(12, nil, tx(graduated(poolA)))
	if l := b.db.launches[pup]; l.Pool != poolB {
		t.Errorf("a later log moved the token to %q", l.Pool)
	}
}

// TestStateInALogOfItsOwn: the state that a curve logs beside a trade has the trade in it, whichever log comes first.
func TestStateInALogOfItsOwn(t *testing.T) {
	t.Parallel()
	state := market.CurveSet{
		Venue: "pad", Curve: pad, Token: pup, Tells: market.TellsVirtual | market.TellsQuote,
		State: market.CurveReserves{VirtualBase: e18(800), VirtualQuote: units(125, 17), RealQuote: units(25, 17)},
	}
	trade := bought(bob)
	trade.Tells = 0
	for name, events := range map[string][]market.Event{"before": {state, trade}, "after": {trade, state}} {
		b := stage(t)
		b.launchPup()
		b.next(12, nil, events)
		got := b.db.launches[pup].Reserves
		want := state.State
		want.RealBase = e18(600)
		if got != want {
			t.Errorf("%s the trade: %+v, want %+v", name, got, want)
		}
		b.next(12, nil, tx(trade))
		if got := b.db.launches[pup].Reserves; got.RealBase != e18(400) || got.RealQuote != e18(5) {
			t.Errorf("%s the trade: the next one leaves %+v", name, got)
		}
	}
}

// TestSpoofedCurves: what a contract says of a curve that isn't its own changes nothing.
func TestSpoofedCurves(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, facts(kit), tx(launched(func(e *market.Launched) { e.Token, e.Curve, e.Venue = kit, ownCurve, "other" })))
	pupBefore, kitBefore := b.db.launches[pup], b.db.launches[kit]
	trade := bought(carol)
	for name, e := range map[string]market.Event{
		"a curve that nobody announced":  market.CurveTrade{Curve: carol, BaseAmount: e18(1), QuoteAmount: e18(1)},
		"another venue":                  func() market.Event { e := trade; e.Venue = "other"; return e }(),
		"a token that nobody launched":   func() market.Event { e := trade; e.Token = frog; return e }(),
		"a completion from elsewhere":    market.CurveCompleted{Curve: carol, Token: pup},
		"a graduation by another venue":  market.Graduated{Venue: "other", Curve: otherPad, Token: pup, Pool: poolA},
		"parameters from another venue":  market.CurveSet{Venue: "pad", Curve: pad, Token: kit, Quote: usdc},
		"a second launch of the token":   launched(func(e *market.Launched) { e.Venue, e.Creator = "other", carol }),
		"a launch of a quote asset":      launched(func(e *market.Launched) { e.Token = usdc }),
		"a trade that moved none of it":  func() market.Event { e := trade; e.BaseAmount = raw(0); return e }(),
		"a venue's word without a token": market.CurveTrade{Venue: "pad", Curve: pad, BaseAmount: e18(1), QuoteAmount: e18(1)},
	} {
		trades := len(b.db.trades)
		b.next(12, nil, tx(e))
		if b.db.launches[pup] != pupBefore || b.db.launches[kit] != kitBefore || len(b.db.launches) != 2 || len(b.db.trades) != trades {
			t.Errorf("%s counts", name)
		}
	}
}

// TestCurveOfItsOwn: a curve whose contract belongs to one token speaks for that token alone.
func TestCurveOfItsOwn(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, facts(pup), tx(moved(pup, nobody, ownCurve, e18(1000)), launched(func(e *market.Launched) {
		e.Curve = ownCurve
		e.Rules = market.CurveRules{Pricing: market.PriceExecuted, Basis: market.FundsRaised, FillsUp: true}
		e.Reserves, e.Tells, e.SaleBase, e.TargetQuote = market.CurveReserves{}, 0, raw(0), e18(10)
	})))
	buy := market.CurveTrade{Curve: ownCurve, Trader: bob, BaseAmount: e18(50), QuoteAmount: e18(5), Raised: units(49, 17)}
	b.next(12, nil, tx(moved(pup, ownCurve, bob, e18(50)), buy))
	l := b.db.launches[pup]
	if l.State != market.LaunchOnCurve || l.Progress != 49 || l.Reserves.RealQuote != units(49, 17) || l.Reserves.Price != units(98, 33) {
		t.Errorf("after a buy: %+v", l)
	}
	// Its own reserves are unknown: it is as deep as what it has raised.
	if got := b.db.pools[market.CurveID(pup)].Depth; !near(got, 4.9*(1-math.Sqrt(0.98))) {
		t.Errorf("the curve has a depth of %v, want that of 4.9 WETH", got)
	}
	if got := b.usd(pup); got < 196*(1-1e-12) || got > 196*(1+1e-12) {
		t.Errorf("a pup is at %v USD, want what was paid for it without the fee, 196", got)
	}
	buy.Raised = units(51, 17)
	b.next(12, nil, tx(buy))
	if l = b.db.launches[pup]; l.State != market.LaunchCompleted || l.Progress != 100 {
		t.Errorf("a curve that has raised its target: %+v", l)
	}
	if k := (market.BalanceKey{Token: pup, Account: ownCurve}); b.db.tokens[pup].Holders.Count != 1 || !b.db.balances[k].IsPool {
		t.Errorf("%d holders, the curve excluded: %v", b.db.tokens[pup].Holders.Count, b.db.balances[k].IsPool)
	}
}

// TestCurveTrader: routers are named by a venue's log, holders are meant.
func TestCurveTrader(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(moved(pup, pad, router, e18(200)), bought(router), moved(pup, router, carol, e18(200))))
	if got := b.lastTrade().Trader; got != carol {
		t.Errorf("the trader is %s, want carol behind the router", got)
	}
}

// TestLivePool: a venue vouches for the hook of the pool that its log names, and for no other.
func TestLivePool(t *testing.T) {
	t.Parallel()
	live := func(pool, hooks market.Address) market.Event {
		return launched(func(e *market.Launched) {
			e.Curve, e.Rules, e.SaleBase, e.Reserves, e.Tells = market.Address{}, market.CurveRules{}, raw(0), market.CurveReserves{}, 0
			e.Pool, e.Hooks = pool, hooks
		})
	}
	made := func(pool market.Address) market.Event {
		return market.PoolCreated{
			Protocol: market.UniswapV4, Factory: v4, Pool: pool, Token0: weth, Token1: pup, Hooks: badHook, SqrtPriceX96: sqrtPrice(0), TickSpacing: 60,
		}
	}
	liquid := func(pool market.Address) market.Event {
		return market.RangeLiquidity{Pool: pool, TickLower: -600, TickUpper: 600, Delta: in(e18(1000))}
	}
	for name, c := range map[string]struct {
		pool, hooks market.Address
		priced      bool
	}{
		"the pool and its hook":  {poolID(5), badHook, true},
		"the pool, another hook": {poolID(5), goodHook, false},
		"another pool":           {poolID(6), badHook, false},
	} {
		b := stage(t)
		b.next(12, facts(pup), tx(made(poolID(5)), liquid(poolID(5)), live(c.pool, c.hooks)))
		l := b.db.launches[pup]
		if l.State != market.LaunchLive || l.Pool != c.pool {
			t.Errorf("%s: %+v", name, l)
		}
		if got := b.db.tokens[pup].Pool == poolID(5); got != c.priced {
			t.Errorf("%s: priced by the pool: %v, want %v", name, got, c.priced)
		}
	}
	// A pool of V3 isn't named; it is the one that the launch made.
	b := stage(t)
	b.next(12, facts(pup), tx(created(market.UniswapV3, v3, poolA, pup, weth), live(market.Address{}, market.Address{})))
	if got := b.db.launches[pup].Pool; got != poolA {
		t.Errorf("the pool of the launch is %q, want the one made in its transaction", got)
	}
}

// TestLaunchesAreKept: the minimum of liquidity is for pools of others.
func TestLaunchesAreKept(t *testing.T) {
	t.Parallel()
	b := stage(t, func(c *chainconfig.Chain) { c.Tracking.MinLiquidityUSD = 1_000_000 })
	b.launchPup()
	b.next(12, nil, tx(bought(bob)))
	if len(b.db.trades) != 1 {
		t.Errorf("%d trades of a launched token, want 1 although its curve holds little", len(b.db.trades))
	}
}

// TestLaunchOfAnOlderToken: the holders of a token that was there before its launch are counted from its whole past.
func TestLaunchOfAnOlderToken(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(launched(func(e *market.Launched) { e.Token = dog }), moved(dog, pad, bob, e18(1))))
	if h := b.db.tokens[dog].Holders; h.Status != market.HoldersIndexing || len(b.db.queued) != 1 {
		t.Errorf("holders %+v with %d transfers queued, want indexing and 1", h, len(b.db.queued))
	}
}

// TestPoolBeforeTheLaunch: a pool that somebody made before its token was launched is no holder of it either.
func TestPoolBeforeTheLaunch(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.next(12, nil, tx(pair(poolB, pup, weth)))
	b.launchPup()
	b.merge(t, pup, b.last.Number-1, map[market.Address]market.Amount{}, false)
	b.next(12, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
	b.next(12, nil, tx(moved(pup, pad, poolB, e18(200)), synced(poolB, e18(200), e18(10)),
		market.Graduated{Venue: "pad", Curve: pad, Token: pup, Pool: poolB}))
	if h := b.db.tokens[pup].Holders; h.Status != market.HoldersCurrent || h.Count != 1 {
		t.Errorf("holders %+v, want bob alone", h)
	}
}

// TestGraduationBesideOtherPools: who fills a curve can make and fill pools of his own in the same transaction.
func TestGraduationBesideOtherPools(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(
		pair(poolA, pup, usdc), synced(poolA, units(1, 12), e6(1)),
		pair(poolB, pup, weth), synced(poolB, e18(200), e18(10)), market.Graduated{Venue: "pad", Curve: pad, Token: pup},
		synced(poolA, units(1, 12), e6(1)), pair(poolC, pup, usdt), synced(poolC, units(1, 12), e6(1)),
	))
	if l := b.db.launches[pup]; l.Pool != poolB || b.usd(pup) != 100 {
		t.Errorf("moved to %s at %v USD, want the venue's pool %s at 100", l.Pool, b.usd(pup), poolB)
	}
}

// TestFirstBuyInTheLaunch: what a curve's own log told of the fresh curve is over once a trade tells its price.
func TestFirstBuyInTheLaunch(t *testing.T) {
	t.Parallel()
	b := stage(t)
	fresh := market.CurveSet{Venue: "pad", Curve: pad, Token: pup, State: market.CurveReserves{Price: units(1, 16)}, Tells: market.TellsPrice}
	buy := bought(bob)
	buy.After, buy.Tells = market.CurveReserves{Price: units(2, 16)}, market.TellsPrice
	b.next(12, facts(pup), tx(moved(pup, nobody, pad, e18(1000)), launched(func(e *market.Launched) {
		e.Rules.Pricing = market.PricePosted
	}), fresh, moved(pup, pad, bob, e18(200)), buy))
	if got := b.db.launches[pup].Reserves.Price; got != units(2, 16) {
		t.Errorf("the price is %s, want what the buy posted", got.Dec())
	}
}

// TestPriceBelowTheQuotesUnit: a whole token may cost less than the smallest unit of what its curve takes.
func TestPriceBelowTheQuotesUnit(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup(func(e *market.Launched) {
		e.Rules.Pricing, e.Quote, e.Reserves, e.Tells = market.PriceExecuted, usdc, market.CurveReserves{}, 0
	})
	trade := bought(bob)
	trade.BaseAmount, trade.QuoteAmount, trade.Raised, trade.Tells = e18(100_000_000), e6(58), e6(57), 0
	b.next(12, nil, tx(trade))
	if got := b.usd(pup); got < 5.7e-7*(1-1e-12) || got > 5.7e-7*(1+1e-12) {
		t.Errorf("a pup is at %v USD, want 5.7e-07", got)
	}
}

// TestQuoteSetLater: what a curve takes may be told in a later block than its launch, before its first trade.
func TestQuoteSetLater(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.next(12, nil, tx(market.CurveSet{Venue: "pad", Curve: pad, Token: pup, Quote: usdc}))
	if p := b.db.pools[market.CurveID(pup)]; p.Quote != usdc || p.Token1 != usdc || b.usd(pup) != 1e13/1e3 {
		t.Errorf("the curve takes %s and a pup is at %v USD, want USDC and 10^10", p.Quote, b.usd(pup))
	}
}

// TestFeeSetLater: a curve's fee may be told in a later block than its launch; what doesn't name it leaves it.
func TestFeeSetLater(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	set := market.CurveSet{Venue: "pad", Curve: pad, Token: pup, FeeBps: 250}
	b.next(12, nil, tx(set))
	if got := b.db.launches[pup].FeeBps; got != 250 {
		t.Errorf("the fee is %d bps, want 250", got)
	}
	set.FeeBps, set.TargetQuote = 0, e18(50)
	b.next(12, nil, tx(set))
	if got := b.db.launches[pup]; got.FeeBps != 250 || got.TargetQuote != e18(50) {
		t.Errorf("the fee is %d bps and the target %s, want 250 and 50", got.FeeBps, got.TargetQuote.Dec())
	}
}
