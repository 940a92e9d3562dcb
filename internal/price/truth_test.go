package price

import (
	"math"
	"math/big"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The truth is computed with 400 bits; the package promises a relative error below 1e-12.
const (
	precision = 400
	promised  = 1e-12
)

func exact(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }

func whole(n int64) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(n) }

func quo(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Quo(a, b) }

func mul(a *big.Float, more ...*big.Float) *big.Float {
	out := new(big.Float).SetPrec(precision).Set(a)
	for _, b := range more {
		out.Mul(out, b)
	}
	return out
}

func add(a *big.Float, more ...*big.Float) *big.Float {
	out := new(big.Float).SetPrec(precision).Set(a)
	for _, b := range more {
		out.Add(out, b)
	}
	return out
}

func sub(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sub(a, b) }

func root(a *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Sqrt(a) }

func power(base *big.Float, n int) *big.Float {
	out := whole(1)
	for range n {
		out.Mul(out, base)
	}
	return out
}

// minimum is the smaller of two.
func minimum(a, b *big.Float) *big.Float {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func maximum(a, b *big.Float) *big.Float {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// sqrtAtTick is 1.0001^(tick/2), exactly enough.
func sqrtAtTick(tick int32) *big.Float {
	n := int(tick)
	if n < 0 {
		n = -n
	}
	out, square := whole(1), quo(whole(10001), whole(10000))
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out.Mul(out, square)
		}
		square = mul(square, square)
	}
	out = root(out)
	if tick < 0 {
		return quo(whole(1), out)
	}
	return out
}

// relative is |got/want - 1|; 0 when both are nought.
func relative(got float64, want *big.Float) float64 {
	if want.Sign() == 0 {
		return math.Abs(got)
	}
	d, _ := sub(quo(exact(got), want), whole(1)).Float64()
	return math.Abs(d)
}

type tester interface {
	Helper()
	Errorf(format string, args ...any)
}

func within(t tester, what string, got float64, want *big.Float, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.IsInf(got, 0) {
		t.Errorf("%s is %v, want %s", what, got, want.Text('g', 20))
	} else if e := relative(got, want); e > tolerance {
		t.Errorf("%s is %v, want %s: a relative error of %.2g, above %.0g", what, got, want.Text('g', 20), e, tolerance)
	}
}

// kept is what is left of a price after depthMove, which no double is.
func kept() *big.Float { return quo(whole(98), whole(100)) }

func drawAmount(t *rapid.T, label string, bits int) *market.Amount {
	n := rapid.IntRange(1, bits).Draw(t, label+" bits")
	raw := rapid.SliceOfN(rapid.Byte(), (n+7)/8, (n+7)/8).Draw(t, label)
	v := new(market.Amount).SetBytes(raw)
	if v.IsZero() {
		v.SetUint64(1)
	}
	return v
}

func amountFloat(v *market.Amount) *big.Float {
	return new(big.Float).SetPrec(precision).SetInt(v.ToBig())
}

func amountOf(t tester, v *big.Float) *market.Amount {
	t.Helper()
	n, _ := v.Int(nil)
	out := new(market.Amount)
	if out.SetFromBig(n) {
		t.Errorf("%s does not fit 256 bits", n)
	}
	return out
}

// stableK is x³y + y³x.
func stableK(x, y *big.Float) *big.Float { return add(mul(x, x, x, y), mul(y, y, y, x)) }

// stablePrice is the marginal price of x in y.
func stablePrice(x, y *big.Float) *big.Float {
	return quo(add(mul(whole(3), x, x, y), mul(y, y, y)), add(mul(x, x, x), mul(whole(3), y, y, x)))
}

