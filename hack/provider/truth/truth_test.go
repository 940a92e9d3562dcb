package main

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/boardwalkhq/boardwalk/"

// TestTruthSharesNothingWithTheIndexer lets the program import the standard library alone.
func TestTruthSharesNothingWithTheIndexer(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); len(got) != 1 || got[0] != module+"hack/provider/truth" {
		t.Errorf("it imports %v", got)
	}
}

// words are data of some numbers.
func words(numbers ...int64) string {
	var out strings.Builder
	for _, n := range numbers {
		if n < 0 {
			fmt.Fprintf(&out, "%s%016x", strings.Repeat("f", 48), uint64(n))
		} else {
			fmt.Fprintf(&out, "%064x", n)
		}
	}
	return out.String()
}

func topic(account string) string { return "0x" + strings.Repeat("0", 24) + account }

var (
	tokenA, tokenB   = strings.Repeat("aa", 20), strings.Repeat("bb", 20)
	factory, pair    = "0x" + strings.Repeat("fa", 20), "0x" + fmt.Sprintf("%040x", 0x77)
	manager, poolKey = "0x" + strings.Repeat("04", 20), "0x" + strings.Repeat("99", 32)
)

// TestPairsByHand goes through a pair's life, which was reckoned by hand.
func TestPairsByHand(t *testing.T) {
	t.Parallel()
	b := newBook([]string{factory})
	for i, e := range []entry{
		{address: "0x" + strings.Repeat("cc", 20), topics: []string{pairCreated, topic(tokenA), topic(tokenB)}, data: words(0x78, 1), block: 1},
		{address: factory, topics: []string{pairCreated, topic(tokenA), topic(tokenB)}, data: words(0x77, 1), block: 1},
		{address: pair, topics: []string{sync}, data: words(1000, 4000), block: 1},
		{address: pair, topics: []string{sync}, data: words(1100, 3640), block: 2, time: 60},
		{address: pair, topics: []string{swapV2, topic(tokenA), topic(tokenA)}, data: words(100, 0, 0, 360), block: 2, time: 60},
		// Liquidity comes after the swap: the block ends at 4, not at 3640/1100.
		{address: pair, topics: []string{sync}, data: words(2000, 8000), block: 2, time: 60},
		{address: pair, topics: []string{sync}, data: words(1900, 8500), block: 3, time: 119},
		{address: pair, topics: []string{swapV2, topic(tokenA), topic(tokenA)}, data: words(0, 500, 100, 0), block: 3, time: 119},
		{address: pair, topics: []string{swapV2, topic(tokenA), topic(tokenA)}, data: words(5, 5, 0, 0), block: 3, time: 119}, // a donation
		{address: pair, topics: []string{sync}, data: words(2000, 8500), block: 4, time: 120},
		{address: pair, topics: []string{swapV2, topic(tokenA), topic(tokenA)}, data: words(110, 0, 10, 10), block: 4, time: 120},
	} {
		e.index = uint64(i)
		if err := b.take(&e); err != nil {
			t.Fatal(err)
		}
	}
	b.endBlock()
	p := b.pools[pair]
	if len(b.pools) != 1 || p.Token0 != "0x"+tokenA || p.Token1 != "0x"+tokenB || p.reserve0.Int64() != 2000 || p.reserve1.Int64() != 8500 || len(p.Swaps) != 3 {
		t.Fatalf("the pools are %+v", b.pools)
	}
	if s := p.Swaps[2]; s.Amount0 != "100" || s.Amount1 != "-10" {
		t.Errorf("the last swap is %+v", s)
	}
	got := p.candles(10)
	if len(got) != 2 || got[0] != (Candle{60, 40, 8500. / 1900 * 10, 40, 8500. / 1900 * 10, "200", "860", 1, 1}) ||
		got[1] != (Candle{120, 42.5, 42.5, 42.5, 42.5, "100", "10", 1, 0}) {
		t.Errorf("the candles are %+v", got)
	}
}

