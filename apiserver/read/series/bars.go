package series

import (
	"context"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Span is the time range of a series: whole buckets in [From, To), unix seconds.
type Span struct {
	Width    candle.Width
	From, To int64
	// Fill puts a bar at the last price where there was no trade.
	Fill bool
}

// Window is the span of whole buckets that is meant by two ends, at most limit of them; -1 is an end that isn't given. It ends at the end of
// the bucket of now: nothing is known of what comes after it. All are in unix seconds.
func Window(w candle.Width, from, to, limit, now int64) Span {
	width := int64(w)
	up := func(t int64) int64 {
		if open := w.Open(t); open < t {
			return open + width
		} else {
			return open
		}
	}
	var first, end int64
	newest := w.Open(now) + width
	switch {
	case to >= 0 && from >= 0:
		end = min(up(to), newest)
		first = max(w.Open(from), end-limit*width)
	case to >= 0:
		end = min(up(to), newest)
		first = end - limit*width
	case from >= 0:
		first = w.Open(from)
		end = min(first+limit*width, max(newest, first))
	default:
		end = newest
		first = end - limit*width
	}
	first = max(first, w.Open(0)) // which for weeks is the Monday before
	return Span{Width: w, From: first, To: max(end, first), Fill: true}
}

// Source has a pool's bars.
type Source interface {
	Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64, in candle.Currency) (
		bars []candle.Bar, before candle.Bar, err error)
}

// Bars are the bars of one of a token's pools over a span.
type Bars struct {
	Span

	Token *figures.Token
	Pool  *market.Pool // nil when the token has none
	In    candle.Currency
	List  []candle.Bar
	// Before is the newest bar before the span; its close is 0 when there is none.
	Before candle.Bar
}

// Read reads the bars of a token's pool. From of the answer's span is later than what was asked for where older trades aren't kept.
func Read(ctx context.Context, source Source, t *figures.Token, pool *market.Pool, over Span, in candle.Currency) (*Bars, error) {
	out := &Bars{Span: over, Token: t, Pool: pool, In: in}
	if pool == nil {
		return out, nil
	}
	// Nothing is known of buckets that have not begun.
	end := min(over.To, over.Width.Open(t.AsOf)+int64(over.Width))
	if ticks, ok := ticksFrom(over.Width, t.AsOf); ok {
		out.From = max(over.From, min(ticks, over.To))
		if over.To <= ticks {
			return out, nil // trades as old as that aren't kept, nor what was before them
		}
	}
	var err error
	out.List, out.Before, err = source.Bars(ctx, t.Chain, pool.ID, over.Width, min(out.From, end), end, in)
	return out, err
}

// FillGaps puts bars at the last price where there was no trade, up to the end of the last bucket that has begun, if the span asks for it. It fails
// for more than candle.MaxBars buckets.
func (b *Bars) FillGaps() (err error) {
	if end := min(b.To, b.Width.Open(b.Token.AsOf)+int64(b.Width)); b.Pool != nil && b.Fill && b.From < end {
		b.List, err = candle.Fill(b.List, b.Width, b.From, end, b.Before.Close)
	}
	return err
}

// FinalAt is the time up to which nothing changes any more: final, and indexed.
func (b *Bars) FinalAt() int64 { return min(b.Token.FinalAt, b.Token.AsOf) }

// IsClosed reports whether nothing in the span can change any more.
func (b *Bars) IsClosed() bool {
	return b.To <= b.FinalAt() && b.Width >= candle.Minute && !b.Token.Stale && !b.mayGetTrades()
}

// mayGetTrades reports whether earlier trades of the pool may come in yet: those of a pool whose ticks aren't known wait until its liquidity is.
func (b *Bars) mayGetTrades() bool {
	p := b.Pool
	return p != nil && p.Protocol.Concentrated() && p.Untrusted == market.UntrustedTicks
}
