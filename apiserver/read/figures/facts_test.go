package figures

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/read/readtest"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/market/markettest"
)

// TestChangeAcrossAGraduation compares with the curve's price of a day ago while the token left its curve less than a day ago,
// whenever the pool that it moved to was made.
func TestChangeAcrossAGraduation(t *testing.T) {
	t.Parallel()
	const now, hour = 1_800_000_000, 3600
	mint, quote := markettest.Address("0xa000000000000000000000000000000000000001"), markettest.Address(readtest.Wrapped)
	for name, c := range map[string]struct {
		madeAt, graduatedAt int64
		onCurve             float64 // the price of a day ago, in USD
		want                float64
	}{
		"into a new pool":           {now - hour, now - hour, 2, 2},
		"into one made days before": {now - 72*hour, now - hour, 2, 2},
		"two days ago":              {now - 48*hour, now - 48*hour, 2, 5},
		"then into a newer pool":    {now - hour, now - 48*hour, 2, 5},
		"a day ago":                 {now - 24*hour, now - 24*hour, 2, 5},
		"launched today":            {now - hour, now - hour, 0, 5},
		"never":                     {now - hour, 0, 0, 5},
	} {
		f := NewFacts(&Token{
			AsOf: now, GraduatedAt: c.graduatedAt, Token: market.Token{Mint: mint, Pool: market.CurveID(quote)},
			Pools: []market.Pool{
				{ID: market.CurveID(mint), Protocol: market.BondingCurve, Quote: quote, Day: market.Window{ReferenceUSD: c.onCurve}},
				{ID: market.CurveID(quote), Protocol: market.UniswapV2, Quote: quote, CreatedAt: c.madeAt, Price: 0.01, Day: market.Window{ReferenceUSD: 5}},
			},
		})
		usd := Prices{{Asset: quote, USD: 1000}}
		if got := f.Figures(mint, usd, 0).Change24hPct; got == nil || *got != (10/c.want-1)*100 {
			t.Errorf("%s: the change is %v, want against %g", name, got, c.want)
		}
	}
}
