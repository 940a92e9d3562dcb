package price

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// madePool is a pool of DAMM v2 with a swap, by the arithmetic of the program's makers. Amounts are decimal, square roots of prices in units of 2^-64.
type madePool struct {
	Price, Liquidity, A, B, Next, Crossed, DepthA, DepthB market.Amount
}

func madePools(t *testing.T) (list []madePool) {
	t.Helper()
	script, err := svm.Script(t.Context(), "testdata/onerange.cjs", "1")
	if err != nil {
		t.Fatal(err)
	}
	script.Stderr = os.Stderr
	out, err := script.Output()
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var p madePool
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// x96 is the square root of a price in units of 2^-96.
func x96(x64 market.Amount) (out market.Amount) {
	out.Lsh(&x64, 32)
	return out
}

// TestOneRange holds the depth of pools of one range, and the liquidity that their swaps tell, against the arithmetic of the program's makers.
func TestOneRange(t *testing.T) {
	t.Parallel()
	told, deeper := 0, 0
	for _, m := range madePools(t) {
		before := x96(m.Price)
		for _, baseIs0 := range []bool{true, false} {
			quote := func(liquidity market.Amount) Quote {
				p := &market.Pool{Reserve0: m.A, Reserve1: m.B, BaseIs0: baseIs0}
				return OneRange{
					Reserves: ReservesOf(p, 6, 9), SqrtPriceX96: &before, Liquidity: &liquidity, BaseIs0: baseIs0, BaseDecimals: 6, QuoteDecimals: 9,
				}.Quote()
			}
			want := m.DepthB.Float64() / 1e9
			if !baseIs0 {
				want = m.DepthA.Float64() / 1e9
			}
			unit := 2e-9 // the program rounds to whole units, and the pool's reserves are rounded
			if got := quote(m.Liquidity).Depth; math.Abs(got-want) > 1e-6*want+unit {
				t.Errorf("%+v, base is the first token: %v: depth %v, want %v", m, baseIs0, got, want)
			}
			switch unknown := quote(market.Amount{}).Depth; {
			case unknown > want*1.000001+unit:
				t.Errorf("%+v, base is the first token: %v: depth %v without the liquidity, which is more than %v", m, baseIs0, unknown, want)
			case unknown < want/1.5:
				deeper++
			}
		}
		swap := market.Swap{SqrtPriceX96: x96(m.Next), Crossed: m.Crossed}
		got, want := LiquidityAfter(&market.Pool{Protocol: market.MeteoraDAMMv2, SqrtPriceX96: before}, &swap), m.Liquidity.Float64()
		if got.IsZero() {
			continue
		}
		if told++; math.Abs(got.Float64()-want) > 0.0002*want {
			t.Errorf("%+v: liquidity %s, want %s", m, got.Dec(), m.Liquidity.Dec())
		}
	}
	if told < 150 || deeper < 100 {
		t.Errorf("%d swaps told the liquidity, and %d pools are deeper than their reserves tell", told, deeper)
	}
}

// TestSwapsThatTellNoLiquidity: what is too small or told by nobody makes nothing known, and what is known stays unless a swap shows that it is wrong.
func TestSwapsThatTellNoLiquidity(t *testing.T) {
	t.Parallel()
	amount := func(n uint64, bits uint) (a market.Amount) {
		a.SetUint64(n)
		a.Lsh(&a, bits)
		return a
	}
	const one = 1 << 20 // of the square root of the price, in units of 2^-64, shifted by 44
	pool := market.Pool{Protocol: market.MeteoraDAMMv2, SqrtPriceX96: amount(one, 76)}
	moved := func(by uint64) market.Amount {
		a := pool.SqrtPriceX96
		rise := amount(by, 32)
		a.Add(&a, &rise)
		return a
	}
	for name, c := range map[string]struct {
		liquidity uint64
		swap      market.Swap
		want      market.Amount
	}{
		"at the bounds":               {0, market.Swap{SqrtPriceX96: moved(1 << 16), Crossed: amount(10_000, 0)}, amount(10_000, 112)},
		"too little":                  {0, market.Swap{SqrtPriceX96: moved(1 << 16), Crossed: amount(9_999, 0)}, market.Amount{}},
		"too small a move":            {0, market.Swap{SqrtPriceX96: moved(1<<16 - 1), Crossed: amount(10_000, 0)}, market.Amount{}},
		"no move":                     {0, market.Swap{SqrtPriceX96: pool.SqrtPriceX96, Crossed: amount(1, 60)}, market.Amount{}},
		"none told":                   {0, market.Swap{SqrtPriceX96: moved(1 << 40)}, market.Amount{}},
		"known":                       {7, market.Swap{SqrtPriceX96: moved(1 << 40)}, amount(7, 0)},
		"known, and too small a swap": {7, market.Swap{SqrtPriceX96: moved(1 << 40), Crossed: amount(9_999, 0)}, amount(7, 0)},
		"known wrong":                 {7, market.Swap{SqrtPriceX96: moved(1 << 40), Crossed: amount(1, 60)}, amount(1<<20, 128)},
		"known, to 0.9 %":             {10_090, market.Swap{SqrtPriceX96: moved(1 << 40), Crossed: amount(10_000, 0)}, amount(10_090, 88)},
		"known, to 1.1 %":             {10_110, market.Swap{SqrtPriceX96: moved(1 << 40), Crossed: amount(10_000, 0)}, amount(10_000, 88)},
		"to a price of zero":          {0, market.Swap{Crossed: amount(1, 40)}, amount(1<<8, 96)},
	} {
		p := pool
		if p.Liquidity = amount(c.liquidity, 0); c.liquidity > 7 {
			p.Liquidity = amount(c.liquidity, 88)
		}
		if got := LiquidityAfter(&p, &c.swap); got != c.want {
			t.Errorf("%s: %s, want %s", name, got.Dec(), c.want.Dec())
		}
	}
	if got := LiquidityAfter(&market.Pool{Protocol: market.MeteoraDAMMv2}, &market.Swap{SqrtPriceX96: moved(1 << 40), Crossed: amount(1, 60)}); !got.IsZero() {
		t.Errorf("a pool whose price wasn't known has the liquidity %s", got.Dec())
	}
	if got := LiquidityAfter(&market.Pool{Protocol: market.UniswapV3, Liquidity: amount(9, 0)}, &market.Swap{Liquidity: amount(5, 0), Crossed: amount(1, 60)}); got != amount(5, 0) {
		t.Errorf("a swap that tells its pool's liquidity: %s", got.Dec())
	}
}
