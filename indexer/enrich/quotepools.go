package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

const (
	// firstQuotePause and longestQuotePause are the pauses, in blocks, after which pools of quotes without a price are looked for again.
	firstQuotePause, longestQuotePause = 4, 4096
	// quotePoolsAtOnce is the most pools that are looked at for quotes without a price.
	quotePoolsAtOnce = 96
)

// quotePools looks for pools that price the declared quotes and are older than the index, where it begins in the middle of the chain: without
// it nothing had a price before somebody trades in one of them. It asks the declared exchanges for their pools of each quote with the pegged
// ones, and the pools for what they hold. That is never given up: it is asked seldom, and nothing has a price without it.
func (e *enrichment) quotePools(ctx context.Context) error {
	if len(e.blocks) == 0 || !e.Config.Start.Now && e.Config.Start.Block == 0 {
		return nil
	}
	quotes, pegged := e.Machine.UnpricedQuotes(e.state)
	b := &e.blocks[0]
	if len(quotes) == 0 || len(pegged) == 0 {
		return nil
	}
	if found, err := e.hasRecordedStates(ctx); found || err != nil {
		return err
	}
	last := e.quotesSought
	ctx, _ = e.asksStates(ctx)
	if last.pause > 0 && b.Number < last.asked+last.pause {
		return nil
	}
	e.quotesSought = notPool{asked: b.Number, pause: min(max(2*last.pause, firstQuotePause), longestQuotePause)}
	var pairs [][2]market.Address
	for _, q := range quotes {
		for _, p := range pegged {
			pairs = append(pairs, [2]market.Address{q, p})
		}
	}
	known, gone, err := e.poolsOf(ctx, b, pairs)
	if err != nil || len(known) == 0 {
		return err
	}
	var states []chain.PoolState
	if !gone {
		if states, gone, err = e.Nodes.PoolStates(ctx, before(b), known); err != nil {
			return err
		}
	}
	if gone {
		if !e.following { // near the head the newest state is of use
			e.quotesSought.pause = firstQuotePause
		}
		return e.askNewestStates(ctx, b, known, true)
	}
	for i, s := range states {
		if s.Known {
			e.addTold(b, market.PoolFact{Pool: s.Pool, Known: true, Info: known[i]}, false)
			e.addTold(b, s.PoolStateFact, s.Unsure)
		}
	}
	return nil
}

// poolsOf gives the pools of pairs of tokens that the index doesn't know, of those without an account only those that there may be. Gone says
// that they are those of now.
func (e *enrichment) poolsOf(ctx context.Context, b *market.Block, pairs [][2]market.Address) (known []market.PoolCreated, gone bool, err error) {
	pools, gone, err := e.Nodes.PoolsOf(ctx, before(b), e.Config.Exchanges, pairs)
	if err != nil {
		return nil, gone, err
	}
	pools = slices.DeleteFunc(pools, func(a market.Address) bool { return e.state.Pool(a) != nil })
	facts, unsure, err := e.Nodes.PoolFacts(ctx, before(b), e.Config.Exchanges, pools[:min(len(pools), quotePoolsAtOnce)], e.countsPool)
	if err != nil {
		return nil, gone, err
	}
	for i, f := range facts {
		if f.Known && !unsure[i] {
			known = append(known, f.Info)
		}
	}
	for _, p := range e.Nodes.UsualPools(e.Config.Exchanges, pairs) {
		if len(known) < quotePoolsAtOnce && e.state.Pool(p.Pool) == nil {
			known = append(known, p)
		}
	}
	return known, gone, nil
}

// hasRecordedStates reports whether an earlier index found pools at the same blocks. They are taken in already (takeKeptStates).
func (e *enrichment) hasRecordedStates(ctx context.Context) (bool, error) {
	for i := range e.blocks {
		facts, err := e.recorded(ctx, &e.blocks[i])
		if err != nil {
			return false, err
		}
		for _, f := range facts {
			if _, ok := f.(market.PoolStateFact); ok {
				return true, nil
			}
		}
	}
	return false, nil
}
