package derive_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// hooked makes a pool of pups and WETH whose hook no exchange declares, at one WETH for a pup.
func hooked(pool market.Address) market.Event {
	return market.PoolCreated{
		Protocol: market.UniswapV4, Factory: v4, Pool: pool, Token0: weth, Token1: pup, Hooks: badHook, SqrtPriceX96: sqrtPrice(0),
		TickSpacing: 60,
	}
}

// fills adds some 58 WETH and as many pups to it.
func fills(pool market.Address) market.Event {
	return market.RangeLiquidity{Pool: pool, TickLower: -1200, TickUpper: 1200, Delta: in(e18(1000))}
}

func graduatedTo(pool market.Address) market.Graduated {
	return market.Graduated{Venue: "pad", Curve: pad, Token: pup, Pool: pool}
}

// TestGraduationVouches: the hook of the pool that a token moves to is as good as the venue, if the venue's log names the pool or
// if the pool was made in the graduation before that log. Anybody can have made another one.
func TestGraduationVouches(t *testing.T) {
	t.Parallel()
	pool, other := poolID(5), poolID(6)
	var none market.Address
	for name, c := range map[string]struct {
		before, graduation []market.Event
		to                 market.Address
		vouched            bool
	}{
		"made before the log":         {nil, tx(hooked(pool), fills(pool), graduatedTo(none)), pool, true},
		"named, made before the log":  {nil, tx(hooked(pool), fills(pool), graduatedTo(pool)), pool, true},
		"named, made after the log":   {nil, tx(graduatedTo(pool), hooked(pool), fills(pool)), pool, true},
		"named, made earlier":         {tx(hooked(pool), fills(pool)), tx(graduatedTo(pool)), pool, true},
		"named by the second log":     {nil, tx(hooked(pool), fills(pool), hooked(other), fills(other), graduatedTo(none), graduatedTo(pool)), pool, true},
		"made earlier, filled now":    {tx(hooked(pool)), tx(fills(pool), graduatedTo(none)), pool, false},
		"made after the log":          {nil, tx(graduatedTo(none), hooked(pool), fills(pool)), pool, false},
		"another one beside, earlier": {nil, tx(hooked(pool), fills(pool), hooked(other), fills(other), graduatedTo(none)), other, false},
		"another one beside, later":   {nil, tx(hooked(other), fills(other), graduatedTo(none), hooked(pool), fills(pool)), other, false},
	} {
		b := stage(t)
		b.launchPup()
		b.next(12, nil, tx(bought(bob)))
		b.next(12, nil, c.before)
		b.next(12, nil, c.graduation)
		l, p := b.db.launches[pup], b.db.pools[pool]
		if l.Pool != c.to || (p.Untrusted == market.Trusted) != c.vouched || p.Depth <= 0 {
			t.Errorf("%s: moved to %s, the pool is %q with a depth of %v; want %s, vouched for %v", name, l.Pool, p.Untrusted, p.Depth,
				c.to, c.vouched)
		}
		if got := b.db.tokens[pup].Pool; (got == pool) != c.vouched {
			t.Errorf("%s: %s prices the graduated token at once", name, got)
		}
	}
}

