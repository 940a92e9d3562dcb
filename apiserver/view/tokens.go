package view

import (
	"context"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// tokenTTL is how long what is known of one token is used again: about the pace of the fastest blocks.
	tokenTTL = 250 * time.Millisecond
	// cachedTokens bounds the tokens that are remembered, those of the last while among them that stand in for the
	// database while it is away.
	cachedTokens = 16384
)

// tokenCache remembers tokens by their addresses.
type tokenCache struct {
	*recent.Cache[market.Address, dated[[]Token]]

	flight singleflight.Group
}

// dated is a value with the time at which it was read.
type dated[V any] struct {
	value V
	at    time.Time
}

func newTokenCache() tokenCache {
	return tokenCache{Cache: recent.New[market.Address, dated[[]Token]](cachedTokens)}
}

// Tokens lists the tokens at an address on all chains, those that aren't declared any more among them: those with a launch
// record first, then by liquidity, deepest first. Answers are shared and must not be changed. While the database can't be read, what was read last stands in for it, and is stale.
func (v *View) Tokens(ctx context.Context, mint market.Address) ([]Token, error) {
	if hit, ok := v.remembered(mint); ok {
		return hit, nil
	}
	out, err, _ := v.tokens.flight.Do(string(mint.Bytes()), func() (any, error) {
		// The first caller's going away must not take the answer from the others.
		found, err := v.readInto(context.WithoutCancel(ctx), []market.Address{mint})
		return found[mint], err
	})
	if err != nil {
		return nil, err
	}
	tokens, ok := out.([]Token)
	if !ok {
		return nil, fmt.Errorf("view: a token lookup gave a %T", out)
	}
	return tokens, nil
}

// TokensAt is Tokens for several addresses, which are read together.
func (v *View) TokensAt(ctx context.Context, mints []market.Address) (map[market.Address][]Token, error) {
	out := make(map[market.Address][]Token, len(mints))
	var missing []market.Address
	for _, mint := range mints {
		if hit, ok := v.remembered(mint); ok {
			out[mint] = hit
		} else {
			missing = append(missing, mint)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	found, err := v.readInto(ctx, missing)
	if err != nil {
		return nil, err
	}
	maps.Copy(out, found)
	return out, nil
}

// remembered are the tokens at an address as they were just read; while the database is known to be away, as they were
// read last, and stale.
func (v *View) remembered(mint market.Address) ([]Token, bool) {
	hit, ok := v.tokens.Get(mint)
	if !ok || v.now().Sub(hit.at) < tokenTTL {
		return hit.value, ok
	}
	if !v.snapshot.Load().failing() {
		return nil, false
	}
	return stale(hit.value), true
}

func stale(tokens []Token) []Token {
	out := make([]Token, len(tokens))
	for i, t := range tokens {
		t.Stale = true
		out[i] = t
	}
	return out
}

// readInto reads tokens into the cache; an address without any is not remembered. When the database fails and all of them
// are remembered from before, those are the answer.
func (v *View) readInto(ctx context.Context, mints []market.Address) (map[market.Address][]Token, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	found, err := v.readTokens(ctx, v.store, mints)
	if err == nil {
		for mint, tokens := range found {
			v.tokens.Put(mint, dated[[]Token]{tokens, v.now()})
		}
		return found, nil
	}
	last := make(map[market.Address][]Token, len(mints))
	for _, mint := range mints {
		hit, ok := v.tokens.Get(mint)
		if !ok {
			return nil, err
		}
		last[mint] = stale(hit.value)
	}
	return last, nil
}

// readTokens reads tokens with their chains' state, and then their pools, which can only be newer.
func (v *View) readTokens(ctx context.Context, st *store.Store, mints []market.Address) (map[market.Address][]Token, error) {
	found, err := st.TokensNow(ctx, mints)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	pools, err := st.PoolsNow(ctx, mints)
	if err != nil {
		return nil, err
	}
	type key struct {
		chain string
		mint  market.Address
	}
	byToken := make(map[key][]*store.PoolNow, len(found))
	for i := range pools {
		k := key{pools[i].Chain, pools[i].Base}
		byToken[k] = append(byToken[k], &pools[i])
	}
	out := make(map[market.Address][]Token, len(mints))
	for i := range found {
		k := key{found[i].Chain, found[i].Mint}
		out[found[i].Mint] = append(out[found[i].Mint], v.token(&found[i], byToken[k]))
	}
	for mint := range out {
		foremost(out[mint])
	}
	return out, nil
}

// token is a token with its pools.
func (v *View) token(t *store.TokenNow, pools []*store.PoolNow) Token {
	out := Token{
		Chain: t.Chain, Token: t.Token, USD: make(map[market.Address]market.QuotePrice, 2), Block: t.Block, Changed: t.Changed,
		AsOf: t.Time, FinalAt: t.FinalTime, Stale: v.stale(t.State, t.Time, t.Head), Launched: t.Launched, GraduatedAt: t.GraduatedAt,
	}
	for _, p := range pools {
		out.Pools = append(out.Pools, p.Pool)
		out.USD[p.Quote] = p.QuotePrice
		out.Changed = out.Changed.Latest(p.Changed)
	}
	if t.Quote != nil {
		out.USD[t.Mint] = *t.Quote
	}
	return out
}