// stableY is the reserve y that goes with x on the curve k.
func stableY(x, k *big.Float) *big.Float {
	low, high := whole(0), add(whole(1), quo(k, mul(x, x, x)))
	for range 200 {
		mid := quo(add(low, high), whole(2))
		if stableK(x, mid).Cmp(k) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// stableDepth is what y comes out until the price of x has fallen to the part of it that is kept.
func stableDepth(x, y *big.Float) *big.Float {
	k, target := stableK(x, y), mul(stablePrice(x, y), kept())
	low, high := x, mul(x, whole(2))
	for stablePrice(high, stableY(high, k)).Cmp(target) > 0 {
		high = mul(high, whole(2))
	}
	for range 120 {
		mid := quo(add(low, high), whole(2))
		if stablePrice(mid, stableY(mid, k)).Cmp(target) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return sub(y, stableY(low, k))
}

// position is liquidity in a range.
type position struct {
	lower, upper int32
	liquidity    *market.Amount
}

const (
	minTick = -887272
	maxTick = 887272
)

// pool is a V3 pool at the given square root price with positions.
func pool(s *market.Amount, tick int32, positions []position, baseIs0 bool) Concentrated {
	c := Concentrated{SqrtPriceX96: s, Liquidity: new(market.Amount), Tick: tick, BaseIs0: baseIs0}
	for _, p := range positions {
		c.Ticks = c.Ticks.AddRange(p.lower, p.upper, market.SignedAmount{Abs: *p.liquidity})
		if p.lower <= tick && tick < p.upper {
			c.Liquidity.Add(c.Liquidity, p.liquidity)
		}
	}
	return c
}

// truth is depth and locked by the whitepaper's formulas (section 6.29, 6.30), position by position.
func truth(c *Concentrated, positions []position) (depth, locked *big.Float) {
	s := quo(amountFloat(c.SqrtPriceX96), power(whole(2), 96))
	token0, token1, near := whole(0), whole(0), whole(0)
	for _, p := range positions {
		l := amountFloat(p.liquidity)
		low, high := sqrtAtTick(p.lower), sqrtAtTick(p.upper)
		at := minimum(maximum(s, low), high)
		token1 = add(token1, mul(l, sub(at, low)))
		token0 = add(token0, mul(l, sub(quo(whole(1), at), quo(whole(1), high))))
		if c.BaseIs0 { // quote is token1: down to s·√0.98
			floor := minimum(maximum(mul(s, root(kept())), low), high)
			near = add(near, mul(l, sub(at, floor)))
		} else {
			ceil := minimum(maximum(quo(s, root(kept())), low), high)
			near = add(near, mul(l, sub(quo(whole(1), at), quo(whole(1), ceil))))
		}
	}
	quoteUnit := power(whole(10), int(c.QuoteDecimals))
	quote, base, price := token1, token0, mul(s, s)
	if !c.BaseIs0 {
		quote, base, price = token0, token1, quo(whole(1), price)
	}
	inQuote := quo(mul(base, price), quoteUnit) // base·price·10^(bd-qd)/10^bd
	quote = quo(quote, quoteUnit)
	return quo(near, quoteUnit), add(quote, minimum(quote, inQuote))
}

func drawPool(t *rapid.T, widest int32, atLeast int) (Concentrated, []position) {
	tick := rapid.Int32Range(-400_000, 400_000).Draw(t, "tick")
	// Somewhere inside the tick.
	s := amountOf(t, mul(sqrtAtTick(tick), power(whole(2), 96), exact(1+4.9e-5*rapid.Float64Range(0.01, 0.99).Draw(t, "inside"))))
	n := rapid.IntRange(atLeast, 6).Draw(t, "positions")
	positions := make([]position, n)
	for i := range positions {
		lower := max(tick+rapid.Int32Range(-widest, widest).Draw(t, "lower"), minTick)
		positions[i] = position{
			lower: lower, upper: min(lower+rapid.Int32Range(1, widest).Draw(t, "width"), maxTick),
			liquidity: drawAmount(t, "liquidity", 100),
		}
	}
	c := pool(s, tick, positions, rapid.Bool().Draw(t, "base is token0"))
	c.BaseDecimals, c.QuoteDecimals = rapid.Uint8Range(0, 18).Draw(t, "base decimals"), rapid.Uint8Range(0, 18).Draw(t, "quote decimals")
	return c, positions
}
