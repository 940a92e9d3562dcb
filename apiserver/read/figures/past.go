package figures

import (
	"unique"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Past has the inputs from which the price of a pool 24 hours ago is computed.
type Past struct {
	quote unique.Handle[market.Address]
	// price and before are in whole quotes: the price now, and that before the last 24 hours (0 when unknown).
	price, before float64
	// BeforeUSD is the price before the last 24 hours at what the quote was worth when the price was made, or the first one known; 0 when
	// unknown.
	BeforeUSD float64
	// createdAt is when the pool was made, 0 where that isn't known; tradedAt when it was traded last. Unix seconds.
	createdAt, tradedAt uint32
}

// NewPast takes what the price of a pool 24 hours ago follows from.
func NewPast(p *market.Pool) Past {
	return Past{
		quote: unique.Make(p.Quote), price: p.Price, before: p.Day.ReferenceQuote, BeforeUSD: p.Day.ReferenceUSD, createdAt: uint32(p.CreatedAt), tradedAt: uint32(p.LastTradeAt),
	}
}

// DayAgo is the price in USD 24 hours before now: the price in the quote asset then, times the quote asset's USD
// price then. A pool without a trade since then has the same price in its quote asset as now. For a younger pool it
// is the first known price; 0 means unknown.
func (p *Past) DayAgo(now int64, quote market.QuotePrice) float64 {
	start := WindowOpens(now, dayS)
	switch {
	case p.BeforeUSD == 0 || quote.DayUSD == 0 || int64(p.createdAt) >= start:
		return p.BeforeUSD
	case int64(p.tradedAt) < start:
		return p.price * quote.DayUSD
	case p.before == 0:
		return p.BeforeUSD
	default:
		return p.before * quote.DayUSD
	}
}

// HourAgo is the price in USD an hour before now of a token that wasn't traded since, by what its quote was worth then; 0 when unknown, and
// for a token that was traded.
func (f *Facts) HourAgo(now int64, quotes map[market.Address]float64) float64 {
	if f.Reference < 0 || f.TradedAt >= WindowOpens(now, HourS) {
		return 0
	}
	p := &f.Pools[f.Reference]
	return p.Price * quotes[p.Quote()]
}

// WindowOpens is where a window up to now begins, to the minute; all in unix seconds.
func WindowOpens(now, seconds int64) int64 { return candle.Minute.Open(now) + 60 - seconds }

// CloseInQuote is the last price of a candle, in whole quotes; 0 if it isn't known.
func CloseInQuote(c *store.Close, native bool, quote market.QuotePrice, decimals uint8) float64 {
	ended := price.Close{
		USD: c.USD, Native: c.Native, VolumeUSD: c.VolumeUSD.Float64() / 1e9, VolumeQuote: price.Whole(&c.VolumeQuote, decimals),
	}
	peg := 0.
	if quote.Pegged {
		peg = quote.USD
	}
	return ended.InQuote(native, peg)
}
