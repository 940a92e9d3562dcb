package view

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/internal/candle"
	"github.com/boardwalkhq/boardwalk/internal/catalog"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// tokenTTL is how long what is known of one token is used again.
	tokenTTL = time.Second
	// cachedTokens bounds the tokens remembered that long.
	cachedTokens = 4096
	// staleAfter is the age of a chain's newest indexed block, in seconds, from which on its figures are stale.
	staleAfter = 120
)

// View reads the store for the handlers: what is hot from memory, the rest through a short cache.
type View struct {
	store   *store.Store
	catalog *catalog.Catalog
	now     func() time.Time
	log     *slog.Logger

	mu     sync.Mutex
	tokens map[market.Address]cached[[]Token]
	flight singleflight.Group

	live liveList
}

type cached[V any] struct {
	v  V
	at time.Time
}

// New makes a view. Run keeps its snapshots fresh.
func New(st *store.Store, c *catalog.Catalog, now func() time.Time, log *slog.Logger) *View {
	return &View{
		store: st, catalog: c, now: now, log: log, tokens: make(map[market.Address]cached[[]Token]), live: newLiveList(),
	}
}

// Tokens lists the tokens at an address on all chains, the one with the deepest liquidity first. Answers are shared
// and must not be changed.
func (v *View) Tokens(ctx context.Context, mint market.Address) ([]Token, error) {
	v.mu.Lock()
	hit, ok := v.tokens[mint]
	v.mu.Unlock()
	if ok && v.now().Sub(hit.at) < tokenTTL {
		return hit.v, nil
	}
	out, err, _ := v.flight.Do(mint.String(), func() (any, error) {
		// The first caller's going away must not take the answer from the others.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		tokens, err := v.readTokens(ctx, mint)
		if err != nil {
			return nil, err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if len(v.tokens) >= cachedTokens {
			clear(v.tokens)
		}
		v.tokens[mint] = cached[[]Token]{tokens, v.now()}
		return tokens, nil
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

func (v *View) readTokens(ctx context.Context, mint market.Address) ([]Token, error) {
	found, err := v.store.TokensByMint(ctx, mint)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	chains, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	var out []Token
	for _, f := range found {
		c, ok := chains[f.Chain]
		if !ok {
			continue // its chain is not declared any more
		}
		pools, err := v.store.PoolsOf(ctx, f.Chain, mint)
		if err != nil {
			return nil, err
		}
		usd, err := v.quotes(ctx, f.Chain)
		if err != nil {
			return nil, err
		}
		out = append(out, Token{
			Chain: f.Chain, Token: f.Token, Pools: pools, USD: usd, Native: c.native,
			AsOf: c.status.Last.Time, FinalAt: c.status.Head.FinalTime, Stale: v.stale(c.status),
		})
	}
	deepest(out)
	return out, nil
}

type chain struct {
	status store.ChainStatus
	native market.Address
}

// chains are the declared chains that have been indexed.
func (v *View) chains(ctx context.Context) (map[string]chain, error) {
	statuses, err := v.store.Chains(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string]chain, len(statuses))
	for _, s := range statuses {
		c, ok := v.catalog.Chain(s.ID)
		if !ok || s.Last.Hash.IsZero() {
			continue
		}
		native, err := market.ParseEVMAddress(c.Native.Wrapped)
		if err != nil {
			return nil, fmt.Errorf("chain %s: native.wrapped: %w", s.ID, err)
		}
		out[s.ID] = chain{s, native}
	}
	return out, nil
}

func (v *View) quotes(ctx context.Context, chain string) (map[market.Address]market.QuotePrice, error) {
	list, err := v.store.Quotes(ctx, chain)
	if err != nil {
		return nil, err
	}
	out := make(map[market.Address]market.QuotePrice, len(list))
	for _, q := range list {
		out[q.Asset] = q
	}
	return out, nil
}

// stale reports whether a chain's figures are those of a while ago: its indexer or its nodes stand still.
func (v *View) stale(s store.ChainStatus) bool {
	return s.State == store.ChainHalted || v.now().Unix()-s.Last.Time > staleAfter
}

// ChainHealth is how a declared chain is doing.
type ChainHealth struct {
	ID string
	// Indexed is false while nothing of the chain has been committed; then there is no lag.
	Indexed bool
	// LagS is the time of the newest announced block less that of the newest indexed one, in seconds.
	LagS int64
	// AsOf is the time of the newest indexed block; unix seconds.
	AsOf int64
	// Silent is true when the chain is halted or its nodes have announced nothing for a while.
	Silent bool
}

// Health lists the chains that are not suspended, in the order of the catalogue.
func (v *View) Health(ctx context.Context) ([]ChainHealth, error) {
	statuses, err := v.store.Chains(ctx)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]store.ChainStatus, len(statuses))
	for _, s := range statuses {
		byID[s.ID] = s
	}
	var out []ChainHealth
	for _, c := range v.catalog.Chains {
		if c.Suspended {
			continue
		}
		h := ChainHealth{ID: c.ID}
		if s, ok := byID[c.ID]; ok && !s.Last.Hash.IsZero() {
			h = ChainHealth{
				ID: c.ID, Indexed: true, AsOf: s.Last.Time, LagS: max(s.Head.Time-s.Last.Time, 0), Silent: v.stale(s),
			}
		}
		out = append(out, h)
	}
	return out, nil
}

// maxTrades bounds the trades that bars below a minute are made of.
const maxTrades = 100_000

// Bars makes a pool's bars of width w in [from, to), and gives the close before from (0 if there is none).
func (v *View) Bars(ctx context.Context, chain string, pool market.Address, w candle.Width, from, to int64,
	in candle.Currency,
) (bars []candle.Bar, before float64, err error) {
	interval := w.Stored()
	if interval == 0 {
		trades, err := v.store.Trades(ctx, chain, pool, from, to, maxTrades)
		if err != nil {
			return nil, 0, err
		}
		bars = candle.FromTrades(trades, w, in)
		interval = market.StoredIntervals[0]
	} else {
		stored, err := v.store.Candles(ctx, chain, pool, interval, from, to)
		if err != nil {
			return nil, 0, err
		}
		bars = candle.Fold(stored, w, in)
	}
	// The minute that from lies in may have closed after it: the one before has not.
	last, ok, err := v.store.CandleBefore(ctx, chain, pool, interval, candle.Width(interval).Open(from))
	if err != nil || !ok {
		return bars, 0, err
	}
	if in == candle.Native {
		return bars, last.Native.Close, nil
	}
	return bars, last.USD.Close, nil
}

// FirstCandle is the open of a pool's oldest stored day; ok is false when it has none.
func (v *View) FirstCandle(ctx context.Context, chain string, pool market.Address) (open int64, ok bool, err error) {
	return v.store.FirstCandle(ctx, chain, pool, market.StoredIntervals[len(market.StoredIntervals)-1])
}
