package price

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// OneRange is a pool whose liquidity all lies in one range of prices, and that tells its price and its reserves (Meteora DAMM v2).
type OneRange struct {
	Reserves                    Reserves
	SqrtPriceX96                *market.Amount
	BaseIs0                     bool
	BaseDecimals, QuoteDecimals uint8
}

// Quote is the zero Quote for a pool without a price. Depth is as if the range had no ends: a narrower one is deeper.
func (o OneRange) Quote() Quote {
	price := Concentrated{SqrtPriceX96: o.SqrtPriceX96, BaseIs0: o.BaseIs0, BaseDecimals: o.BaseDecimals, QuoteDecimals: o.QuoteDecimals}.price()
	if price == 0 {
		return Quote{}
	}
	r := o.Reserves
	return Quote{Price: price, Depth: r.Quote * (1 - math.Sqrt(1-depthMove)), Locked: r.Quote + min(r.Quote, r.Base*price)}
}
