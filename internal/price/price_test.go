package price

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := drawAmount(t, "raw", 256)
		d := rapid.Uint8Range(0, 64).Draw(t, "decimals")
		within(t, "the whole amount", Whole(v, d), quo(amountFloat(v), power(whole(10), int(d))), promised)
	})
}

func TestConstantProduct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, quote := drawAmount(t, "base", 112), drawAmount(t, "quote", 112)
		baseDecimals, quoteDecimals := rapid.Uint8Range(0, 24).Draw(t, "base decimals"), rapid.Uint8Range(0, 24).Draw(t, "quote decimals")
		got := ConstantProduct{Reserves{Base: Whole(base, baseDecimals), Quote: Whole(quote, quoteDecimals)}}.Quote()
		b := quo(amountFloat(base), power(whole(10), int(baseDecimals)))
		q := quo(amountFloat(quote), power(whole(10), int(quoteDecimals)))
		within(t, "price", got.Price, quo(q, b), promised)
		// x·y=k: the price falls to p' when the quote falls by the square root of p'/p.
		within(t, "depth", got.Depth, mul(q, sub(whole(1), root(kept()))), promised)
		within(t, "locked", got.Locked, mul(whole(2), q), promised)
	})
}

func TestEmptyPools(t *testing.T) {
	t.Parallel()
	zero := new(market.Amount)
	states := map[string]State{
		"ranges": Concentrated{SqrtPriceX96: zero, Liquidity: zero}, "a curve": BondingCurve{}, "a curve with reserves": BondingCurve{Virtual: &Reserves{}},
	}
	for _, r := range []Reserves{{}, {Base: 1}, {Quote: 1}} {
		states[fmt.Sprint("constant product of ", r)] = ConstantProduct{r}
		states[fmt.Sprint("stable of ", r)] = StableCurve{r}
	}
	for name, state := range states {
		if got := state.Quote(); got != (Quote{}) {
			t.Errorf("%s: %+v; want nought", name, got)
		}
	}
}

func TestStableCurve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Float64Range(1e-3, 1e12).Draw(t, "base")
		quote := base * math.Exp(rapid.Float64Range(-5, 5).Draw(t, "skew"))
		got := StableCurve{Reserves{Base: base, Quote: quote}}.Quote()
		x, y := exact(base), exact(quote)
		p := stablePrice(x, y)
		within(t, "price", got.Price, p, promised)
		within(t, "locked", got.Locked, add(y, minimum(y, mul(x, p))), promised)
	})
}

// A pool must not look deeper than it is: depth decides who prices a token.
func TestStableDepthIsNotTooMuch(t *testing.T) {
	t.Parallel()
	for _, quote := range []float64{1e6, 1.1e6, 1.5e6, 2e6, 5e6, 2e7, 1e8, 9e5, 5e5, 1e5, 1e4} {
		got := StableCurve{Reserves{Base: 1e6, Quote: quote}}.Quote()
		truth, _ := stableDepth(exact(1e6), exact(quote)).Float64()
		if depth := got.Depth; depth > truth*(1+1e-9) {
			t.Errorf("a stable pool of 1,000,000 and %.0f has the depth %.2f, which is %.2f times the %.2f that come out "+
				"within 2 %%", quote, depth, depth/truth, truth)
		}
	}
}

// Nor does a pool look shallower than it is, whatever the reserves' ratio.
func TestStableDepth(t *testing.T) {
	t.Parallel()
	for _, quote := range []float64{1e6, 1.1e6, 1.5e6, 2e6, 5e6, 2e7, 1e8, 9e5, 5e5, 1e5, 1e4} {
		got := StableCurve{Reserves{Base: 1e6, Quote: quote}}.Quote()
		within(t, fmt.Sprintf("the depth of 1,000,000 and %.0f", quote), got.Depth, stableDepth(exact(1e6), exact(quote)), 1e-9)
	}
}

func TestConcentratedPrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawAmount(t, "square root", 160)
		c := Concentrated{
			SqrtPriceX96: s, Liquidity: new(market.Amount), BaseIs0: rapid.Bool().Draw(t, "base is token0"),
			BaseDecimals: rapid.Uint8Range(0, 24).Draw(t, "base decimals"), QuoteDecimals: rapid.Uint8Range(0, 24).Draw(t, "quote decimals"),
		}
		want := quo(amountFloat(s), power(whole(2), 96))
		want = mul(want, want)
		if !c.BaseIs0 {
			want = quo(whole(1), want)
		}
		want = quo(mul(want, power(whole(10), int(c.BaseDecimals))), power(whole(10), int(c.QuoteDecimals)))
		within(t, "price", c.price(), want, promised)
	})
}