// TestThinPoolAfterGraduation: a token that has left its curve is priced by the pool that it moved to, at once. Where that pool
// can price nothing, any other takes the ordinary time and more than pocket money.
func TestThinPoolAfterGraduation(t *testing.T) {
	t.Parallel()
	thin := tx(pair(poolA, pup, usdc), synced(poolA, units(1, 12), e6(1000))) // a billion USD a pup, with a depth of 10
	deep := tx(pair(poolC, pup, usdc), synced(poolC, e18(200), e6(20_000)))   // 100 USD a pup, with a depth of 200
	left := func(t *testing.T, moves ...market.Event) *bench {
		t.Helper()
		b := stage(t)
		b.launchPup()
		b.next(12, nil, tx(bought(bob)))
		b.next(12, nil, moves)
		return b
	}
	curve := market.CurveID(pup)

	b := left(t, append(thin, hooked(poolID(5)), fills(poolID(5)), graduatedTo(market.Address{}))...)
	if got := b.db.tokens[pup].Pool; got != poolID(5) {
		t.Errorf("%s prices the graduated token, want its own pool at once", got)
	}
	b.next(12, nil, tx(synced(poolA, units(1, 12), e6(1000))))
	b.idle(20, 12)
	if got := b.db.tokens[pup].Pool; got != poolID(5) {
		t.Errorf("%s prices the token later, want its own pool", got)
	}

	// Its pool is on an exchange that isn't declared.
	b = left(t, graduatedTo(market.Address{}))
	before := b.usd(pup)
	b.next(12, nil, thin)
	b.idle(20, 12)
	if got := b.db.tokens[pup]; got.Pool != curve || !got.Candidate.IsNone() || b.usd(pup) != before {
		t.Errorf("%s prices the token and %q is to, at %v USD; want the curve's last price, %v", got.Pool, got.Candidate, b.usd(pup), before)
	}
	b.next(12, nil, deep)
	b.idle(8, 12)
	if got := b.db.tokens[pup]; got.Pool != curve || got.Candidate != poolC {
		t.Errorf("%s prices the token and %q is to after 9 blocks, want the curve's last price and the deep pool", got.Pool, got.Candidate)
	}
	b.idle(2, 12)
	if got := b.db.tokens[pup].Pool; got != poolC || b.usd(pup) != 100 {
		t.Errorf("%s prices the token at %v USD, want the deep pool", got, b.usd(pup))
	}

	// Whoever fills the curve makes a thin pool in the same transaction, the only one that can be seen.
	b = left(t, append(thin, graduatedTo(market.Address{}))...)
	if got := b.db.tokens[pup]; b.db.launches[pup].Pool != poolA || got.Pool != curve || !got.Candidate.IsNone() {
		t.Errorf("%s prices the token and %q is to, want the curve's last price", got.Pool, got.Candidate)
	}
	// A named pool that is filled later, first by somebody else.
	b = left(t, pair(poolB, pup, weth), graduatedTo(poolB))
	b.next(12, nil, tx(synced(poolB, raw(1e9), raw(1e15))))
	if got := b.db.tokens[pup].Pool; got != curve {
		t.Errorf("%s prices the token with next to nothing in it", got)
	}
	b.next(12, nil, tx(synced(poolB, e18(200), units(24, 17))))
	if got := b.db.tokens[pup].Pool; got != poolB {
		t.Errorf("%s prices the token, want the pool that it moved to", got)
	}

	// A deep pool that is emptied again while it waits.
	b = left(t, graduatedTo(market.Address{}))
	b.next(12, nil, deep)
	b.next(12, nil, tx(synced(poolC, units(1, 12), e6(1000))))
	b.idle(20, 12)
	if got := b.db.tokens[pup]; got.Pool != curve || !got.Candidate.IsNone() {
		t.Errorf("%s prices the token and %q is to, want the curve's last price", got.Pool, got.Candidate)
	}
}

// TestThinPoolAfterAnUnpricedCurve: the same where the curve never had a price to leave.
func TestThinPoolAfterAnUnpricedCurve(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup(untold)
	b.next(12, nil, tx(untoldBuy()))
	b.next(12, nil, tx(market.Graduated{Venue: "other", Curve: otherPad, Token: pup}))
	b.next(12, nil, tx(pair(poolA, pup, usdc), synced(poolA, units(1, 12), e6(1000))))
	b.idle(20, 12)
	if got := b.db.tokens[pup]; !got.Pool.IsNone() || !got.Candidate.IsNone() {
		t.Errorf("%s prices the token, %q is to", got.Pool, got.Candidate)
	}
	b.next(12, nil, tx(pair(poolC, pup, usdc), synced(poolC, e18(200), e6(20_000))))
	if got := b.db.tokens[pup]; !got.Pool.IsNone() || got.Candidate != poolC {
		t.Errorf("%s prices the token at once, %q is to", got.Pool, got.Candidate)
	}
	b.idle(11, 12)
	if got := b.db.tokens[pup].Pool; got != poolC {
		t.Errorf("%s prices the token, want the deep pool", got)
	}
}

