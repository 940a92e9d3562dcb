package judge

import (
	"context"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Pricer says what tokens cost when they are called.
type Pricer struct {
	// Store goes by chains' ids (store.Served).
	Store *store.Store
	Now   func() time.Time
}

// Priced is what a token costs, or why it can't be called: an error of package member.
type Priced struct {
	member.CallPrice
	Err error
}

// Prices gives the prices of tokens in their reference pools, by the newest indexed blocks of their chains. It gives the highest price of the hold time that ends
// now, so that nobody makes a call cheap by pushing the price down for a moment.
func (p *Pricer) Prices(ctx context.Context, tokens []store.TokenAt) (map[store.TokenAt]Priced, error) {
	chains, err := p.Store.Chains(ctx)
	if err != nil {
		return nil, err
	}
	mints := make([]market.Address, len(tokens))
	for i := range tokens {
		mints[i] = tokens[i].Mint
	}
	seen, err := readTokens(ctx, p.Store, mints)
	if err != nil {
		return nil, err
	}
	out := make(map[store.TokenAt]Priced, len(tokens))
	for _, at := range tokens {
		if _, ok := out[at]; ok {
			continue
		}
		i := slices.IndexFunc(chains, func(c store.ChainStatus) bool { return c.ID == at.Chain })
		switch {
		case i < 0 || chains[i].Last.Hash == (market.Hash{}):
			out[at] = Priced{Err: member.ErrNotIndexed}
		case store.IsStale(chains[i].State, chains[i].Last.Time, chains[i].Head, p.Now()):
			out[at] = Priced{Err: member.ErrChainBehind}
		default:
			priced := seen[at].priced(chains[i].Head.FinalTime)
			if priced.Err == nil {
				if priced.USD, err = p.highest(ctx, at, seen[at]); err != nil {
					return nil, err
				}
			}
			out[at] = priced
		}
	}
	return out, nil
}

// mostCloses is how many trades of a pool are read to find the highest of its last prices.
const mostCloses = 5_000

// highest finds the highest price of the last holdBlocks blocks and holdSeconds seconds, the price at their beginning too.
func (p *Pricer) highest(ctx context.Context, at store.TokenAt, now *tokenNow) (float64, error) {
	highest := now.usd()
	first := now.block - min(now.block, holdBlocks)
	trades := p.Store.Trades
	// Ten blocks may take less than twenty seconds, or more.
	since := now.time - holdSeconds
	late, _, err := trades.BlockCloses(ctx, at.Chain, now.pool.ID, first, since-holdLonger, now.block, mostCloses)
	if err != nil {
		return 0, err
	}
	fast, _, err := trades.BlockCloses(ctx, at.Chain, now.pool.ID, 0, since, now.block, mostCloses)
	if err != nil {
		return 0, err
	}
	begins := since
	for _, c := range append(late, fast...) {
		highest, begins = max(highest, c.USD), min(begins, c.Time)
	}
	before, err := trades.Ticks(ctx, at.Chain, now.pool.ID, 0, begins, false, 1)
	if err != nil {
		return 0, err
	}
	for _, t := range before {
		highest = max(highest, t.Price)
	}
	return highest, nil
}

// holdLonger bounds how far back the last holdBlocks blocks are looked at, in seconds beyond holdSeconds, on a chain that makes few blocks.
const holdLonger = 10 * 60

// tokenNow is a token with the pool that prices it; pool is nil where none does.
type tokenNow struct {
	pool  *store.PoolNow
	block uint64
	time  int64
}

// usd is the token's price; 0 where it has none in a trusted pool.
func (t *tokenNow) usd() float64 {
	if t.pool == nil || t.pool.Untrusted != market.Trusted {
		return 0
	}
	return t.pool.Price * t.pool.QuotePrice.USD
}

// priced gives what the token costs. t is nil for a token that isn't there. finalTime is the time of its chain's final block.
func (t *tokenNow) priced(finalTime int64) Priced {
	switch {
	case t == nil:
		return Priced{Err: member.ErrUnknownToken}
	case t.usd() == 0:
		return Priced{Err: member.ErrUnpriced}
	case t.pool.CountsSince == 0:
		return Priced{Err: member.ErrThinPool}
	default:
		return Priced{CallPrice: member.CallPrice{USD: t.usd(), CloseUSD: t.usd(), Block: t.block, Time: t.time, FinalTime: min(finalTime, t.time)}}
	}
}

// readTokens reads the tokens at some addresses, on all chains.
func readTokens(ctx context.Context, st *store.Store, mints []market.Address) (map[store.TokenAt]*tokenNow, error) {
	list, err := st.Tokens.Now(ctx, mints)
	if err != nil {
		return nil, err
	}
	pools, err := st.Pools.Now(ctx, mints)
	if err != nil {
		return nil, err
	}
	out := make(map[store.TokenAt]*tokenNow, len(list))
	reference := make(map[store.TokenAt]market.Address, len(list))
	for i := range list {
		at := store.TokenAt{Chain: list[i].Chain, Mint: list[i].Mint}
		out[at], reference[at] = &tokenNow{block: list[i].Block, time: list[i].Time}, list[i].Pool
	}
	for i := range pools {
		p := &pools[i]
		if at := (store.TokenAt{Chain: p.Chain, Mint: p.Base}); out[at] != nil && reference[at] == p.ID {
			out[at].pool = p
		}
	}
	return out, nil
}