// WETH at 2,500 USDC, from both sides.
func TestConcentratedPriceOfWETH(t *testing.T) {
	t.Parallel()
	// token0 is USDC (6 decimals), token1 WETH (18): the raw price of token0 is 1e12/2500.
	s := amountOf(t, mul(root(quo(whole(1e12), whole(2500))), power(whole(2), 96)))
	c := Concentrated{SqrtPriceX96: s, Liquidity: new(market.Amount), BaseDecimals: 18, QuoteDecimals: 6}
	within(t, "price", c.price(), whole(2500), promised)
	c = Concentrated{SqrtPriceX96: s, Liquidity: new(market.Amount), BaseIs0: true, BaseDecimals: 6, QuoteDecimals: 18}
	within(t, "price", c.price(), quo(whole(1), whole(2500)), promised)
}

func TestConcentratedDepth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, positions := drawPool(t, 2000, 1)
		depth, locked := c.depthAndLocked()
		wantDepth, wantLocked := truth(&c, positions)
		// A position's edge is a difference of neighbouring square roots: what the doubles lose there is weighed
		// against the pool's active and neighbouring liquidity, not against what is left of it.
		all := whole(0)
		for _, p := range positions {
			all = add(all, amountFloat(p.liquidity))
		}
		s := quo(amountFloat(c.SqrtPriceX96), power(whole(2), 96))
		scale := mul(all, s)
		if !c.BaseIs0 {
			scale = quo(all, s)
		}
		scale = quo(scale, power(whole(10), int(c.QuoteDecimals)))
		check := func(what string, got float64, want *big.Float) {
			t.Helper()
			off, _ := quo(sub(exact(got), want), scale).Float64()
			if math.Abs(off) > promised {
				t.Errorf("%s is %v, want %s: off by %.2g of the liquidity's unit", what, got, want.Text('g', 20), off)
			}
		}
		check("depth", depth, wantDepth)
		check("locked", locked, wantLocked)
	})
}

// The edges of positions far from tick 0 are as exact as those near it.
func TestTickRoots(t *testing.T) {
	t.Parallel()
	worst, worstTick := 0.0, int32(0)
	for _, tick := range []int32{0, 1, -1, 10, -1000, 60000, -76012, 200000, -200000, 276324, -276324, 400000, -400000, minTick, maxTick} {
		if e := relative(sqrtAt(tick), sqrtAtTick(tick)); e > worst {
			worst, worstTick = e, tick
		}
	}
	if worst > promised {
		t.Errorf("the square root price of tick %d has a relative error of %.2g, above the promised %.0g", worstTick, worst, promised)
	}
}

// A position of one tick is as deep as the tokens in it, wherever it lies.
func TestOneTickPosition(t *testing.T) {
	t.Parallel()
	for _, tick := range []int32{0, -1, 1234, -76012, 200310, -276325, 399999} {
		for _, baseIs0 := range []bool{true, false} {
			s := amountOf(t, mul(sqrtAtTick(tick), power(whole(2), 96), exact(1+2.5e-5)))
			positions := []position{{tick, tick + 1, new(market.Amount).Lsh(market1(), 90)}}
			c := pool(s, tick, positions, baseIs0)
			depth, locked := c.depthAndLocked()
			wantDepth, wantLocked := truth(&c, positions)
			// The whole position lies within 2 %: all of its quote is depth. It is worth two ten-thousandths of
			// its liquidity, so the doubles lose four digits.
			within(t, "depth", depth, wantDepth, 1e-8)
			within(t, "locked", locked, wantLocked, 1e-8)
			if depth > locked {
				t.Errorf("tick %d: depth %v is more than the locked %v", tick, depth, locked)
			}
		}
	}
}

func market1() *market.Amount { return new(market.Amount).SetUint64(1) }