// TestLeastDepthAfterACurve: a depth of 100 USD is enough for a pool that no venue chose to price a token that has left its curve.
func TestLeastDepthAfterACurve(t *testing.T) {
	t.Parallel()
	enough := reserveOfDepth100()
	var less market.Amount
	less.Sub(&enough, new(e18(1)))
	for _, c := range []struct {
		reserve market.Amount
		waits   bool
	}{{enough, true}, {less, false}} {
		b := stage(t, pegged(1, 2))
		b.launchPup()
		b.next(12, nil, tx(bought(bob)))
		b.next(12, nil, tx(graduatedTo(market.Address{}))) // to a pool that nobody sees
		b.next(12, nil, tx(pair(poolA, pup, cat), synced(poolA, e18(200), c.reserve)))
		depth := b.db.pools[poolA].Depth
		if got := b.db.tokens[pup].Candidate == poolA; got != c.waits || (depth == 100) != c.waits {
			t.Errorf("a pool with a depth of %v USD is to price the token: %v, want %v", depth, got, c.waits)
		}
	}
}

// TestFundsOfAGraduation: the pool that a token moves to prices it at once from a quarter of the depth on that the curve's funds make, and where it
// isn't known what the curve took, from a depth of 100 USD on. A pool with nothing in it prices nothing, though the curve raised nothing.
func TestFundsOfAGraduation(t *testing.T) {
	t.Parallel()
	curve := market.CurveID(pup)
	ofFrogs := func(e *market.Launched) { e.Quote = frog } // nobody declares it
	enough := reserveOfDepth100()
	var less market.Amount
	less.Sub(&enough, new(e18(1)))
	for name, c := range map[string]struct {
		launch func(*market.Launched)
		buys   []market.Event
		pool   []market.Event
		prices market.Address
	}{
		"a quarter":                        {nil, tx(bought(bob)), tx(pair(poolB, pup, weth), synced(poolB, e18(200), units(625, 15))), poolB},
		"less than a quarter":              {nil, tx(bought(bob)), tx(pair(poolB, pup, weth), synced(poolB, e18(200), units(624, 15))), curve},
		"no funds, no pool":                {nil, nil, tx(pair(poolB, pup, weth)), curve},
		"no funds, but a pool":             {nil, nil, tx(pair(poolB, pup, weth), synced(poolB, e18(200), units(1, 15))), poolB},
		"funds of no known value, 100 USD": {ofFrogs, tx(bought(bob)), tx(pair(poolB, pup, cat), synced(poolB, e18(200), enough)), poolB},
		"funds of no known value, less":    {ofFrogs, tx(bought(bob)), tx(pair(poolB, pup, cat), synced(poolB, e18(200), less)), market.Address{}},
	} {
		b := stage(t, pegged(1, 2))
		if c.launch == nil {
			c.launch = func(*market.Launched) {}
		}
		b.launchPup(c.launch)
		b.next(12, nil, c.buys)
		b.next(12, nil, append(c.pool, graduatedTo(poolB)))
		if got := b.db.tokens[pup].Pool; got != c.prices {
			t.Errorf("%s: %q prices the token, want %q", name, got, c.prices)
		}
	}
}

// TestPoolNamedTwice: of two logs of a graduation that name a pool the first counts, but that an id beats an address, which is
// then the contract that holds the pool. A log by another contract of the venue doesn't count.
func TestPoolNamedTwice(t *testing.T) {
	t.Parallel()
	elsewhere := graduatedTo(poolID(7))
	elsewhere.Curve = otherPad
	for name, c := range map[string]struct {
		logs []market.Event
		want market.Address
	}{
		"two addresses":         {tx(graduatedTo(poolA), graduatedTo(poolB)), poolA},
		"two ids":               {tx(graduatedTo(poolID(5)), graduatedTo(poolID(6))), poolID(5)},
		"a manager after an id": {tx(graduatedTo(poolID(5)), graduatedTo(address(90))), poolID(5)},
		"an id after a manager": {tx(graduatedTo(address(90)), graduatedTo(poolID(5))), poolID(5)},
		"another contract":      {tx(graduatedTo(poolA), elsewhere), poolA},
	} {
		b := stage(t)
		b.launchPup()
		b.next(12, nil, c.logs)
		if got := b.db.launches[pup].Pool; got != c.want {
			t.Errorf("%s: moved to %s, want %s", name, got, c.want)
		}
	}
}
