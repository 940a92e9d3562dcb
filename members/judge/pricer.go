package judge

import (
	"context"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Pricer says what a token costs when it is called.
type Pricer struct {
	// Store goes by chains' ids (store.Served).
	Store *store.Store
	Now   func() time.Time
}

// Price gives a token's price in its reference pool by the newest indexed block. The error is one of package member where the token can't be called.
func (p *Pricer) Price(ctx context.Context, chain string, mint market.Address) (member.CallPrice, error) {
	chains, err := p.Store.Chains(ctx)
	if err != nil {
		return member.CallPrice{}, err
	}
	i := slices.IndexFunc(chains, func(c store.ChainStatus) bool { return c.ID == chain })
	if i < 0 || chains[i].Last.Hash == (market.Hash{}) {
		return member.CallPrice{}, member.ErrNotIndexed
	}
	if c := &chains[i]; store.IsStale(c.State, c.Last.Time, c.Head, p.Now()) {
		return member.CallPrice{}, member.ErrChainBehind
	}
	tokens, err := readTokens(ctx, p.Store, []market.Address{mint})
	if err != nil {
		return member.CallPrice{}, err
	}
	t, ok := tokens[store.TokenAt{Chain: chain, Mint: mint}]
	switch {
	case !ok:
		return member.CallPrice{}, member.ErrUnknownToken
	case t.usd() == 0:
		return member.CallPrice{}, member.ErrUnpriced
	case t.pool.CountsSince == 0:
		return member.CallPrice{}, member.ErrThinPool
	}
	return member.CallPrice{USD: t.usd(), Block: t.block, Time: t.time}, nil
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
