package figures

import (
	"unique"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// Facts are the inputs of a token's figures, a tenth of the size of the rows that they come from, so that 100,000
// tokens fit in memory. They have nothing to do with market.Fact. They are never changed.
type Facts struct {
	Name, Symbol string
	Metadata     *Metadata // nil while none was fetched
	Status       market.HolderStatus
	// Pools lists the pools that count: the trusted ones and the reference pool.
	Pools                []PoolFacts
	Past                 Past // of the reference
	FirstSeenAt, Holders int64
	gained               market.Growth // of the holders
	// TradedAt is when the curve or a trusted pool was traded last; unix seconds, 0 for never.
	TradedAt int64
	supply   float64 // whole tokens, where it is known
	// Reference is the place in pools of the one that prices the token; -1 without one.
	Reference int8
	hasSupply bool
	awaited   bool // the supply is unknown, and the token is asked for it
	pooled    bool // it has any pool at all
	launched  bool // at a declared venue of its chain
	// AwaitsMetadata is the token's.
	AwaitsMetadata bool
	// decimals are 0 while hasDecimals is false.
	decimals    uint8
	hasDecimals bool
	changed     Stamp
}

// PoolFacts are what a pool adds.
type PoolFacts struct {
	ID        market.Address
	curve     bool // a bonding curve
	trusted   bool
	quote     unique.Handle[market.Address]
	Price     float64 // in whole quotes, as the rest that is not in USD
	Locked    float64
	volumeUSD float64 // of the last 24 hours
}

// Quote is the asset that the pool is priced in.
func (p *PoolFacts) Quote() market.Address { return p.quote.Value() }

// dayS is the window of a token's figures, in seconds.
const dayS = 24 * 60 * 60

// HourS is the window of a launch card's figures, in seconds.
const HourS = 60 * 60

// NewFacts takes what a token's figures follow from.
func NewFacts(t *Token) Facts {
	f := Facts{
		Name: t.Token.Name, Symbol: t.Token.Symbol, FirstSeenAt: t.Token.FirstSeenAt, changed: t.Changed,
		Holders: t.Token.Holders.Count, Status: t.Token.Holders.Status, gained: t.Token.Holders.Gained, pooled: len(t.Pools) > 0, Reference: -1,
		launched: t.Launched, hasDecimals: t.Token.HasDecimals, Metadata: t.Metadata, AwaitsMetadata: t.AwaitsMetadata,
	}
	if f.hasDecimals {
		f.decimals = t.Token.Decimals
	}
	if t.Token.HasSupply && t.Token.HasDecimals {
		f.hasSupply, f.supply = true, price.Whole(&t.Token.Supply, t.Token.Decimals)
	}
	f.awaited = !t.Token.HasSupply && t.Token.HasDecimals && t.Token.SupplyStrikes < market.SupplyUntold
	var young bool // the reference prices the token since less than a day, whenever its pool was made
	var onCurve Past
	for i := range t.Pools {
		p := &t.Pools[i]
		isReference, trusted := p.ID == t.Token.Pool, p.Untrusted == market.Trusted
		if trusted || p.Protocol == market.BondingCurve {
			f.TradedAt = max(f.TradedAt, p.LastTradeAt)
		}
		if !isReference && !trusted {
			continue
		}
		if isReference {
			f.Reference = int8(len(f.Pools)) // of store.PoolsOfToken at most
			f.Past = NewPast(p)
			young = p.Protocol != market.BondingCurve && t.GraduatedAt > t.AsOf-dayS
		}
		if p.Protocol == market.BondingCurve {
			onCurve = NewPast(p)
		}
		f.Pools = append(f.Pools, PoolFacts{
			ID: p.ID, quote: unique.Make(p.Quote), curve: p.Protocol == market.BondingCurve, trusted: trusted, Price: p.Price, Locked: p.Locked,
			volumeUSD: p.Day.VolumeUSD.Float64() / 1e9,
		})
	}
	if young && onCurve.BeforeUSD > 0 {
		f.Past = onCurve // a day ago the token was on its curve, or not there yet
	}
	return f
}

// With are the facts with other metadata, which was fetched.
func (f *Facts) With(m *Metadata) *Facts {
	next := *f
	next.Metadata, next.AwaitsMetadata = m, false
	return &next
}

// NewHolders is by how many the holders grew lately; 0 also while they aren't known.
func (f *Facts) NewHolders(now int64, stale bool) float64 {
	if f.Status != market.HoldersCurrent || stale {
		return 0
	}
	return f.gained.Now(now)
}

// Worth has a token's figures in USD. Where 0 can't be a real figure, 0 means unknown; where it can, a comment says
// what means unknown.
type Worth struct {
	price             float64 // 0 when unknown
	BeforeUSD         float64 // the price 24 hours ago; 0 when unknown
	Liquidity, Volume float64 // unknown while priced is 0
	// priced counts the trusted pools whose quote has a price, pairs those of the priced pools that hold something, curves the bonding curves among these,
	// and pools the others that hold something.
	priced, pairs, curves, pools int
	Pegged, onCurve              bool
}

// Valued says that a trusted pool prices the token. A curve that has raised nothing yet does.
func (w *Worth) Valued() bool { return w.price > 0 && w.priced > 0 }

// Worth values the token at the prices of its chain's quote assets, at the chain's time (unix seconds).
func (f *Facts) Worth(mint market.Address, usd Prices, now int64) (w Worth) {
	if f.Reference >= 0 {
		p := &f.Pools[f.Reference]
		if at := p.Price * usd.Price(p.Quote()).USD; at > 0 {
			w.price, w.BeforeUSD, w.onCurve = at, f.Past.DayAgo(now, usd.Price(f.Past.quote.Value())), p.curve
		}
	}
	// A quote asset is worth what everything else is counted in, which is its peg while that stands.
	if q := usd.Price(mint); q.USD > 0 {
		w.price, w.Pegged = q.USD, q.Pegged
	}
	for i := range f.Pools {
		p := &f.Pools[i]
		if at := usd.Price(p.Quote()).USD; p.trusted && at > 0 {
			w.priced++
			if p.Locked > 0 {
				w.pairs++
			}
			if p.curve {
				w.curves++
			} else if p.Locked > 0 {
				w.pools++
			}
			w.Liquidity += p.Locked * at
			w.Volume += p.volumeUSD
		}
	}
	return w
}

// ChangedWith is when the facts, or the prices of the quote assets that they are valued at, last changed.
func (f *Facts) ChangedWith(mint market.Address, quotes map[market.Address]Stamp) Stamp {
	out := f.changed.Latest(quotes[mint])
	for i := range f.Pools {
		out = out.Latest(quotes[f.Pools[i].Quote()])
	}
	return out
}

// Figures are the figures of Worth in the form of API answers, with nil for unknown ones.
func (f *Facts) Figures(mint market.Address, usd Prices, now int64) Figures {
	w := f.Worth(mint, usd, now)
	out := Figures{
		Pairs: w.pairs, Pegged: w.Pegged, OnCurve: w.onCurve && !w.Pegged, OnCurvesAlone: w.curves > 0 && w.pools == 0,
		SupplyAwaited: f.awaited,
	}
	if w.BeforeUSD > 0 {
		p := &f.Pools[f.Reference]
		out.Change24hPct = new((p.Price*usd.Price(p.Quote()).USD/w.BeforeUSD - 1) * 100)
	}
	if w.price > 0 {
		out.Price = &w.price
		if f.hasSupply {
			out.FDV = new(f.supply * w.price)
		}
	}
	if w.priced > 0 {
		out.LiquidityUSD, out.VolumeUSD = &w.Liquidity, &w.Volume
	}
	return out
}
