package view

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// facts are what a token's figures follow from: a tenth of the rows that they are taken from, which is what 100,000 tokens
// in memory need. They are never changed.
type facts struct {
	name, symbol string
	status       market.HolderStatus
	// pools are those that count: the trusted ones and the reference.
	pools                []poolFacts
	past                 past // of the reference
	firstSeenAt, holders int64
	gained               market.Growth // of the holders
	// tradedAt is when the curve or a trusted pool was traded last; unix seconds, 0 for never.
	tradedAt int64
	supply   float64 // whole tokens, where it is known
	// reference is the place in pools of the one that prices the token; -1 without one.
	reference int8
	hasSupply bool
	awaited   bool // the supply is unknown, and the token is asked for it
	pooled    bool // it has any pool at all
	changed   Stamp
}

// poolFacts are what a pool adds.
type poolFacts struct {
	id, quote market.Address
	curve     bool // a bonding curve
	trusted   bool
	price     float64 // in whole quotes, as the rest that is not in USD
	locked    float64
	volumeUSD float64 // of the last 24 hours
}

// dayS is the window of a token's figures, hourS that of a launch card's, in seconds.
const dayS, hourS = 24 * 60 * 60, 60 * 60

func newFacts(t *Token) facts {
	f := facts{
		name: t.Token.Name, symbol: t.Token.Symbol, firstSeenAt: t.Token.FirstSeenAt, changed: t.Changed,
		holders: t.Token.Holders.Count, status: t.Token.Holders.Status, gained: t.Token.Holders.Gained, pooled: len(t.Pools) > 0, reference: -1,
	}
	if t.Token.HasSupply && t.Token.HasDecimals {
		f.hasSupply, f.supply = true, price.Whole(&t.Token.Supply, t.Token.Decimals)
	}
	f.awaited = !t.Token.HasSupply && t.Token.HasDecimals && t.Token.SupplyStrikes < market.SupplyUntold
	var young bool // the reference prices the token since less than a day, whenever its pool was made
	var onCurve past
	for i := range t.Pools {
		p := &t.Pools[i]
		isReference, trusted := p.ID == t.Token.Pool, p.Untrusted == market.Trusted
		if trusted || p.Protocol == market.BondingCurve {
			f.tradedAt = max(f.tradedAt, p.LastTradeAt)
		}
		if !isReference && !trusted {
			continue
		}
		if isReference {
			f.reference = int8(len(f.pools)) // of store.PoolsOfToken at most
			f.past = newPast(p)
			young = p.Protocol != market.BondingCurve && t.GraduatedAt > t.AsOf-dayS
		}
		if p.Protocol == market.BondingCurve {
			onCurve = newPast(p)
		}
		f.pools = append(f.pools, poolFacts{
			id: p.ID, quote: p.Quote, curve: p.Protocol == market.BondingCurve, trusted: trusted, price: p.Price, locked: p.Locked,
			volumeUSD: p.Day.VolumeUSD.Float64() / 1e9,
		})
	}
	if young && onCurve.beforeUSD > 0 {
		f.past = onCurve // a day ago the token was on its curve, or not there yet
	}
	return f
}

// newHolders is by how many the holders grew lately; 0 also while they aren't known.
func (f *facts) newHolders(now int64, stale bool) float64 {
	if f.status != market.HoldersCurrent || stale {
		return 0
	}
	return f.gained.Now(now)
}

// worth is what a token's figures come to in USD. What isn't known is 0 where 0 is no figure, and said where it is one.
type worth struct {
	price             float64 // 0 when unknown
	beforeUSD         float64 // the price 24 hours ago; 0 when unknown
	liquidity, volume float64 // unknown while priced is 0
	// priced are the trusted pools whose quote has a price, pairs those of them that hold something, curves the bonding curves among them,
	// and pools the others that hold something.
	priced, pairs, curves, pools int
	pegged, onCurve              bool
}

// valued says that a trusted pool prices the token. A curve that has raised nothing yet does.
func (w *worth) valued() bool { return w.price > 0 && w.priced > 0 }

// worth values the token at the prices of its chain's quote assets, at the chain's time (unix seconds).
func (f *facts) worth(mint market.Address, usd map[market.Address]market.QuotePrice, now int64) (w worth) {
	if f.reference >= 0 {
		p := &f.pools[f.reference]
		if at := p.price * usd[p.quote].USD; at > 0 {
			w.price, w.beforeUSD, w.onCurve = at, f.past.dayAgo(now, usd[f.past.quote]), p.curve
		}
	}
	// A quote asset is worth what everything else is counted in, which is its peg while that stands.
	if q, ok := usd[mint]; ok && q.USD > 0 {
		w.price, w.pegged = q.USD, q.Pegged
	}
	for i := range f.pools {
		p := &f.pools[i]
		if at := usd[p.quote].USD; p.trusted && at > 0 {
			w.priced++
			if p.locked > 0 {
				w.pairs++
			}
			if p.curve {
				w.curves++
			} else if p.locked > 0 {
				w.pools++
			}
			w.liquidity += p.locked * at
			w.volume += p.volumeUSD
		}
	}
	return w
}

// changedWith is when the facts, or the prices of the quote assets that they are valued at, last changed.
func (f *facts) changedWith(mint market.Address, quotes map[market.Address]Stamp) Stamp {
	out := f.changed.Latest(quotes[mint])
	for i := range f.pools {
		out = out.Latest(quotes[f.pools[i].quote])
	}
	return out
}

// figures are the worth as it is told.
func (f *facts) figures(mint market.Address, usd map[market.Address]market.QuotePrice, now int64) Figures {
	w := f.worth(mint, usd, now)
	out := Figures{
		Pairs: w.pairs, Pegged: w.pegged, OnCurve: w.onCurve && !w.pegged, OnCurvesAlone: w.curves > 0 && w.pools == 0,
		SupplyAwaited: f.awaited,
	}
	if w.beforeUSD > 0 {
		p := &f.pools[f.reference]
		out.Change24hPct = new((p.price*usd[p.quote].USD/w.beforeUSD - 1) * 100)
	}
	if w.price > 0 {
		out.Price = &w.price
		if f.hasSupply {
			out.FDV = new(f.supply * w.price)
		}
	}
	if w.priced > 0 {
		out.LiquidityUSD, out.VolumeUSD = &w.liquidity, &w.volume
	}
	return out
}
