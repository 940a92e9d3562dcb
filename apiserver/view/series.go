package view

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// maxTrades bounds the trades that bars below a minute are made of.
const maxTrades = 100_000

// Bars makes a pool's bars of width w in [from, to), and gives the newest bar before from that has a price; its close
// is 0 if there is none.
func (v *View) Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64,
	in candle.Currency,
) (bars []candle.Bar, before candle.Bar, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	interval := w.Stored()
	if interval == 0 {
		trades, err := v.store.Trades(ctx, chain, pool, from, to, maxTrades)
		if err != nil {
			return nil, before, err
		}
		bars = candle.FromTrades(trades, w, in)
		interval = market.StoredIntervals[0]
	} else {
		stored, err := v.store.Series(ctx, chain, pool, interval, from, to, in == candle.Native)
		if err != nil {
			return nil, before, err
		}
		bars = candle.Fold(stored, w, in)
	}
	// The minute that from lies in may have closed after it: the one before has not.
	last, ok, err := v.store.SeriesBefore(ctx, chain, pool, interval, candle.Width(interval).Open(from), in == candle.Native)
	if err != nil || !ok {
		return bars, before, err
	}
	if folded := candle.Fold([]market.Candle{last}, w, in); len(folded) == 1 {
		before = folded[0]
	}
	return bars, before, nil
}

// FirstCandle is the open of a pool's oldest stored day; ok is false when it has none.
func (v *View) FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	return v.store.FirstCandle(ctx, chain, pool, market.StoredIntervals[len(market.StoredIntervals)-1])
}
