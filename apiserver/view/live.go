package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/traction"
)

const (
	// rankEvery is the pace at which scores, which decay by themselves, are computed anew.
	rankEvery = 15 * time.Second
	// liveDepth is the most tokens of one chain that the live list can show.
	liveDepth = 50
	// tokensAtOnce bounds the tokens that are read by one query.
	tokensAtOnce = 512
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
	ID string
	// Block is its newest indexed one, where it is Indexed and shown.
	Block   uint64
	Indexed bool
	Tokens  []Ranked
}

// liveList keeps, per chain, what ranking needs, and the list that follows. Its cost follows what trades, not what there
// is.
type liveList struct {
	chains   map[string]*liveChain
	snapshot atomic.Pointer[Live]
	version  int64
	ranked   time.Time
	wasLost  bool // the snapshot is stale because the database went away
}

type liveChain struct {
	seen, rewinds int64
	status        store.ChainStatus
	stale         bool
	usd           map[market.Address]market.QuotePrice
	flows         map[market.Address][]traction.Flow // of the score's window, oldest first
	tokens        map[market.Address]Token           // of the flows: rows alone
	nextTrades    uint64                             // the first block whose trades are not in flows
	ranked        []Ranked
}

func newLiveList() liveList { return liveList{chains: make(map[string]*liveChain)} }

// Live is the current list; nil before the first.
func (v *View) Live() *Live { return v.live.snapshot.Load() }

// refreshLive takes in what was committed since and ranks the chains that it changed, and all of them when it is time:
// scores decay by themselves. A chain that can't be read is stale, and the others go on; it fails when none can.
func (v *View) refreshLive(ctx context.Context, w *world) error {
	now := v.now()
	last := v.live.snapshot.Load()
	everything := last == nil || v.live.wasLost || now.Sub(v.live.ranked) >= rankEvery
	changed := everything
	var failed []error
	for id, status := range w.statuses {
		l := v.live.chains[id]
		if l == nil || l.rewinds != status.Rewinds {
			l = &liveChain{rewinds: status.Rewinds, flows: map[market.Address][]traction.Flow{}}
			v.live.chains[id] = l
		}
		stale := v.stale(status.State, status.Last.Time)
		fresh := l.seen != status.CommitNo
		if fresh {
			if err := v.take(ctx, l, status); err != nil {
				failed = append(failed, fmt.Errorf("chain %s: %w", id, err))
				stale, fresh = true, false
			}
		}
		if fresh || everything || stale != l.stale {
			l.status, l.stale = status, stale
			l.ranked = l.rank(id)
			changed = true
		}
	}
	for id := range v.live.chains {
		if _, ok := w.statuses[id]; !ok {
			delete(v.live.chains, id)
			changed = true
		}
	}
	if len(failed) > 0 && len(failed) == len(w.statuses) {
		return errors.Join(failed...)
	}
	if len(failed) > 0 {
		v.log.WarnContext(ctx, "chains not refreshed", "err", errors.Join(failed...).Error())
	}
	if everything {
		v.live.ranked, v.live.wasLost = now, false
	}
	if changed {
		v.deal()
	}
	return nil
}

