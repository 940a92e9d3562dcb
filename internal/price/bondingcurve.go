package price

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// BondingCurve is the curve on which a launched token is sold.
type BondingCurve struct {
	// Virtual are the reserves that the price follows from; nil where the curve tells its price.
	Virtual *Reserves
	// Told is the price of one whole base in whole quotes that the curve tells.
	Told float64
	// Raised is what the curve has taken, in whole quotes.
	Raised float64
	// IsOver says that the token has left the curve.
	IsOver bool
}

// BondingCurveOf is the curve of a launch with some reserves, which are the launch's own or those of another moment.
func BondingCurveOf(l *market.Launch, c *market.CurveReserves, baseDecimals, quoteDecimals uint8) BondingCurve {
	out := BondingCurve{Raised: Whole(&c.RealQuote, quoteDecimals), IsOver: !l.OnCurve()}
	if l.Rules.Pricing == market.PriceReserves {
		out.Virtual = &Reserves{Base: Whole(&c.VirtualBase, baseDecimals), Quote: Whole(&c.VirtualQuote, quoteDecimals)}
	} else {
		out.Told = c.Price.Float64() / math.Pow10(int(l.Rules.Pricing.Decimals())+int(quoteDecimals)-int(baseDecimals))
	}
	return out
}

// Quote has a depth that is never above what the curve has raised, and twice that as liquidity. A curve that is over has neither.
func (c BondingCurve) Quote() Quote {
	out := Quote{Price: c.Told, Locked: 2 * c.Raised}
	if c.Virtual != nil {
		at := ConstantProduct{*c.Virtual}.Quote()
		out.Price, out.Depth = at.Price, at.Depth
	} else {
		// Without the curve's own reserves nothing is known but that it holds what it raised.
		out.Depth = DepthOfRaised(c.Raised)
	}
	out.Depth = min(out.Depth, c.Raised)
	if c.IsOver {
		out.Depth, out.Locked = 0, 0
	}
	return out
}

// DepthOfRaised is the depth of an x·y=k pool that holds what a curve has raised, in whole quotes.
func DepthOfRaised(raised float64) float64 {
	return ConstantProduct{Reserves{Base: 1, Quote: raised}}.Quote().Depth
}
