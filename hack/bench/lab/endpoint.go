package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Endpoint is an operation that is about tokens.
type Endpoint struct {
	Operation string
	// Tokens is how many a request names.
	Tokens int
	Target func(w *World, tokens []int) string
	// Alone asks the database for the rows that the answer is made of, and for nothing else: not for the prices of
	// quote assets and the state of chains, which are few rows that any server can hold. It gives the answer's bars.
	Alone func(ctx context.Context, st *store.Store, w *World, tokens []int) ([]candle.Bar, error)
}

// PerToken are the operations that answer about the tokens named in the request, and read only theirs.
var PerToken = []Endpoint{
	{Operation: "getTokenInfo", Tokens: 1, Alone: aloneRows, Target: func(w *World, tokens []int) string {
		return "/api/token/info/" + w.named(tokens[0], "")
	}},
	{Operation: "getChart", Tokens: 1, Alone: aloneBars(300), Target: func(w *World, tokens []int) string {
		return "/api/chart/" + w.named(tokens[0], "&tf=15m")
	}},
	{Operation: "getTokenCandles", Tokens: 1, Alone: aloneBars(96), Target: func(w *World, tokens []int) string {
		mint, query, _ := strings.Cut(w.named(tokens[0], "&range=24h"), "?")
		return "/api/token/" + mint + "/candles?" + query
	}},
	{Operation: "getTokenPrices", Tokens: 20, Alone: aloneRows, Target: func(w *World, tokens []int) string {
		mints := make([]string, len(tokens))
		for i, t := range tokens {
			mints[i] = worldChains[w.Tokens[t].chain].ID + ":" + w.Tokens[t].Mint.String()
		}
		return "/api/market/token-prices?mints=" + strings.Join(mints, ",")
	}},
}

// named is a token as a path's end, with its chain and what else the query has.
func (w *World) named(token int, query string) string {
	t := &w.Tokens[token]
	return t.Mint.String() + "?chain=" + worldChains[t.chain].ID + query
}

// aloneTokens reads tokens with their pools.
func aloneTokens(ctx context.Context, st *store.Store, w *World, tokens []int) ([]store.TokenNow, error) {
	mints := make([]market.Address, len(tokens))
	for i, token := range tokens {
		mints[i] = w.Tokens[token].Mint
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

// aloneRows reads tokens with their pools, which make no bars.
func aloneRows(ctx context.Context, st *store.Store, w *World, tokens []int) ([]candle.Bar, error) {
	_, err := aloneTokens(ctx, st, w, tokens)
	return nil, err
}

// aloneBars reads what a token's series of 15 minutes up to now is made of, and makes it.
func aloneBars(count int64) func(ctx context.Context, st *store.Store, w *World, tokens []int) ([]candle.Bar, error) {
	return func(ctx context.Context, st *store.Store, w *World, tokens []int) ([]candle.Bar, error) {
		found, err := aloneTokens(ctx, st, w, tokens)
		if err != nil {
			return nil, err
		}
		const width = 15 * candle.Minute
		t, to := &found[0], width.Open(WorldEnd)+int64(width)
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
}

// Drawer draws the tokens of requests: popular ones more often, in the order of their activity.
type Drawer struct {
	RNG  *rand.Rand
	rank *Zipf
}

// NewDrawer begins a sequence that depends on its parameters alone, so that everybody is asked for the same.
func NewDrawer(w *World, exponent float64, sequence uint64) *Drawer {
	return &Drawer{rand.New(rand.NewPCG(w.size.Seed, sequence)), NewZipf(len(w.Tokens), exponent)}
}

// Draw gives n different tokens.
func (d *Drawer) Draw(n int) []int {
	out := make([]int, 0, n)
	for len(out) < n {
		t := d.rank.Draw(d.RNG)
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
