package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// endpoint is an operation that is about tokens.
type endpoint struct {
	operation string
	// tokens is how many a request names.
	tokens int
	target func(w *world, tokens []int) string
	// alone asks the database for the rows that the answer is made of, and for nothing else: not for the prices of
	// quote assets and the state of chains, which are few rows that any server can hold. It gives the answer's bars.
	alone func(ctx context.Context, st *store.Store, w *world, tokens []int) ([]candle.Bar, error)
}

// perToken are the operations whose work is that of one token, or a few.
var perToken = []endpoint{
	{
		operation: "getTokenInfo", tokens: 1,
		target: func(w *world, tokens []int) string { return "/api/token/info/" + w.named(tokens[0], "") },
		alone: func(ctx context.Context, st *store.Store, w *world, tokens []int) ([]candle.Bar, error) {
			_, err := aloneTokens(ctx, st, w, tokens)
			return nil, err
		},
	},
	{
		operation: "getChart", tokens: 1,
		target: func(w *world, tokens []int) string { return "/api/chart/" + w.named(tokens[0], "&tf=15m") },
		alone: func(ctx context.Context, st *store.Store, w *world, tokens []int) ([]candle.Bar, error) {
			return aloneBars(ctx, st, w, tokens[0], 15*candle.Minute, 300)
		},
	},
	{
		operation: "getTokenCandles", tokens: 1,
		target: func(w *world, tokens []int) string {
			mint, query, _ := strings.Cut(w.named(tokens[0], "&range=24h"), "?")
			return "/api/token/" + mint + "/candles?" + query
		},
		alone: func(ctx context.Context, st *store.Store, w *world, tokens []int) ([]candle.Bar, error) {
			return aloneBars(ctx, st, w, tokens[0], 15*candle.Minute, 96)
		},
	},
	{
		operation: "getTokenPrices", tokens: 20,
		target: func(w *world, tokens []int) string {
			mints := make([]string, len(tokens))
			for i, t := range tokens {
				mints[i] = worldChains[w.tokens[t].chain].id + ":" + w.tokens[t].mint.String()
			}
			return "/api/market/token-prices?mints=" + strings.Join(mints, ",")
		},
		alone: func(ctx context.Context, st *store.Store, w *world, tokens []int) ([]candle.Bar, error) {
			_, err := aloneTokens(ctx, st, w, tokens)
			return nil, err
		},
	},
}

// named is a token as a path's end, with its chain and what else the query has.
func (w *world) named(token int, query string) string {
	t := &w.tokens[token]
	return t.mint.String() + "?chain=" + worldChains[t.chain].id + query
}

// aloneTokens reads tokens with their pools.
func aloneTokens(ctx context.Context, st *store.Store, w *world, tokens []int) ([]store.TokenNow, error) {
	mints := make([]market.Address, len(tokens))
	for i, token := range tokens {
		mints[i] = w.tokens[token].mint
	}
	found, err := st.Tokens.Now(ctx, mints)
	if err != nil {
		return nil, err
	}
	pools, err := st.Pools.Now(ctx, mints)
	if err != nil {
		return nil, err
	}
	if len(found) != len(tokens) || len(pools) < len(tokens) {
		return nil, fmt.Errorf("the database has %d tokens and %d pools of %d tokens that were seeded", len(found), len(pools), len(tokens))
	}
	return found, nil
}

// aloneBars reads what a series up to now is made of, and makes it.
func aloneBars(ctx context.Context, st *store.Store, w *world, token int, width candle.Width, count int64) ([]candle.Bar, error) {
	found, err := aloneTokens(ctx, st, w, []int{token})
	if err != nil {
		return nil, err
	}
	t := &found[0]
	to := width.Open(worldEnd) + int64(width)
	from := to - count*int64(width)
	rows, err := st.Candles.Series(ctx, t.Chain, t.Pool, width.Stored(), from, to, false)
	if err != nil {
		return nil, err
	}
	if _, _, err := st.Candles.SeriesBefore(ctx, t.Chain, t.Pool, width.Stored(), from, false); err != nil {
		return nil, err
	}
	return candle.Fold(rows, width, candle.USD), nil
}

// drawer draws the tokens of requests: popular ones more often, in the order of their activity.
type drawer struct {
	rng  *rand.Rand
	rank *zipf
}

// newDrawer begins a sequence that depends on its parameters alone, so that everybody is asked for the same.
func newDrawer(w *world, exponent float64, sequence uint64) *drawer {
	return &drawer{rand.New(rand.NewPCG(w.size.Seed, sequence)), newZipf(len(w.tokens), exponent)}
}

// draw gives n different tokens.
func (d *drawer) draw(n int) []int {
	out := make([]int, 0, n)
	for len(out) < n {
		t := d.rank.draw(d.rng)
		fresh := true
		for _, o := range out {
			fresh = fresh && o != t
		}
		if fresh {
			out = append(out, t)
		}
	}
	return out
}
