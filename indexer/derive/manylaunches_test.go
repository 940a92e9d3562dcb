package derive_test

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// manyLaunches writes a chain that launches n tokens, one a block, each with a curve of its own. Then all are traded and passed on, the
// oldest first, some to the curves of others; and a last launch claims the first one's curve.
func manyLaunches(n int) []market.Block {
	c := newChain()
	c.block(12, facts(usdc, weth), tx(pair(poolD, weth, usdc), synced(poolD, e18(1000), e6(2_000_000))))
	curve := func(i int) market.Address { return crowd(10_000 + i) }
	announced := func(i int) market.Event {
		return launched(func(e *market.Launched) { e.Token, e.Curve = crowd(i), curve(i) })
	}
	for i := range n {
		c.block(12, facts(crowd(i)), tx(moved(crowd(i), nobody, curve(i), e18(1000)), announced(i)))
	}
	for i := range n {
		buy := bought(bob)
		buy.Venue, buy.Curve, buy.Token = "", curve(i), market.Address{}
		next := curve((i + 1) % n)
		c.block(12, nil, tx(moved(crowd(i), curve(i), bob, e18(200)), buy), tx(moved(crowd(i), bob, next, e18(50))))
	}
	c.block(12, facts(frog), tx(announced(0), launched(func(e *market.Launched) { e.Token, e.Curve = frog, curve(0) })))
	disputed := bought(carol)
	disputed.Venue, disputed.Curve, disputed.Token = "", curve(0), market.Address{}
	c.block(12, nil, tx(disputed))
	return c.blocks
}

// TestMoreLaunchesThanTheCacheHolds: what is launched is asked of the database where the cache has let it go, and what the cache holds
// doesn't grow with the launches.
func TestMoreLaunchesThanTheCacheHolds(t *testing.T) {
	t.Parallel()
	const launches, limit = 400, 20
	blocks := manyLaunches(launches)
	whole, small := newIndexer(t, config(), 100_000), newIndexer(t, config(), limit)
	one := func() int { return 1 }
	batched(t, whole, blocks, one, false)
	batched(t, small, blocks, one, false)
	if d := whole.db.differences(small.db); len(d) > 0 {
		t.Errorf("with a small cache the rows differ:\n%s", strings.Join(d, "\n"))
	}
	for table, n := range small.state.CachedRows() {
		if n > limit {
			t.Errorf("%d rows of %s are cached; the bound is %d", n, table, limit)
		}
	}
	traded := 0
	for _, l := range small.db.launches {
		if l.Traded {
			traded++
		}
	}
	// The curve that two launches claim speaks for neither, but the first was traded before.
	if n := len(small.db.launches); n != launches+1 || traded != launches || len(small.db.trades) != launches {
		t.Errorf("%d launches, %d of them traded, %d trades; want %d, %d, %d", n, traded, len(small.db.trades), launches+1, launches, launches)
	}
	for i := range launches {
		held := market.BalanceKey{Token: crowd(i), Account: crowd(10_000 + (i+1)%launches)}
		if b := small.db.balances[held]; !b.IsPool || b.Amount != e18(50) {
			t.Fatalf("the next token's curve holds %v of token %d, want 50 that count for no holder", b, i)
		}
		if h := small.db.tokens[crowd(i)].Holders; h.Count != 1 {
			t.Fatalf("token %d has %d holders, want bob alone", i, h.Count)
		}
	}
}