// take reads what a chain's commits changed, of the tokens that traded within the window of the score. When it fails, what
// it read of whole blocks is kept for the next time.
func (v *View) take(ctx context.Context, l *liveChain, status store.ChainStatus) error {
	limit := refreshTime
	if l.seen == 0 {
		limit = firstTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var block []store.Flow
	book := func() {
		for _, f := range block {
			l.nextTrades = f.Block + 1
			l.flows[f.Base] = append(l.flows[f.Base], traction.Flow{
				Wallet: f.Trader, Time: f.Time, Sell: f.Sell, USD: float64(f.NanoUSD) / 1e9,
			})
		}
		block = block[:0]
	}
	for f, err := range v.looks.Flows(ctx, status.ID, l.nextTrades, status.Last.Time-traction.Window) {
		if err != nil {
			return err
		}
		if len(block) > 0 && block[0].Block != f.Block {
			book()
		}
		block = append(block, f)
	}
	book()
	for mint, flows := range l.flows {
		old := 0
		for old < len(flows) && flows[old].Time <= status.Last.Time-traction.Window {
			old++
		}
		if old == len(flows) {
			delete(l.flows, mint)
		} else {
			l.flows[mint] = flows[old:]
		}
	}
	return v.takeTokens(ctx, l, status)
}

// takeTokens reads the tokens of the flows that are new here, and those whose rows changed.
func (v *View) takeTokens(ctx context.Context, l *liveChain, status store.ChainStatus) error {
	changed := make(map[market.Address]bool)
	if l.seen > 0 {
		list, err := v.looks.ChangedTokens(ctx, status.ID, l.seen)
		if err != nil {
			return err
		}
		for _, mint := range list {
			changed[mint] = true
		}
	}
	kept := make(map[market.Address]Token, len(l.flows))
	var wanted []market.Address
	for mint := range l.flows {
		if t, known := l.tokens[mint]; known && !changed[mint] {
			kept[mint] = t
		} else {
			wanted = append(wanted, mint)
		}
	}
	usd, err := v.quotes(ctx)
	if err != nil {
		return err
	}
	l.usd = usd[status.ID]
	for part := range slices.Chunk(wanted, tokensAtOnce) {
		found, err := v.readTokens(ctx, v.looks, part)
		if err != nil {
			return err
		}
		for mint, tokens := range found {
			for _, t := range tokens {
				if t.Chain == status.ID {
					kept[mint] = t
				}
			}
		}
	}
	l.tokens, l.seen = kept, status.CommitNo
	return nil
}

// deal makes the next snapshot of the chains' ranked tokens. What stands still is no trend: a stale chain shows nothing
// beside others that aren't, and when all are stale the list says so.
func (v *View) deal() {
	v.live.version++
	next := &Live{Version: v.live.version, Stale: len(v.live.chains) > 0}
	for _, l := range v.live.chains {
		next.Stale = next.Stale && l.stale
	}
	for _, c := range v.catalog.Chains {
		l := v.live.chains[c.ID]
		if l == nil || (l.stale && !next.Stale) {
			next.Chains = append(next.Chains, LiveChain{ID: c.ID})
			continue
		}
		next.AsOf = max(next.AsOf, l.status.Last.Time)
		next.Chains = append(next.Chains, LiveChain{ID: c.ID, Block: l.status.Last.Number, Indexed: true, Tokens: l.ranked})
	}
	v.live.snapshot.Store(next)
}

// lost makes the list a stale one.
func (l *liveList) lost() {
	last := l.snapshot.Load()
	if last == nil || l.wasLost {
		return
	}
	l.version++
	l.wasLost = true
	next := *last
	next.Stale, next.Version = true, l.version
	l.snapshot.Store(&next)
}

// rank orders a chain's tokens. A token is listed when a trusted pool of some liquidity prices it and it traded within
// the window of the score.
func (l *liveChain) rank(id string) []Ranked {
	now := l.status.Last.Time
	var out []Ranked
	for mint, flows := range l.flows {
		t, known := l.tokens[mint]
		if q, isQuote := l.usd[mint]; !known || (isQuote && q.Pegged) {
			continue // money is no trend
		}
		t.Chain, t.USD, t.Stale = id, l.usd, l.stale
		t.Block, t.AsOf, t.FinalAt = l.status.Last.Number, now, l.status.Head.FinalTime
		r := Ranked{Token: t}
		if r.Figures = r.Token.Figures(); r.Figures.Price == nil || r.Figures.LiquidityUSD == nil {
			continue
		}
		r.Parts = traction.Parts{LiquidityUSD: *r.Figures.LiquidityUSD, AgeS: float64(now - r.Token.Token.FirstSeenAt)}
		r.Parts.Measure(flows, now)
		r.Score = traction.Score(r.Parts)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Token.Token.FirstSeenAt, b.Token.Token.FirstSeenAt),
			a.Token.Token.Mint.Compare(b.Token.Token.Mint))
	})
	return out[:min(len(out), liveDepth)]
}
