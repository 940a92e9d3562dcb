package pairs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Pair is a pool of a token with what happened in it lately.
type Pair struct {
	Token        figures.Token
	Pool         *market.Pool
	LiquidityUSD float64 // 0 when unknown
	// Quote is the token that the price is in; its name is empty when the index has not met it.
	Quote market.Token
	// Windows has an element for each of PairWindows.
	Windows [len(PairWindows)]PairWindow
}

// PairWindows are the windows of a pair in seconds: 5 minutes, 1, 6 and 24 hours.
var PairWindows = [...]int64{300, 3600, 6 * 3600, 24 * 3600}

// PairWindow sums up the trades in a pair within a window, to the minute.
type PairWindow struct {
	Buys, Sells int64
	VolumeUSD   float64
	// ChangePct is the change of the price in USD; nil when it isn't known what it was before.
	ChangePct *float64
}

// pricedPools lists a token's priced pools, the most liquid first. A pool that isn't trusted comes last, without a
// liquidity.
func pricedPools(t *figures.Token) []Pair {
	var out []Pair
	for i := range t.Pools {
		p := &t.Pools[i]
		if p.Price <= 0 {
			continue
		}
		pair := Pair{Token: *t, Pool: p}
		if p.Untrusted == market.Trusted {
			pair.LiquidityUSD = p.Locked * t.USD.Price(p.Quote).USD
		}
		out = append(out, pair)
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return cmp.Compare(b.LiquidityUSD, a.LiquidityUSD) })
	return out
}

// PriceUSD is the pair's own price; nil when its quote has none or it isn't trusted.
func (p *Pair) PriceUSD() *float64 {
	if usd := p.Pool.Price * p.Token.USD.Price(p.Pool.Quote).USD; usd > 0 && p.Pool.Untrusted == market.Trusted {
		return &usd
	}
	return nil
}

// measure fills in the quotes and the windows of pairs.
func (f *Finder) measure(ctx context.Context, in *declared.Catalog, pairs []Pair) error {
	byChain := make(map[string][]*Pair)
	var quotes []market.Address
	for i := range pairs {
		p := &pairs[i]
		byChain[p.Token.Chain] = append(byChain[p.Token.Chain], p)
		quotes = append(quotes, p.Pool.Quote)
	}
	slices.SortFunc(quotes, market.Address.Compare)
	names, err := f.store.Tokens.Now(ctx, slices.Compact(quotes))
	if err != nil {
		return err
	}
	for i := range pairs {
		p := &pairs[i]
		p.Quote.Mint = p.Pool.Quote
		for j := range names {
			if names[j].Chain == p.Token.Chain && names[j].Mint == p.Pool.Quote {
				p.Quote = names[j].Token
			}
		}
	}
	for chain, list := range byChain {
		on := in.Chain(chain)
		if on == nil {
			return fmt.Errorf("pairs: chain %s isn't declared", chain)
		}
		if err := f.measureChain(ctx, on, list); err != nil {
			return err
		}
	}
	return nil
}

// measureChain fills in the windows of one chain's pairs. The last 24 hours stand in the pool itself; those of the shorter
// windows are summed from candles, of those pools alone that traded within them.
func (f *Finder) measureChain(ctx context.Context, on *declared.Chain, pairs []*Pair) error {
	const day = len(PairWindows) - 1
	now := pairs[0].Token.AsOf
	end := figures.WindowOpens(now, 0)
	var busy []market.Address
	var starts [len(PairWindows)]int64
	for w := range starts {
		starts[w] = end - PairWindows[w]
	}
	for _, p := range pairs {
		d := &p.Pool.Day
		p.Windows[day] = PairWindow{Buys: d.Buys, Sells: d.Sells, VolumeUSD: d.VolumeUSD.Float64() / 1e9}
		if p.Pool.LastTradeAt >= starts[day-1] {
			busy = append(busy, p.Pool.ID)
		}
	}
	var spans []market.CandleSpan
	from := starts[day-1]
	for w := day - 2; w >= 0; w-- {
		spans = append(spans, candle.Cover(from, starts[w], candle.Hour)...)
		from = starts[w]
	}
	spans = append(spans, candle.Cover(from, end, candle.Hour)...)
	active, err := f.store.Candles.Activities(ctx, on.ID, busy, spans)
	if err != nil {
		return err
	}
	before, err := f.pricesThen(ctx, on.ID, pairs, starts[:day])
	if err != nil {
		return err
	}
	for _, p := range pairs {
		native := on.Wrapped == p.Pool.Quote
		for i := range active {
			if active[i].Pool == p.Pool.ID {
				p.add(&active[i], starts[:day])
			}
		}
		for w, start := range starts[:day] {
			p.change(w, before.price(p, start, native))
		}
		then := figures.NewPast(p.Pool)
		p.change(day, then.DayAgo(now, p.Token.USD.Price(p.Pool.Quote)))
	}
	return nil
}