// A position over the full range is Uniswap V2.
func TestFullRangeIsConstantProduct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tick := rapid.Int32Range(-300_000, 300_000).Draw(t, "tick")
		inside := exact(1 + 4.9e-5*rapid.Float64Range(0.01, 0.99).Draw(t, "inside"))
		s := amountOf(t, mul(sqrtAtTick(tick), power(whole(2), 96), inside))
		l := new(market.Amount).Lsh(market1(), uint(rapid.IntRange(60, 110).Draw(t, "liquidity bits")))
		c := pool(s, tick, []position{{minTick, maxTick, l}}, rapid.Bool().Draw(t, "base is token0"))
		c.BaseDecimals, c.QuoteDecimals = rapid.Uint8Range(0, 18).Draw(t, "base decimals"), rapid.Uint8Range(0, 18).Draw(t, "quote decimals")
		root := quo(amountFloat(s), power(whole(2), 96))
		token0, token1 := quo(amountFloat(l), root), mul(amountFloat(l), root)
		base, quote := token0, token1
		if !c.BaseIs0 {
			base, quote = token1, token0
		}
		b, _ := quo(base, power(whole(10), int(c.BaseDecimals))).Float64()
		q, _ := quo(quote, power(whole(10), int(c.QuoteDecimals))).Float64()
		want, got := ConstantProduct{Reserves{Base: b, Quote: q}}.Quote(), c.Quote()
		within(t, "price", got.Price, exact(want.Price), 1e-9)
		within(t, "depth", got.Depth, exact(want.Depth), 1e-9)
		// The range ends somewhere, V2 does not.
		within(t, "locked", got.Locked, exact(want.Locked), 1e-5)
	})
}

// Sides are the tokens of all positions, whichever token is the base: what each position holds by the whitepaper's formulas.
func TestSides(t *testing.T) {
	t.Parallel()
	amount := func(n uint) *market.Amount { return new(market.Amount).Lsh(market1(), n) }
	const tick = 60_000 // token0 is worth 403 of token1
	s := amountOf(t, mul(sqrtAtTick(tick), power(whole(2), 96), exact(1+1e-5)))
	positions := []position{
		{tick - 100, tick + 300, amount(90)},
		{tick - 5000, tick - 1000, amount(91)}, // token1 alone
		{tick + 1000, tick + 9000, amount(92)}, // token0 alone
		{minTick, maxTick, amount(80)},
	}
	for _, baseIs0 := range []bool{true, false} {
		c := pool(s, tick, positions, baseIs0)
		// In the smallest units: the decimals play no part.
		c.BaseDecimals, c.QuoteDecimals = 18, 6
		root := quo(amountFloat(s), power(whole(2), 96))
		want0, want1 := whole(0), whole(0)
		for _, p := range positions {
			l, low, high := amountFloat(p.liquidity), sqrtAtTick(p.lower), sqrtAtTick(p.upper)
			at := minimum(maximum(root, low), high)
			want0 = add(want0, mul(l, sub(quo(whole(1), at), quo(whole(1), high))))
			want1 = add(want1, mul(l, sub(at, low)))
		}
		token0, token1 := c.Sides()
		within(t, "token0", token0, want0, 1e-9)
		within(t, "token1", token1, want1, 1e-9)
	}
	c := pool(new(market.Amount), tick, positions, true)
	if token0, token1 := c.Sides(); token0 != 0 || token1 != 0 {
		t.Errorf("a pool without a price holds %v and %v, want nought of either", token0, token1)
	}
}

// A pool whose liquidity is all of its own token gives sellers nothing.
func TestOneSidedPool(t *testing.T) {
	t.Parallel()
	for _, baseIs0 := range []bool{true, false} {
		const tick = 100
		s := amountOf(t, mul(sqrtAtTick(tick), power(whole(2), 96), exact(1+1e-5)))
		// token0 lies above the price and token1 below it.
		own := position{tick + 1, tick + 20_000, new(market.Amount).Lsh(market1(), 100)}
		if !baseIs0 {
			own.lower, own.upper = tick-20_000, tick
		}
		c := pool(s, tick, []position{own}, baseIs0)
		if depth, locked := c.depthAndLocked(); depth != 0 || locked != 0 {
			t.Errorf("base is token0 %v: depth %v and locked %v, want nought", baseIs0, depth, locked)
		}
		// The other side alone is quote: all there is, and nothing of it counts twice.
		other := position{tick - 50, tick, own.liquidity}
		if !baseIs0 {
			other.lower, other.upper = tick+1, tick+51
		}
		c = pool(s, tick, []position{other}, baseIs0)
		if depth, locked := c.depthAndLocked(); depth <= 0 || math.Abs(locked/depth-1) > 1e-9 {
			t.Errorf("base is token0 %v: depth %v and locked %v, want both alike", baseIs0, depth, locked)
		}
	}
}

