// Package candle makes series of any served width from the candles and trades that are stored. It is pure.
package candle

import (
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Width is a bucket's width in seconds.
type Width int64

// The served widths that need a rule of their own.
const (
	Minute Width = 60
	Hour   Width = 3600
	Day    Width = 86400
	Week   Width = 7 * 86400
)

// weekOffset moves week buckets, which would open on Thursdays (1970-01-01), to Mondays.
const weekOffset = 4 * 86400

// Open is the open of the bucket that t (unix seconds) lies in. Buckets are aligned to UTC; weeks open on Monday.
func (w Width) Open(t int64) int64 {
	offset := int64(0)
	if w == Week {
		offset = weekOffset
	}
	r := (t - offset) % int64(w)
	if r < 0 {
		r += int64(w)
	}
	return t - r
}

// Stored is the widest stored interval that buckets of this width can be made of; 0 when they need trades.
func (w Width) Stored() int32 {
	for i := len(market.StoredIntervals) - 1; i >= 0; i-- {
		if s := market.StoredIntervals[i]; int64(w)%int64(s) == 0 {
			return s
		}
	}
	return 0
}

// Bar is one served bucket in one currency.
type Bar struct {
	Open int64 // unix seconds
	market.OHLC
	VolumeUSD float64
	Trades    int64
	// LastBlock is the newest block of a trade in it that has a price; 0 where that isn't told.
	LastBlock uint64
	// Filled marks a bucket without a trade: its prices are the close before it.
	Filled bool
}

// Currency picks the price of a bar.
type Currency int

// The currencies of a series.
const (
	USD Currency = iota
	Native
)

// Fold makes bars of width w from stored candles, which are oldest first and of a width that divides w.
func Fold(candles []market.Candle, w Width, in Currency) []Bar {
	var out []Bar
	for i := range candles {
		c := &candles[i]
		price := c.USD
		if in == Native {
			price = c.Native
		}
		out = add(out, w.Open(c.Open), price, c.VolumeUSD.Float64()/1e9, c.Buys+c.Sells, c.LastBlock)
	}
	return out
}

// FromTicks makes bars of width w from ticks, oldest first.
func FromTicks(ticks []market.Tick, w Width) []Bar {
	var out []Bar
	for _, t := range ticks {
		p := t.Price
		out = add(out, w.Open(t.Time), market.OHLC{Open: p, High: p, Low: p, Close: p}, float64(t.NanoUSD)/1e9, 1, t.Block)
	}
	return out
}

func add(bars []Bar, open int64, p market.OHLC, volume float64, trades int64, block uint64) []Bar {
	if p.Open == 0 {
		return bars // no price, no bar
	}
	if n := len(bars); n > 0 && bars[n-1].Open == open {
		b := &bars[n-1]
		b.High, b.Low, b.Close = max(b.High, p.High), min(b.Low, p.Low), p.Close
		b.VolumeUSD += volume
		b.Trades += trades
		b.LastBlock = max(b.LastBlock, block)
		return bars
	}
	return append(bars, Bar{Open: open, OHLC: p, VolumeUSD: volume, Trades: trades, LastBlock: block})
}

// MaxBars bounds a filled series.
const MaxBars = 1000

// Fill puts a bar into every bucket of [from, to) from the first that has a close before it. before is the close ahead
// of from, 0 if there is none. A range of more than MaxBars buckets is an error.
func Fill(bars []Bar, w Width, from, to int64, before float64) ([]Bar, error) {
	first := w.Open(from)
	if n := (to - first + int64(w) - 1) / int64(w); n > MaxBars {
		return nil, fmt.Errorf("%d buckets of %d s: a series has at most %d", n, w, MaxBars)
	}
	var out []Bar
	i := 0
	for t := first; t < to; t += int64(w) {
		if i < len(bars) && bars[i].Open == t {
			out = append(out, bars[i])
			before = bars[i].Close
			i++
		} else if before > 0 {
			out = append(out, Bar{Open: t, OHLC: market.OHLC{Open: before, High: before, Low: before, Close: before}, Filled: true})
		}
	}
	return out, nil
}
