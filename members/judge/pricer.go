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

// Prices gives the prices of tokens in their reference pools, by the newest indexed blocks of their chains.
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
		i := slices.IndexFunc(chains, func(c store.ChainStatus) bool { return c.ID == at.Chain })
		switch {
		case i < 0 || chains[i].Last.Hash == (market.Hash{}):
			out[at] = Priced{Err: member.ErrNotIndexed}
		case store.IsStale(chains[i].State, chains[i].Last.Time, chains[i].Head, p.Now()):
			out[at] = Priced{Err: member.ErrChainBehind}
		default:
			out[at] = seen[at].priced(chains[i].Head.FinalTime)
		}
	}
	return out, nil
}

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

// priced is what the token costs; it is nil for one that isn't there. finalTime is that of its chain's final block.
func (t *tokenNow) priced(finalTime int64) Priced {
	switch {
	case t == nil:
		return Priced{Err: member.ErrUnknownToken}
	case t.usd() == 0:
		return Priced{Err: member.ErrUnpriced}
	case t.pool.CountsSince == 0:
		return Priced{Err: member.ErrThinPool}
	default:
		return Priced{CallPrice: member.CallPrice{USD: t.usd(), Block: t.block, Time: t.time, FinalTime: finalTime}}
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