// pastCloses has the last prices of pools before some moments.
type pastCloses map[store.PoolTime]store.Close

// pricesThen reads what the prices of pairs at some moments follow from.
func (f *Finder) pricesThen(ctx context.Context, chain string, pairs []*Pair, starts []int64) (pastCloses, error) {
	var moments []store.PoolTime
	for _, p := range pairs {
		for _, start := range starts {
			moments = append(moments, store.PoolTime{Pool: p.Quote.Pool, At: start})
			if p.Pool.LastTradeAt >= start {
				moments = append(moments, store.PoolTime{Pool: p.Pool.ID, At: start})
			}
		}
	}
	return f.closesBefore(ctx, chain, moments)
}

// closesBefore asks for each moment once.
func (f *Finder) closesBefore(ctx context.Context, chain string, moments []store.PoolTime) (pastCloses, error) {
	slices.SortFunc(moments, func(a, b store.PoolTime) int { return cmp.Or(a.Pool.Compare(b.Pool), cmp.Compare(a.At, b.At)) })
	moments = slices.DeleteFunc(slices.Compact(moments), func(m store.PoolTime) bool { return m.Pool.IsNone() })
	found, err := f.store.Candles.ClosesBefore(ctx, chain, moments)
	if found == nil {
		found = pastCloses{}
	}
	return found, err
}

// quoteUSD gives the price in USD of a pair's quote at a moment; 0 if it isn't known.
func (c pastCloses) quoteUSD(p *Pair, at int64) float64 {
	if q := p.Token.USD.Price(p.Pool.Quote); q.Pegged {
		return q.USD
	}
	return c[store.PoolTime{Pool: p.Quote.Pool, At: at}].USD
}

// price gives the price of a pair's token at a moment: its price in the quote then, times the quote's price then. Where it wasn't traded since, its
// price in the quote is what it is now. Of a pair that is younger than the moment it is the first price known; 0 is unknown. native says
// that its quote is the chain's own coin.
func (c pastCloses) price(p *Pair, at int64, native bool) float64 {
	if p.Pool.CreatedAt >= at {
		return p.Pool.Day.ReferenceUSD
	}
	worth := c.quoteUSD(p, at)
	if p.Pool.LastTradeAt < at {
		return p.Pool.Price * worth
	}
	last, ok := c[store.PoolTime{Pool: p.Pool.ID, At: at}]
	if !ok {
		return p.Pool.Day.ReferenceUSD
	}
	if inQuote := figures.CloseInQuote(&last, native, p.Token.USD.Price(p.Pool.Quote), p.Quote.Decimals); worth > 0 && inQuote > 0 {
		return inQuote * worth
	}
	return last.USD
}

// add counts what happened in a candle in each window that it lies in.
func (p *Pair) add(a *store.Activity, starts []int64) {
	for w, start := range starts {
		if a.Open >= start {
			p.Windows[w].Buys += a.Buys
			p.Windows[w].Sells += a.Sells
			p.Windows[w].VolumeUSD += a.VolumeUSD.Float64() / 1e9
		}
	}
}

func (p *Pair) change(window int, before float64) {
	if now := p.PriceUSD(); now != nil && before > 0 {
		pct := (*now/before - 1) * 100
		p.Windows[window].ChangePct = &pct
	}
}
