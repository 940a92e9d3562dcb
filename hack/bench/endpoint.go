package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
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

// servedOf leaves out operations that the server has no route for, and names them.
func servedOf(ctx context.Context, address string, w *world, list []endpoint) (there []endpoint, missing []string, err error) {
	for _, e := range list {
		tokens := make([]int, e.tokens)
		for i := range tokens {
			tokens[i] = i
		}
		a, err := fetch(ctx, address, e.target(w, tokens))
		switch {
		case err != nil:
			return nil, nil, err
		case a.notRouted():
			missing = append(missing, e.operation)
		case a.status != http.StatusOK:
			return nil, nil, fmt.Errorf("%s answers %d: %s", e.target(w, tokens), a.status, a.body)
		default:
			there = append(there, e)
		}
	}
	if len(there) == 0 {
		return nil, nil, fmt.Errorf("the server has none of the operations: %s", strings.Join(missing, ", "))
	}
	return there, missing, nil
}

// checkedTokens is how many tokens' series are compared before anything is measured.
const checkedTokens = 30

// seriesOf fetches the bars with trades of some tokens, for operations that answer with a series.
func seriesOf(ctx context.Context, address string, w *world, e *endpoint, tokens []int) ([][]contract.Candle, error) {
	out := make([][]contract.Candle, len(tokens))
	for i, t := range tokens {
		a, err := fetch(ctx, address, e.target(w, []int{t}))
		if err != nil {
			return nil, err
		}
		var series struct{ Candles []contract.Candle }
		if err := json.Unmarshal(a.body, &series); err != nil || a.status != http.StatusOK {
			return nil, fmt.Errorf("%s answers %d: %s", e.target(w, []int{t}), a.status, a.body)
		}
		for _, c := range series.Candles {
			if !c.Fill {
				out[i] = append(out[i], c)
			}
		}
	}
	return out, nil
}

// sameBars fails unless a served series tells the same as the rows in the database.
func sameBars(got []contract.Candle, want []candle.Bar) error {
	if len(got) != len(want) {
		return fmt.Errorf("the answer has %d bars with trades, the database %d", len(got), len(want))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }
	for i, b := range want {
		g := got[i]
		if g.T != b.Open || int64(g.N) != b.Trades || !near(g.O, b.OHLC.Open) || !near(g.H, b.High) || !near(g.L, b.Low) ||
			!near(g.C, b.Close) || !near(g.V, b.VolumeUSD) {
			return fmt.Errorf("bar %d of the answer is %+v, of the database %+v", i, g, b)
		}
	}
	return nil
}