// TestStablePoolsByHand trades on the curve x³y+y³x, where the price is the slope: with two of token1 for one of token0 it is
// (3·2+8)/(1+3·4).
func TestStablePoolsByHand(t *testing.T) {
	t.Parallel()
	b := newBook([]string{factory})
	for _, e := range []entry{
		{address: factory, topics: []string{solidlyPool, topic(tokenA), topic(tokenB), "0x" + fmt.Sprintf("%064x", 1)}, data: words(0x77, 1), block: 1},
		{address: factory, topics: []string{solidlyPool, topic(tokenA), topic(tokenB), "0x" + fmt.Sprintf("%064x", 0)}, data: words(0x78, 2), block: 1},
		{address: pair, topics: []string{syncSolidly}, data: words(1000, 2000), block: 2},
		{address: pair, topics: []string{swapSolidly, topic(tokenA), topic(tokenA)}, data: words(100, 0, 0, 90), block: 2},
	} {
		if err := b.take(&e); err != nil {
			t.Fatal(err)
		}
	}
	b.endBlock()
	p, other := b.pools[pair], b.pools["0x"+fmt.Sprintf("%040x", 0x78)]
	if p == nil || other == nil || !p.Stable || other.Stable || len(p.Swaps) != 1 || p.Swaps[0].Amount0 != "100" || p.Swaps[0].Amount1 != "-90" {
		t.Fatalf("the pools are %+v", b.pools)
	}
	if got := p.candles(1); len(got) != 1 || got[0].Close != 14./13 {
		t.Errorf("the candles are %+v", got)
	}
}

// TestConcentratedPoolsByHand swaps in pools of Uniswap V4's and V3's kind, whose amounts have opposite signs.
func TestConcentratedPoolsByHand(t *testing.T) {
	t.Parallel()
	b := newBook([]string{manager, factory})
	spaced := "0x" + fmt.Sprintf("%040x", 0x78) // a pool that logs its price before its factory announces it
	const doubled = 2 << 40                     // far from 2^96, which a test's numbers don't reach
	for _, e := range []entry{
		{address: manager, topics: []string{openedV4, poolKey, topic(strings.Repeat("0", 40)), topic(tokenB)}, data: words(3000, 60, 0, 1<<40, -12), block: 1},
		{address: manager, topics: []string{swapV4, poolKey, topic(tokenA)}, data: words(-10, 9, doubled, 5, -7, 3000), block: 1},
		{address: factory, topics: []string{swapV4, poolKey, topic(tokenA)}, data: words(-10, 9, 1, 5, 0, 3000), block: 1}, // no pool of its own
		{address: factory, topics: []string{poolCreated, topic(tokenA), topic(tokenB), topic(tokenB)}, data: words(60, 0x77), block: 1},
		{address: pair, topics: []string{initialized}, data: words(1<<40, 3), block: 1},
		{address: pair, topics: []string{swapV3, topic(tokenA), topic(tokenA)}, data: words(10, -9, doubled, 5, 4), block: 1},
		{address: spaced, topics: []string{initialized}, data: words(1<<40, -5), block: 1},
		{address: factory, topics: []string{spacedPool, topic(tokenA), topic(tokenB), "0x" + fmt.Sprintf("%064x", 200)}, data: words(0x78), block: 1},
	} {
		if err := b.take(&e); err != nil {
			t.Fatal(err)
		}
	}
	b.endBlock()
	if p := b.pools[spaced]; p == nil || p.sqrtPrice == nil || p.sqrtPrice.Int64() != 1<<40 || p.Tick != -5 {
		t.Errorf("the pool that was priced first is %+v", p)
	}
	for id, tick := range map[string]int64{poolKey: -7, pair: 4} {
		p := b.pools[id]
		if p == nil || len(p.Swaps) != 1 || p.Swaps[0].Amount0 != "10" || p.Swaps[0].Amount1 != "-9" || p.sqrtPrice.Int64() != doubled || p.Tick != tick {
			t.Fatalf("pool %s is %+v", id, p)
		}
		if want := math.Pow(doubled/math.Pow(2, 96), 2); p.Swaps[0].price != want {
			t.Errorf("pool %s has the price %g, wanted %g", id, p.Swaps[0].price, want)
		}
	}
}
