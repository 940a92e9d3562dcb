// Package series makes the bars of charts: a pool's prices and volumes per bucket, from stored candles and trades,
// with gaps filled.
package series

import (
	"context"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// maxTicks bounds the trades that bars below a minute are made of, ticksSince how far back those go, in seconds.
	maxTicks, ticksSince = 20_000, 24 * 3600
)

// Reader reads series of a pool's prices.
type Reader struct{ store *store.Store }

// NewReader makes a reader of a store.
func NewReader(st *store.Store) Reader { return Reader{st} }

// ticksFrom is the time from which on bars of a width can be had at a moment: those below a minute are made of the trades of
// the last day. ok is false for wider ones, which are stored.
func ticksFrom(w candle.Width, now int64) (from int64, ok bool) {
	if w.Stored() > 0 {
		return 0, false
	}
	return w.Open(now - ticksSince), true
}

// Bars makes a pool's bars of width w in [from, to), and gives the newest bar before from that has a price; its close
// is 0 if there is none.
func (s Reader) Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64,
	in candle.Currency,
) (bars []candle.Bar, before candle.Bar, err error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	interval := w.Stored()
	if interval == 0 {
		interval = market.StoredIntervals[0]
		ticks, err := s.store.Trades.Ticks(ctx, chain, pool, candle.Width(interval).Open(from), to, in == candle.Native, maxTicks)
		if err != nil {
			return nil, before, err
		}
		bars = candle.FromTicks(ticks, w)
		if len(ticks) == maxTicks && len(bars) > 0 {
			bars = bars[1:] // the oldest of them may lack trades
			if len(bars) > 0 {
				from = max(from, bars[0].Open)
			}
		}
		// The minute that from lies in has trades before it.
		for len(bars) > 0 && bars[0].Open < from {
			before, bars = bars[0], bars[1:]
		}
		if before.Close > 0 {
			return bars, before, nil
		}
	} else {
		stored, err := s.store.Candles.Series(ctx, chain, pool, interval, from, to, in == candle.Native)
		if err != nil {
			return nil, before, err
		}
		bars = candle.Fold(stored, w, in)
	}
	last, ok, err := s.store.Candles.SeriesBefore(ctx, chain, pool, interval, candle.Width(interval).Open(from), in == candle.Native)
	if err != nil || !ok {
		return bars, before, err
	}
	if folded := candle.Fold([]market.Candle{last}, w, in); len(folded) == 1 {
		before = folded[0]
	}
	return bars, before, nil
}

// FirstCandle is the open of a pool's oldest stored day; ok is false when it has none.
func (s Reader) FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, figures.ReadTime)
	defer cancel()
	return s.store.Candles.First(ctx, chain, pool, market.StoredIntervals[len(market.StoredIntervals)-1])
}
