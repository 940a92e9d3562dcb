package market_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

func TestCurveID(t *testing.T) {
	t.Parallel()
	mint, err := market.ParseEVMAddress("0x00000000000000000000000000000000000000ff")
	if err != nil {
		t.Fatal(err)
	}
	id := market.CurveID(mint)
	if got, want := id.String(), "0x626f6e64696e67637572766500000000000000000000000000000000000000ff"; got != want {
		t.Errorf("the curve is %s, want %s", got, want)
	}
	if back, ok := market.CurveMint(id); !ok || back != mint {
		t.Errorf("%s is the curve of %s", id, back)
	}
	for _, other := range []market.Address{{}, mint, market.PoolID([32]byte{1}), market.Native} {
		if got, ok := market.CurveMint(other); ok || !got.IsNone() {
			t.Errorf("%q passes for the curve of %s", other, got)
		}
	}
}

func drawAmount(t *rapid.T, label string, bytes int) market.Amount {
	var v market.Amount
	v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, bytes).Draw(t, label))
	return v
}

// TestBookAddsUp: without a word from the log the reserves are the sum of the trades, exactly, and never below nought.
func TestBookAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sale, virtualBase, virtualQuote := drawAmount(t, "sale", 12), drawAmount(t, "virtual base", 12), drawAmount(t, "virtual quote", 12)
		l := market.Launch{Rules: market.CurveRules{Pricing: market.PriceReserves, Basis: market.TokensSold}, SaleBase: sale}
		l.Begin(&market.Launched{
			SaleBase: sale, Reserves: market.CurveReserves{VirtualBase: virtualBase, VirtualQuote: virtualQuote}, Tells: market.TellsVirtual,
		})
		base, quote := sale.ToBig(), new(big.Int)
		for range rapid.IntRange(0, 12).Draw(t, "trades") {
			e := market.CurveTrade{Sell: rapid.Bool().Draw(t, "sell"), BaseAmount: drawAmount(t, "base", 11), Raised: drawAmount(t, "raised", 11)}
			l.Book(&e)
			b, q := e.BaseAmount.ToBig(), e.Raised.ToBig()
			if e.Sell {
				b.Neg(b)
			} else {
				q.Neg(q)
			}
			base, quote = floor(base.Sub(base, b)), floor(quote.Sub(quote, q))
			if l.Reserves.RealBase.ToBig().Cmp(base) != 0 || l.Reserves.RealQuote.ToBig().Cmp(quote) != 0 {
				t.Fatalf("left %s and raised %s, want %s and %s", l.Reserves.RealBase.Dec(), l.Reserves.RealQuote.Dec(), base, quote)
			}
			if l.Progress < 0 || l.Progress > 100 || l.HasProgress == sale.IsZero() {
				t.Fatalf("progress %v (known: %v) of %s", l.Progress, l.HasProgress, sale.Dec())
			}
		}
	})
}

func floor(v *big.Int) *big.Int {
	if v.Sign() < 0 {
		v.SetInt64(0)
	}
	return v
}

// TestBookBelievesTheLog: what the log tells of the state after the trade stands, whatever the amounts add up to.
func TestBookBelievesTheLog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := market.Launch{
			Rules: market.CurveRules{Pricing: market.PricePosted, Basis: market.FundsRaised}, SaleBase: drawAmount(t, "sale", 32),
			TargetQuote: drawAmount(t, "target", 32), Reserves: market.CurveReserves{VirtualBase: drawAmount(t, "before", 32)},
		}
		e := market.CurveTrade{
			Sell: rapid.Bool().Draw(t, "sell"), BaseAmount: drawAmount(t, "base", 32), QuoteAmount: drawAmount(t, "quote", 32),
			Raised: drawAmount(t, "raised", 32), Tells: market.TellsVirtual | market.TellsBase | market.TellsQuote | market.TellsPrice,
			After: market.CurveReserves{
				VirtualBase: drawAmount(t, "virtual base", 32), VirtualQuote: drawAmount(t, "virtual quote", 32),
				RealBase: drawAmount(t, "real base", 32), RealQuote: drawAmount(t, "real quote", 32), Price: drawAmount(t, "price", 32),
			},
		}
		l.Book(&e)
		if l.Reserves != e.After || !l.Traded {
			t.Fatalf("the log says %+v, the launch has %+v", e.After, l.Reserves)
		}
		if l.HasProgress && (l.Progress < 0 || l.Progress > 100) {
			t.Fatalf("progress %v", l.Progress)
		}
	})
}

func TestPriceOfWhatWasPaid(t *testing.T) {
	t.Parallel()
	l := market.Launch{Rules: market.CurveRules{Pricing: market.PriceExecuted}}
	e := market.CurveTrade{}
	e.BaseAmount.SetUint64(4_000_000)
	e.Raised.SetUint64(6_000_000)
	l.Book(&e)
	const want = "1500000000000000000000000000000000000"
	if got := l.Reserves.Price.Dec(); got != want {
		t.Errorf("6 for 4 is a price of %s for 10^36, want 1.5 x 10^36", got)
	}
	for name, c := range map[string]struct {
		base, raised uint64
		sell         bool
	}{
		"a sale of one unit for nothing": {1, 0, true},
		"a sale of one unit for one":     {1, 1, true},
		"a purchase of less than counts": {999_999, 5_000_000, false},
		"a purchase for less than that":  {5_000_000, 999_999, false},
	} {
		dust := market.CurveTrade{Sell: c.sell}
		dust.BaseAmount.SetUint64(c.base)
		dust.Raised.SetUint64(c.raised)
		l.Book(&dust)
		if got := l.Reserves.Price.Dec(); got != want {
			t.Errorf("%s makes the price %s, want the last one", name, got)
		}
	}
	e.Raised.SetAllOne()
	l.Book(&e)
	if got := l.Reserves.Price.Dec(); got != want {
		t.Errorf("a price beyond 256 bits became %s, want the last one", got)
	}
}
