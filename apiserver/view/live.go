package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// ranker keeps, per chain, what ranking needs. Its cost follows what trades, not what there is.
type ranker struct {
	chains map[string]*liveChain
	last   *ranking
	at     time.Time
}

// ranking has the indexed chains' tokens, best first, as of one look. It is never changed.
type ranking struct{ chains map[string]rankedChain }

type rankedChain struct {
	status store.ChainStatus
	stale  bool
	tokens []Ranked
}

type liveChain struct {
	seen, rewinds int64
	usd           map[market.Address]market.QuotePrice
	flows         map[market.Address][]traction.Flow // of the score's window, oldest first
	tokens        map[market.Address]Token           // of the flows: rows alone
	nextTrades    uint64                             // the first block whose trades are not in flows
	ranked        rankedChain
}

func newRanker() ranker { return ranker{chains: make(map[string]*liveChain)} }

// refreshLive takes in what was committed since and ranks the chains that it changed, and all of them when it is time:
// scores decay by themselves. A chain that can't be read is stale, and the others go on; it fails when none can.
func (v *View) refreshLive(ctx context.Context, s *Snapshot) (*ranking, error) {
	now, r := v.now(), &v.ranks
	statuses := s.statuses()
	everything := r.last == nil || now.Sub(r.at) >= rankEvery
	changed := everything
	var failed []error
	for id, status := range statuses {
		l := r.chains[id]
		if l == nil || l.rewinds != status.Rewinds {
			l = &liveChain{rewinds: status.Rewinds, flows: map[market.Address][]traction.Flow{}}
			r.chains[id] = l
		}
		stale := v.stale(status.State, status.Last.Time)
		fresh := l.seen != status.CommitNo
		if fresh {
			if err := v.take(ctx, l, status); err != nil {
				failed = append(failed, fmt.Errorf("chain %s: %w", id, err))
				stale, fresh = true, false
			}
		}
		if fresh || everything || stale != l.ranked.stale {
			l.rank(status, stale)
			changed = true
		}
	}
	for id := range r.chains {
		if _, ok := statuses[id]; !ok {
			delete(r.chains, id)
			changed = true
		}
	}
	if len(failed) > 0 && len(failed) == len(statuses) {
		return nil, errors.Join(failed...)
	}
	if len(failed) > 0 {
		v.log.WarnContext(ctx, "chains not refreshed", "err", errors.Join(failed...).Error())
	}
	if everything {
		r.at = now
	}
	if changed {
		r.last = &ranking{chains: make(map[string]rankedChain, len(r.chains))}
		for id, l := range r.chains {
			r.last.chains[id] = l.ranked
		}
	}
	return r.last, nil
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

// deal makes the list of the chains' ranked tokens. What stands still is no trend: a stale chain shows nothing beside others
// that aren't, and when all are stale the list says so.
func (s *Snapshot) deal(version int64) *Live {
	next := &Live{Version: version}
	var shown []rankedChain
	for _, id := range s.Catalog.ChainIDs(nil) {
		if l, ok := s.ranking.chains[id]; ok {
			shown = append(shown, l)
		}
	}
	standing := len(shown) > 0 && !slices.ContainsFunc(shown, func(l rankedChain) bool { return !l.stale })
	for _, id := range s.Catalog.ChainIDs(nil) {
		l, ok := s.ranking.chains[id]
		if !ok || (l.stale && !standing) {
			next.Chains = append(next.Chains, LiveChain{ID: id})
			continue
		}
		next.AsOf = max(next.AsOf, l.status.Last.Time)
		next.Chains = append(next.Chains, LiveChain{ID: id, Block: l.status.Last.Number, Indexed: true, Tokens: l.tokens})
	}
	next.Stale = standing || s.failing()
	return next
}

// rank orders a chain's tokens. A token is listed when a trusted pool of some liquidity prices it and it traded within
// the window of the score.
func (l *liveChain) rank(status store.ChainStatus, stale bool) {
	now := status.Last.Time
	var out []Ranked
	for mint, flows := range l.flows {
		t, known := l.tokens[mint]
		if q, isQuote := l.usd[mint]; !known || (isQuote && q.Pegged) {
			continue // money is no trend
		}
		t.Chain, t.USD, t.Stale = status.ID, l.usd, stale
		t.Block, t.AsOf, t.FinalAt = status.Last.Number, now, status.Head.FinalTime
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
	l.ranked = rankedChain{status, stale, out[:min(len(out), liveDepth)]}
}
