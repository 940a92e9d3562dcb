package view

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// readHour reads what the quote assets were worth an hour ago, once per minute of the chain's time.
func (b *book) readHour(ctx context.Context, v *View) error {
	opens := windowOpens(b.status.Last.Time, hourS)
	if opens == b.hourOf {
		return nil
	}
	list, err := v.looks.TokensNow(ctx, slices.SortedFunc(maps.Keys(b.usd), market.Address.Compare))
	if err != nil {
		return err
	}
	next, pools := make(map[market.Address]float64, len(b.usd)), make(map[market.Address]market.Address, len(b.usd))
	var moments []store.PoolTime
	for i := range list {
		if q, ok := b.usd[list[i].Mint]; !ok || list[i].Chain != b.chain {
			continue
		} else if q.Pegged {
			next[list[i].Mint] = q.USD
		} else if !list[i].Pool.IsNone() {
			moments = append(moments, store.PoolTime{Pool: list[i].Pool, At: opens})
			pools[list[i].Mint] = list[i].Pool
		}
	}
	closes, err := v.looks.ClosesBefore(ctx, b.chain, moments)
	if err != nil {
		return err
	}
	for i := range list {
		if c, ok := closes[store.PoolTime{Pool: list[i].Pool, At: opens}]; ok && list[i].Chain == b.chain {
			next[list[i].Mint] = c.USD
		}
	}
	b.quotePools = pools
	if b.hourOf = opens; !maps.Equal(next, b.hourUSD) {
		b.hourUSD = next
		b.usdNo++
	}
	return nil
}

// woken is a token that was traded after it rested for so long that its tape knew no trade.
type woken struct {
	*entry

	at int64 // of the trade; unix seconds
}

// rested is what a token cost before it was traded again.
type rested struct {
	until int64 // when it was traded again; unix seconds
	quote market.Address
	price float64 // in whole quotes
}

// wokenAtOnce is how many tokens' prices are read in one query.
const wokenAtOnce = 100

// readRested reads what launched tokens cost before they were traded again within the last hour. Their tapes begin with that trade, and the
// price before the hour is older.
func (b *book) readRested(ctx context.Context, v *View) error {
	opens := windowOpens(b.status.Last.Time, hourS)
	b.woken = slices.DeleteFunc(b.woken, func(w woken) bool {
		return w.at < opens || w.launch == nil || w.launch.CreatedAt >= opens || w.facts == nil || w.facts.reference < 0
	})
	for len(b.woken) > 0 {
		rest := max(0, len(b.woken)-wokenAtOnce)
		if err := b.readRestedOf(ctx, v, b.woken[rest:]); err != nil {
			return err
		}
		clear(b.woken[rest:])
		b.woken = b.woken[:rest]
	}
	return nil
}

func (b *book) readRestedOf(ctx context.Context, v *View, part []woken) error {
	moments := make([]store.PoolTime, len(part))
	for i, w := range part {
		moments[i] = store.PoolTime{Pool: w.facts.pools[w.facts.reference].id, At: candle.Minute.Open(w.at)}
	}
	closes, err := v.looks.ClosesBefore(ctx, b.chain, moments)
	if err != nil {
		return err
	}
	var quotes []store.PoolTime
	for i, w := range part {
		if last, ok := closes[moments[i]]; ok {
			quotes = append(quotes, b.quoteAt(w.facts.pools[w.facts.reference].quote, last.Open))
		}
	}
	quotes = slices.DeleteFunc(quotes, func(m store.PoolTime) bool { return m.Pool.IsNone() })
	worth, err := v.looks.ClosesBefore(ctx, b.chain, quotes)
	if err != nil {
		return err
	}
	for i, w := range part {
		last, ok := closes[moments[i]]
		if !ok {
			continue
		}
		quote := w.facts.pools[w.facts.reference].quote
		usd := worth[b.quoteAt(quote, last.Open)].USD
		if q := b.usd[quote]; q.Pegged {
			usd = q.USD
		}
		if usd > 0 {
			w.rested = &rested{w.at, quote, last.USD / usd}
		}
	}
	return nil
}

// quoteAt is the moment at which a candle of the chain closed, of the pool that prices a quote; a pegged quote has no such pool.
func (b *book) quoteAt(quote market.Address, open int64) store.PoolTime {
	return store.PoolTime{Pool: b.quotePools[quote], At: open + 60}
}

// before is what a token that was traded again within the hour cost before, in USD at what its quote was worth an hour ago; 0 when unknown.
func (b *book) before(e *entry) float64 {
	if e.rested != nil && e.rested.until < windowOpens(b.status.Last.Time, hourS) {
		e.rested = nil
	}
	if e.rested == nil {
		return 0
	}
	return e.rested.price * b.hourUSD[e.rested.quote]
}