// Far liquidity is locked, but no depth.
func TestFarLiquidityIsNoDepth(t *testing.T) {
	t.Parallel()
	s := amountOf(t, mul(sqrtAtTick(0), power(whole(2), 96), exact(1+1e-5)))
	// 2 % is about 202 ticks.
	c := pool(s, 0, []position{{-5000, -203, new(market.Amount).Lsh(market1(), 100)}}, true)
	if depth, locked := c.depthAndLocked(); depth != 0 || locked <= 0 {
		t.Errorf("depth %v and locked %v, want none and some", depth, locked)
	}
}

// Ticks unknown: an empty map has no depth whatever the active liquidity.
func TestNoTicksNoDepth(t *testing.T) {
	t.Parallel()
	c := Concentrated{SqrtPriceX96: new(market.Amount).Lsh(market1(), 96), Liquidity: new(market.Amount).Lsh(market1(), 100), BaseIs0: true}
	if depth, locked := c.depthAndLocked(); depth != 0 || locked != 0 {
		t.Errorf("depth %v and locked %v, want nought", depth, locked)
	}
}

// On the boundary of two ranges the pool's tick is one below when the price came from above: both views are one state.
func TestBoundary(t *testing.T) {
	t.Parallel()
	const edge = 600
	s := amountOf(t, add(mul(sqrtAtTick(edge), power(whole(2), 96)), whole(1)))
	positions := []position{
		{0, edge, new(market.Amount).Lsh(market1(), 90)},
		{edge, 1200, new(market.Amount).Lsh(market1(), 91)},
	}
	for _, baseIs0 := range []bool{true, false} {
		above, below := pool(s, edge, positions, baseIs0), pool(s, edge-1, positions, baseIs0)
		d0, l0 := above.depthAndLocked()
		d1, l1 := below.depthAndLocked()
		within(t, "depth", d1, exact(d0), 1e-9)
		within(t, "locked", l1, exact(l0), 1e-9)
	}
}

// More liquidity is never less depth, and depth is never more than what is locked.
func TestDepthIsMonotonic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, positions := drawPool(t, 5000, 2)
		depth, locked := c.depthAndLocked()
		fewer := pool(c.SqrtPriceX96, c.Tick, positions[1:], c.BaseIs0)
		fewer.BaseDecimals, fewer.QuoteDecimals = c.BaseDecimals, c.QuoteDecimals
		lessDepth, lessLocked := fewer.depthAndLocked()
		// What one double can lose of the sum.
		const slack = 1e-9
		if depth < lessDepth*(1-slack) || locked < lessLocked*(1-slack) {
			t.Errorf("another position turns depth %v into %v and locked %v into %v", lessDepth, depth, lessLocked, locked)
		}
		if depth < 0 || locked < 0 || depth > locked*(1+slack) {
			t.Errorf("depth %v, locked %v", depth, locked)
		}
	})
}

// The order in which positions came does not matter.
func TestDepthHasNoOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, positions := drawPool(t, 3000, 2)
		depth, locked := c.depthAndLocked()
		slices.Reverse(positions)
		other := pool(c.SqrtPriceX96, c.Tick, positions, c.BaseIs0)
		other.BaseDecimals, other.QuoteDecimals = c.BaseDecimals, c.QuoteDecimals
		if d, l := other.depthAndLocked(); d != depth || l != locked {
			t.Errorf("depth %v and locked %v; the other way round %v and %v", depth, locked, d, l)
		}
	})
}

