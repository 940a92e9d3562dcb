package boards

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// readHour reads what the quote assets were worth an hour ago, once per minute of the chain's time.
func (b *chainTokens) readHour(ctx context.Context, src *source) error {
	opens := figures.WindowOpens(b.status.Last.Time, figures.HourS)
	if opens == b.hourOf {
		return nil
	}
	assets := make([]market.Address, len(b.usd))
	for i := range b.usd {
		assets[i] = b.usd[i].Asset
	}
	list, err := src.store.Tokens.Now(ctx, assets)
	if err != nil {
		return err
	}
	next, decimals := make(map[market.Address]float64, len(b.usd)), make(map[market.Address]uint8, len(b.usd))
	var moments []store.PoolTime
	for i := range list {
		if list[i].Chain != b.chain {
			continue
		}
		q := b.usd.Price(list[i].Mint)
		decimals[list[i].Mint] = list[i].Decimals
		if q.Pegged {
			next[list[i].Mint] = q.USD
		} else if !list[i].Pool.IsNone() {
			moments = append(moments, store.PoolTime{Pool: list[i].Pool, At: opens})
		}
	}
	closes, err := src.store.Candles.ClosesBefore(ctx, b.chain, moments)
	if err != nil {
		return err
	}
	for i := range list {
		if c, ok := closes[store.PoolTime{Pool: list[i].Pool, At: opens}]; ok && list[i].Chain == b.chain {
			next[list[i].Mint] = c.USD
		}
	}
	b.quoteDecimals = decimals
	if c := src.in.Chain(b.chain); c != nil {
		b.wrapped = c.Wrapped
	}
	if b.hourOf = opens; !maps.Equal(next, b.hourUSD) {
		b.hourUSD = next
		b.usdNo++
	}
	return nil
}

// lastHour has the price before the last hour of a launched token that was traded within the hour.
type lastHour struct {
	// minute is the token's newest minute with a trade before the hour, 0 where its tape knows none (unix seconds), and pool its reference:
	// the price is read anew when one of them is another.
	minute      int64
	pool, quote market.Address
	price       float64 // in whole quotes; 0 when unknown
}

// readLastHours reads what launched tokens that were traded within the hour cost before it: of all of them when another minute of the chain's
// time begins, else of those that changed.
func (b *chainTokens) readLastHours(ctx context.Context, src *source) error {
	opens := figures.WindowOpens(b.status.Last.Time, figures.HourS)
	of := slices.Values(b.touched)
	if opens != b.lastHoursOf {
		of = b.index.all()
	}
	var changed []*entry
	for e := range of {
		if e.launch == nil || e.tape == nil || e.facts == nil || e.facts.Reference < 0 || int64(e.flowAt) < opens || e.launch.CreatedAt >= opens {
			e.before = nil
			continue
		}
		if e.before == nil || e.before.pool != e.referencePool().ID || e.before.minute != e.tape.LastMinute(opens) {
			changed = append(changed, e)
		}
	}
	const atOnce = 100
	for part := range slices.Chunk(changed, atOnce) {
		if err := b.readLastHoursOf(ctx, src, part, opens); err != nil {
			return err
		}
	}
	b.lastHoursOf = opens
	return nil
}

func (b *chainTokens) readLastHoursOf(ctx context.Context, src *source, part []*entry, opens int64) error {
	moments := make([]store.PoolTime, len(part))
	for i, e := range part {
		moments[i] = store.PoolTime{Pool: e.referencePool().ID, At: opens}
	}
	closes, err := src.store.Candles.ClosesBefore(ctx, b.chain, moments)
	if err != nil {
		return err
	}
	for i, e := range part {
		quote := e.referencePool().Quote()
		e.before = &lastHour{minute: e.tape.LastMinute(opens), pool: moments[i].Pool, quote: quote}
		if last, ok := closes[moments[i]]; ok {
			e.before.price = figures.CloseInQuote(&last, quote == b.wrapped, b.usd.Price(quote), b.quoteDecimals[quote])
		}
	}
	return nil
}

// referencePool is the pool that prices the token.
func (e *entry) referencePool() *figures.PoolFacts { return &e.facts.Pools[e.facts.Reference] }

// hourAgo gives the price before the last hour of a launched token that was traded within the hour, in USD by the quote's price at that time; 0 if it isn't known.
func (b *chainTokens) hourAgo(e *entry) float64 {
	if e.before == nil {
		return 0
	}
	return e.before.price * b.hourUSD[e.before.quote]
}
