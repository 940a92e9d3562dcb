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

// wantPlayed wants for whom the entries since the last look count in the game; 0 is nobody.
func (b *bench) wantPlayed(what string, want ...int64) {
	b.t.Helper()
	var got []int64
	for i := range b.db.entries {
		got = append(got, b.db.entries[i].Player)
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("%s: the entries count for %v; want %v", what, got, want)
	}
	b.db.entries = nil
}

// TestWhoPlays: a trade counts in the game where it counts for profit, and is worth the chain's least trade, here 2 USD.
func TestWhoPlays(t *testing.T) {
	t.Parallel()
	b := dogPool(t)
	b.next(12, nil, tx(pair(poolB, dog, usdc), moved(dog, nobody, poolB, e18(1_000)), synced(poolB, e18(1_000), e6(1_000)))) // too shallow to count
	b.next(12, []market.Fact{watched(alice, 1, b.last.Time+12), watched(bob, 2, b.last.Time+13)}, buys(alice, 10, 2), buys(bob, 10, 10))
	b.wantPlayed("worth just enough, and of the last second before he is a member", 1, 0)
	b.next(12, nil, buys(alice, 10, 1), sells(bob, 5, 5))
	b.wantPlayed("worth too little, and a sale", 0, 2)
	twice := tx(moved(dog, poolA, alice, e18(2)),
		swapped(poolA, out(e18(1)), in(e6(1)), router, alice), swapped(poolA, out(e18(1)), in(e6(1)), router, alice))
	b.next(12, nil, twice)
	b.wantPlayed("parts that are worth enough together", 1, 1)
	shallow := tx(moved(dog, poolB, bob, e18(5)), swapped(poolB, out(e18(5)), in(e6(5)), router, bob))
	mixed := tx(moved(dog, poolA, alice, e18(1)), moved(dog, poolB, alice, e18(5)),
		swapped(poolA, out(e18(1)), in(e6(1)), router, alice), swapped(poolB, out(e18(5)), in(e6(5)), router, alice))
	b.next(12, nil, shallow, mixed)
	b.wantPlayed("in a pool that is too shallow, and in part", 0, 0, 0)
	b.next(12, nil, tx(moved(dog, alice, bob, e18(5))))
	b.wantPlayed("a transfer", 0, 0)
	b.next(12, []market.Fact{watched(carol, 1, 1)})
	b.next(12, nil, buys(carol, 10, 10), sells(alice, 5, 5))
	b.wantPlayed("between two wallets of one member", 0, 0)
	b.next(12, []market.Fact{watched(alice, 3, b.last.Time+12)}, buys(alice, 10, 10))
	b.wantPlayed("for whom the wallet is by now", 3)
}