func TestCloseInQuote(t *testing.T) {
	t.Parallel()
	c := Close{USD: 3, Native: 0.001, VolumeUSD: 600, VolumeQuote: 200}
	silent := Close{USD: 3, Native: 0.001}
	for _, tt := range []struct {
		name   string
		close  Close
		native bool
		pegUSD float64
		want   float64
	}{
		{"the chain's own coin", c, true, 0, 0.001},
		{"the chain's own coin goes before a peg", c, true, 1, 0.001},
		{"a quote of half a dollar", c, false, 0.5, 6},
		{"a peg of two dollars", c, false, 2, 1.5},
		{"a peg needs no volume", silent, false, 2, 1.5},
		{"by volume: a quote is worth three dollars", c, false, 0, 1},
		{"neither peg nor volume", silent, false, 0, 0},
		{"a quote's volume without a value in USD", Close{USD: 3, VolumeQuote: 200}, false, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.close.InQuote(tt.native, tt.pegUSD); got != tt.want {
				t.Errorf("the close is %v quotes, want %v", got, tt.want)
			}
		})
	}
}

func TestNanoUSD(t *testing.T) {
	t.Parallel()
	amount := func(s string) *market.Amount {
		v := new(market.Amount)
		if err := v.SetFromDecimal(s); err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := []struct {
		name     string
		quote    string
		decimals uint8
		usd      float64
		want     int64
		ok       bool
	}{
		{"a dollar", "1000000", 6, 1, 1e9, true},
		{"one unit of USDC", "1", 6, 1, 1000, true},
		{"one ETH", "1000000000000000000", 18, 2500, 2500e9, true},
		{"one wei", "1", 18, 2500, 0, true},
		{"nothing", "0", 18, 2500, 0, true},
		{"half a nano is even nought", "5", 10, 1, 0, true},
		{"one and a half is two", "15", 10, 1, 2, true},
		{"two and a half is two", "25", 10, 1, 2, true},
		{"three and a half is four", "35", 10, 1, 4, true},
		{"a quarter of a dollar's nano", "1", 9, 0.25, 0, true},
		{"one and a half by price", "3", 9, 0.5, 2, true},
		{"two and a half by price", "5", 9, 0.5, 2, true},
		{"no price", "1000000", 6, 0, 0, false},
		{"a negative price", "1000000", 6, -1, 0, false},
		{"a price that is no number", "1000000", 6, math.NaN(), 0, false},
		{"an infinite price", "1000000", 6, math.Inf(1), 0, false},
		{"nothing at an infinite price", "0", 6, math.Inf(1), 0, false},
		{"nine billion dollars", "9000000000000000", 6, 1, 9_000_000_000_000_000_000, true},
		{"2^63 nano", "9223372036854775808", 9, 1, 0, false},
		{"the largest amount", "115792089237316195423570985008687907853269984665640564039457584007913129639935", 0, 1e300, 0, false},
		{"the largest amount of a token of 64 decimals", "115792089237316195423570985008687907853269984665640564039457584007913129639935", 64, 1, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := NanoUSD(amount(tt.quote), tt.decimals, tt.usd)
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %d, %v; want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// Ties are the cases in which "half to even" means something: an amount of 10 decimals whose last digit is 5.
func TestNanoUSDTies(t *testing.T) {
	t.Parallel()
	wrong := 0
	first := uint64(0)
	for n := range uint64(100_000) {
		want := n // n and a half
		if n%2 == 1 {
			want++
		}
		v := new(market.Amount).SetUint64(10*n + 5)
		if got, ok := NanoUSD(v, 10, 1); !ok || uint64(got) != want {
			if wrong == 0 {
				first = n
			}
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%d of 100,000 ties are not rounded to even, the first one at %d.5", wrong, first)
	}
}

func TestNanoUSDIsNear(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		quote := drawAmount(t, "quote", 128)
		decimals := rapid.Uint8Range(0, 24).Draw(t, "decimals")
		usd := math.Exp(rapid.Float64Range(-30, 30).Draw(t, "log price"))
		got, ok := NanoUSD(quote, decimals, usd)
		want := mul(quo(amountFloat(quote), power(whole(10), int(decimals))), exact(usd), whole(1e9))
		if !ok {
			if want.Cmp(exact(math.MaxInt64*(1-1e-12))) < 0 {
				t.Errorf("%s nano do not fit", want.Text('g', 20))
			}
			return
		}
		off, _ := sub(whole(got), want).Float64()
		size, _ := want.Float64()
		if math.Abs(off) > 0.5000001+size*promised {
			t.Errorf("got %d, want %s", got, want.Text('f', 3))
		}
	})
}

// Between two ranges there may be nothing. What lies beyond such a gap counts like anything else, also when the sums
// of liquidity have more digits than a double.
func TestLiquidityBeyondAGap(t *testing.T) {
	t.Parallel()
	amount := func(s string) *market.Amount {
		v := new(market.Amount)
		if err := v.SetFromDecimal(s); err != nil {
			t.Fatal(err)
		}
		return v
	}
	positions := []position{
		{-10, 10, amount("9007199254740992")}, // 2^53: one more is lost in a double
		{-20, 20, amount("1")},
		{-60, -40, amount("9007199254740992")},
		{40, 60, amount("9007199254740992")},
	}
	s := amountOf(t, mul(power(whole(2), 96), exact(1+1e-5)))
	for _, baseIs0 := range []bool{true, false} {
		c := pool(s, 0, positions, baseIs0)
		depth, locked := c.depthAndLocked()
		wantDepth, wantLocked := truth(&c, positions)
		within(t, "depth", depth, wantDepth, 1e-9)
		within(t, "locked", locked, wantLocked, 1e-9)
	}
}

// TestBondingCurve: a curve is as deep as its own reserves say, or as what it has raised would make a pool, and never deeper than that.
func TestBondingCurve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		curve BondingCurve
		want  Quote
	}{
		"with its own reserves":       {BondingCurve{Virtual: &Reserves{Base: 1000, Quote: 50}, Raised: 20}, Quote{0.05, 50 * (1 - math.Sqrt(0.98)), 40}},
		"that has raised next to nil": {BondingCurve{Virtual: &Reserves{Base: 1000, Quote: 50}, Raised: 0.1}, Quote{0.05, 0.1, 0.2}},
		"that tells its price":        {BondingCurve{Told: 3, Raised: 20}, Quote{3, 20 * (1 - math.Sqrt(0.98)), 40}},
		"that is over":                {BondingCurve{Virtual: &Reserves{Base: 1000, Quote: 50}, Raised: 20, IsOver: true}, Quote{0.05, 0, 0}},
	} {
		got := c.curve.Quote()
		for figure, pair := range map[string][2]float64{"price": {got.Price, c.want.Price}, "depth": {got.Depth, c.want.Depth}, "locked": {got.Locked, c.want.Locked}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12*max(pair[1], 1) {
				t.Errorf("a curve %s has the %s %v, want %v", name, figure, pair[0], pair[1])
			}
		}
	}
}

// TestVirtualReserves: what is virtual moves the price, and is nothing that anybody could take out. The first row is a recorded sale in a pool of PumpSwap
// (TKsTp2znT79Y…), whose price is that of its whole reserves.
func TestVirtualReserves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reserves Reserves
		want     Quote
	}{
		"recorded": {
			Reserves{Base: 183503759.061426, Quote: 78.597876262, VirtualQuote: 17.584505289},
			Quote{96.182381551 / 183503759.061426, 96.182381551 * (1 - math.Sqrt(0.98)), 2 * 78.597876262},
		},
		"more virtual than real": {Reserves{Base: 100, Quote: 1, VirtualQuote: 999}, Quote{10, 1, 2}},
		"less than real":         {Reserves{Base: 100, Quote: 100, VirtualQuote: -50}, Quote{0.5, 50 * (1 - math.Sqrt(0.98)), 150}},
		"nothing is left":        {Reserves{Base: 100, Quote: 50, VirtualQuote: -50}, Quote{}},
		"of the base":            {Reserves{Base: 100, Quote: 50, VirtualBase: 100}, Quote{0.25, 50 * (1 - math.Sqrt(0.98)), 75}},
		"an empty pool":          {Reserves{Base: 100, VirtualQuote: 50}, Quote{}},
		"a sold one":             {Reserves{Quote: 100, VirtualBase: 50}, Quote{}},
		"no base is left":        {Reserves{Base: 50, Quote: 100, VirtualBase: -50}, Quote{}},
	} {
		got := ConstantProduct{c.reserves}.Quote()
		for figure, pair := range map[string][2]float64{"price": {got.Price, c.want.Price}, "depth": {got.Depth, c.want.Depth}, "locked": {got.Locked, c.want.Locked}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12*max(pair[1], 1) {
				t.Errorf("%s: the %s is %v, want %v", name, figure, pair[0], pair[1])
			}
		}
	}
}
