package view

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

const (
	// refreshEvery is the pace at which commits are looked for when nothing hints at one.
	refreshEvery = 500 * time.Millisecond
	// rankEvery is the pace at which scores, which decay by themselves, are computed anew.
	rankEvery = 15 * time.Second
	// liveDepth is the most tokens of one chain that the live list can show.
	liveDepth = 50
)

// Ranked is a token with what its place in a list follows from.
type Ranked struct {
	Token
	Figures Figures
	Parts   traction.Parts
	Score   float64
}

// Live is the live list at one moment: the tokens of each chain, best first.
type Live struct {
	// AsOf is the time of the newest block in it; unix seconds, 0 when nothing is indexed.
	AsOf int64
	// Version changes with the list.
	Version int64
	Stale   bool
	Chains  []LiveChain
}

// LiveChain is one chain's part, in the order of the catalogue.
type LiveChain struct {
	ID     string
	Tokens []Ranked
}

// liveList keeps, per chain, what ranking needs, and the list that follows.
type liveList struct {
	chains   map[string]*liveChain
	snapshot atomic.Pointer[Live]
	version  int64
	ranked   time.Time
}

type liveChain struct {
	seen, rewinds int64
	status        store.ChainStatus
	native        market.Address
	pools         map[market.Address]market.Pool
	tokens        map[market.Address]market.Token
	usd           map[market.Address]market.QuotePrice
	flows         map[market.Address][]traction.Flow
	nextTrades    uint64 // the first block whose trades are not in flows
}

func newLiveList() liveList { return liveList{chains: make(map[string]*liveChain)} }

// Live is the current list; nil before the first.
func (v *View) Live() *Live { return v.live.snapshot.Load() }

// Run keeps the snapshots fresh until ctx ends. While the database is away the last ones stay.
func (v *View) Run(ctx context.Context) {
	failing := false
	hints := v.store.Hints(ctx)
	for {
		if err := v.refresh(ctx); err != nil && ctx.Err() == nil {
			if !failing {
				v.log.WarnContext(ctx, "snapshots not refreshed", "err", err.Error())
			}
			failing = true
		} else {
			failing = false
		}
		t := time.NewTimer(refreshEvery)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-hints:
		case <-t.C:
		}
		t.Stop()
	}
}

// refresh takes in what was committed since, and ranks again when something was or when it is time.
func (v *View) refresh(ctx context.Context) error {
	chains, err := v.chains(ctx)
	if err != nil {
		return err
	}
	changed := v.live.snapshot.Load() == nil
	for id, c := range chains {
		l := v.live.chains[id]
		if l == nil || l.rewinds != c.status.Rewinds {
			l = &liveChain{
				rewinds: c.status.Rewinds, native: c.native, pools: map[market.Address]market.Pool{},
				tokens: map[market.Address]market.Token{}, flows: map[market.Address][]traction.Flow{},
			}
			v.live.chains[id] = l
		}
		if l.seen != c.status.CommitNo {
			if err := v.take(ctx, id, l, c.status); err != nil {
				return err
			}
			changed = true
		}
		l.status = c.status
	}
	for id := range v.live.chains {
		if _, ok := chains[id]; !ok {
			delete(v.live.chains, id)
			changed = true
		}
	}
	if now := v.now(); changed || now.Sub(v.live.ranked) >= rankEvery {
		v.live.ranked = now
		v.rank()
	}
	return nil
}

// take reads what a chain's commits changed.
func (v *View) take(ctx context.Context, id string, l *liveChain, status store.ChainStatus) error {
	tokens, err := v.store.TokensSince(ctx, id, l.seen)
	if err != nil {
		return err
	}
	pools, err := v.store.PoolsSince(ctx, id, l.seen)
	if err != nil {
		return err
	}
	trades, err := v.store.ChainTrades(ctx, id, l.nextTrades, status.Last.Time-traction.Window)
	if err != nil {
		return err
	}
	if l.usd, err = v.quotes(ctx, id); err != nil {
		return err
	}
	for i := range tokens {
		l.tokens[tokens[i].Mint] = tokens[i]
	}
	for i := range pools {
		l.pools[pools[i].ID] = pools[i]
	}
	for i := range trades {
		t := &trades[i]
		l.nextTrades = max(l.nextTrades, t.Block+1)
		if t.HasUSD {
			l.flows[t.Base] = append(l.flows[t.Base], traction.Flow{
				Wallet: t.Trader, Time: t.Time, Sell: t.Sell, USD: float64(t.NanoUSD) / 1e9,
			})
		}
	}
	l.seen = status.CommitNo
	return nil
}

// rank makes the next snapshot. A token is listed when a trusted pool of at least some liquidity prices it and it
// traded within the window of the score. What stands still is no trend: a stale chain shows nothing beside others that
// aren't, and when all are stale the list says so.
func (v *View) rank() {
	v.live.version++
	next := &Live{Version: v.live.version, Stale: len(v.live.chains) > 0}
	for _, l := range v.live.chains {
		next.Stale = next.Stale && v.stale(l.status)
	}
	for _, c := range v.catalog.Chains {
		l := v.live.chains[c.ID]
		if l == nil || (v.stale(l.status) && !next.Stale) {
			next.Chains = append(next.Chains, LiveChain{ID: c.ID})
			continue
		}
		next.AsOf = max(next.AsOf, l.status.Last.Time)
		next.Chains = append(next.Chains, LiveChain{ID: c.ID, Tokens: l.rank(c.ID, v.stale(l.status))})
	}
	v.live.snapshot.Store(next)
}

func (l *liveChain) rank(id string, stale bool) []Ranked {
	now := l.status.Last.Time
	pools := make(map[market.Address][]market.Pool, len(l.flows))
	for _, p := range l.pools {
		if _, traded := l.flows[p.Base]; traded {
			pools[p.Base] = append(pools[p.Base], p)
		}
	}
	var out []Ranked
	for mint, flows := range l.flows {
		flows = slices.DeleteFunc(flows, func(f traction.Flow) bool { return f.Time <= now-traction.Window })
		if len(flows) == 0 {
			delete(l.flows, mint)
			continue
		}
		l.flows[mint] = flows
		if q, isQuote := l.usd[mint]; isQuote && q.Pegged {
			continue // money is no trend
		}
		of := pools[mint]
		slices.SortFunc(of, func(a, b market.Pool) int { return a.ID.Compare(b.ID) })
		r := Ranked{Token: Token{
			Chain: id, Token: l.tokens[mint], Pools: of, USD: l.usd, Native: l.native,
			AsOf: l.status.Last.Time, FinalAt: l.status.Head.FinalTime, Stale: stale,
		}}
		if r.Figures = r.Token.Figures(); r.Figures.Price == nil || r.Figures.LiquidityUSD == nil {
			continue
		}
		r.Parts = traction.Parts{LiquidityUSD: *r.Figures.LiquidityUSD, AgeS: float64(now - r.Token.Token.FirstSeenAt)}
		r.Parts.Measure(flows, now)
		r.Score = traction.Score(r.Parts)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		case a.Token.Token.FirstSeenAt != b.Token.Token.FirstSeenAt:
			return int(a.Token.Token.FirstSeenAt - b.Token.Token.FirstSeenAt)
		default:
			return a.Token.Token.Mint.Compare(b.Token.Token.Mint)
		}
	})
	return out[:min(len(out), liveDepth)]
}
