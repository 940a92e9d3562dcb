package derive_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// wantStream wants the items that came since the last look: the trades by their members and sides, the launches by their tokens.
func (b *bench) wantStream(what string, want ...string) {
	b.t.Helper()
	var got []string
	for _, it := range b.db.stream {
		if it.Kind == market.StreamTrade {
			side := map[bool]string{false: "buys", true: "sells"}[it.Trade.Sell]
			got = append(got, fmt.Sprintf("%d %s", it.Trade.Member, side))
		} else {
			got = append(got, it.Token.String())
		}
		if it.Time != b.last.Time {
			b.t.Errorf("%s: an item is of %d, not of %d", what, it.Time, b.last.Time)
		}
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: the stream has %q; want %q", what, got, want)
	}
	b.db.stream = nil
}

// TestStreamOfTrades: what a member buys, or sells, of one token in one transaction is one item.
func TestStreamOfTrades(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, nil, tx(pair(poolB, dog, usdc), moved(dog, nobody, poolB, e18(10_000)), synced(poolB, e18(10_000), e6(10_000))))
	b.next(12, nil, buys(alice, 10, 10))
	b.wantStream("before she is a member")
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12), watched(bob, 2, b.last.Time+13)}, buys(alice, 10, 10), buys(bob, 10, 10))
	b.wantStream("in the second in which she becomes one, and in the last before he does", "1 buys")
	inTwo := tx(moved(dog, poolA, alice, e18(10)), moved(dog, poolB, alice, e18(5)),
		swapped(poolA, out(e18(10)), in(e6(10)), router, alice), swapped(poolB, out(e18(5)), in(e6(5)), router, alice))
	b.next(12, nil, inTwo, buys(alice, 1, 1), sells(bob, 5, 5))
	b.wantStream("two pools in one transaction, and another transaction", "1 buys", "1 buys", "2 sells")
	b.next(12, nil, tx(moved(dog, alice, bob, e18(5))))
	b.wantStream("a transfer")
}

// TestStreamOfLaunches: a launch is told once, when it has a price in USD.
func TestStreamOfLaunches(t *testing.T) {
	t.Parallel()
	b := stage(t)
	b.launchPup()
	b.wantStream("a launch on a curve that is priced by its reserves", pup.String())
	b.next(12, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
	b.wantStream("a trade of it")

	b = stage(t)
	b.launchPup(func(e *market.Launched) { e.Quote = cat }) // which nothing prices
	b.next(12, nil, tx(moved(pup, pad, bob, e18(200)), bought(bob)))
	b.wantStream("a launch on a curve whose price nobody knows in USD")
	if !b.db.launches[pup].Unvalued {
		t.Error("it counts as valued")
	}
}
