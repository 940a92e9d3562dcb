// Package pairs finds tokens' pools by a name, a ticker or an address, and measures what happened in them lately.
package pairs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/search"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// foundPairs bounds the pairs of one answer, pairsOfToken the pairs in it of one token that the query doesn't name by its address.
	foundPairs, pairsOfToken = 30, 3
	// searchTTL is how long what was found is the answer again.
	searchTTL = time.Second
	// cachedSearches bounds the answers remembered that long.
	cachedSearches = 256
	// takesApart is the least time between two looks at what was committed. A new token can be found that much later; what is told of a token that is found is read then.
	takesApart = 500 * time.Millisecond
	// walkEvery is the pace at which the index reads a chain's listings anew: a liquidity in USD moves with the price of its
	// quote, which changes no row of the token.
	walkEvery = 15 * time.Minute
	// walkPause is the shortest time between two such readings where nobody tells what changed.
	walkPause = time.Minute
	// walkTime bounds reading all listings of a chain.
	walkTime = 5 * time.Minute
	// doubted bounds the tokens that wait to be looked at again.
	doubted = 1000
	// listingsAtOnce bounds what the index takes in at once, so that searches go on.
	listingsAtOnce = 500
)

// Found is what a search found.
type Found struct {
	Pairs []Pair
	// AsOf is the time of the newest block in it; unix seconds, 0 when nothing was found.
	AsOf int64
}

// Finder finds pairs. It keeps the search index in step with the store, and remembers recent answers.
type Finder struct {
	store  *store.Store
	looks  *store.Store // for what goes on beside the requests
	tokens *figures.Reader
	now    func() time.Time
	log    *slog.Logger

	index  *search.Index // written by Run alone
	loaded atomic.Bool
	chains map[string]searchedChain

	// doubts are tokens that were found and aren't there: a reorg took them back, or they are too new to be read.
	doubtMu sync.Mutex
	doubts  map[string]map[market.Address]bool

	flight  singleflight.Group
	mu      sync.Mutex
	answers map[string]cachedSearch
}

// searchedChain is how far a chain is in the index.
type searchedChain struct {
	seen       int64 // its commit number
	generation int64 // of its index
	walked     time.Time
	// isUntold says that nobody tells what changed after the commit that was seen.
	isUntold bool
}

var errNotLoaded = errors.New("pairs: the search index is being filled")

type cachedSearch struct {
	found *Found
	in    *declared.Catalog
	at    time.Time
}

// Options are a finder's dependencies.
type Options struct {
	// Store is for requests, Looks for what goes on beside them.
	Store, Looks *store.Store
	Tokens       *figures.Reader
	Now          func() time.Time
	Log          *slog.Logger
}

// NewFinder makes a finder whose index Run fills.
func NewFinder(o Options) *Finder {
	return &Finder{
		store: o.Store, looks: o.Looks, tokens: o.Tokens, now: o.Now, log: o.Log,
		index: search.New(), chains: make(map[string]searchedChain), doubts: make(map[string]map[market.Address]bool),
		answers: make(map[string]cachedSearch),
	}
}

// Loaded reports whether the index has been filled.
func (f *Finder) Loaded() bool { return f.loaded.Load() }

// Run takes in what is committed until ctx ends. statuses are those of the declared chains at the last look; nil while the database is away.
// A chain that fails is tried again with the next commit; the others go on.
func (f *Finder) Run(ctx context.Context, committed <-chan struct{}, statuses func() map[string]store.ChainStatus) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-committed:
		}
		now := statuses()
		if now == nil {
			continue
		}
		err := f.takeAll(ctx, now)
		if err != nil && ctx.Err() == nil && !failing {
			f.log.WarnContext(ctx, "search index not refreshed", "err", err.Error())
		}
		if failing = err != nil; !failing {
			f.loaded.Store(true)
		}
		wait.For(ctx, takesApart)
	}
}

func (f *Finder) takeAll(ctx context.Context, statuses map[string]store.ChainStatus) error {
	for id := range f.chains {
		if _, there := statuses[id]; !there {
			f.index.RemoveChain(id)
			delete(f.chains, id)
		}
	}
	var errs []error
	for id, status := range statuses {
		c := f.chains[id]
		if status.CommitNo < c.seen || status.Generation != c.generation { // another database, an older state of it, or another index of the chain
			c = searchedChain{generation: status.Generation}
			f.chains[id] = c
		}
		if since := f.now().Sub(c.walked); c.seen == 0 || since >= walkEvery || c.isUntold && since >= walkPause {
			c = searchedChain{generation: status.Generation, walked: f.now()}
		}
		if c.seen != status.CommitNo && !c.isUntold {
			told, err := f.take(ctx, id, c.seen)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if c.isUntold = !told; told {
				c.seen = status.CommitNo
			}
			f.chains[id] = c
		}
		errs = append(errs, f.settle(ctx, id))
	}
	return errors.Join(errs...)
}

// take reads the listings of a chain that changed since a commit; told is false where nobody tells which.
func (f *Finder) take(ctx context.Context, chain string, seen int64) (told bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	if seen == 0 {
		return true, f.walk(ctx, chain)
	}
	changed, err := f.looks.ChangedSince(ctx, map[string]int64{chain: seen})
	if err != nil || changed[chain] == nil {
		return false, err
	}
	return true, f.takeSome(ctx, chain, changed[chain].Tokens)
}

// walk reads all listings of a chain.
func (f *Finder) walk(ctx context.Context, chain string) error {
	batch := make([]search.Token, 0, listingsAtOnce)
	for l, err := range f.looks.Tokens.Listings(ctx, chain) {
		if err != nil {
			return err
		}
		batch = append(batch, indexed(chain, l))
		if len(batch) == cap(batch) {
			f.index.Put(batch)
			batch = batch[:0]
		}
	}
	f.index.Put(batch)
	return nil
}

// takeSome reads the listings of some tokens of a chain. Those that are listed no more, or gone, leave the index.
func (f *Finder) takeSome(ctx context.Context, chain string, mints []market.Address) error {
	for some := range slices.Chunk(mints, listingsAtOnce) {
		gone := make(map[market.Address]bool, len(some))
		for _, mint := range some {
			gone[mint] = true
		}
		batch := make([]search.Token, 0, len(gone))
		for l, err := range f.looks.Tokens.ListingsOf(ctx, chain, slices.Collect(maps.Keys(gone))) {
			if err != nil {
				return err
			}
			if l.Listed {
				delete(gone, l.Mint)
				batch = append(batch, indexed(chain, l))
			}
		}
		for mint := range gone {
			f.index.Remove(chain, mint)
		}
		f.index.Put(batch)
	}
	return nil
}

func indexed(chain string, l store.Listing) search.Token {
	return search.Token{Chain: chain, Mint: l.Mint, Name: l.Name, Symbol: l.Symbol, LiquidityUSD: l.LiquidityUSD}
}

// doubt has a token looked at again.
func (f *Finder) doubt(chain string, mint market.Address) {
	f.doubtMu.Lock()
	defer f.doubtMu.Unlock()
	if f.doubts[chain] == nil {
		f.doubts[chain] = make(map[market.Address]bool)
	}
	if len(f.doubts[chain]) < doubted {
		f.doubts[chain][mint] = true
	}
}

// settle looks at the doubted tokens of a chain: what is gone leaves the index.
func (f *Finder) settle(ctx context.Context, chain string) error {
	f.doubtMu.Lock()
	gone := f.doubts[chain]
	delete(f.doubts, chain)
	f.doubtMu.Unlock()
	if len(gone) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	return f.takeSome(ctx, chain, slices.Collect(maps.Keys(gone)))
}

// tickers bounds how many tokens with one ticker are looked at. A ticker that so many tokens have names none of them.
const tickers = 16

// Ticker finds the token that has a ticker; ok is false unless exactly one token on the chains of a catalogue has it.
func (f *Finder) Ticker(in *declared.Catalog, ticker string) (t store.TokenAt, ok bool) {
	if !f.loaded.Load() {
		return t, false
	}
	found := f.index.Tickers(ticker, tickers)
	if len(found) == tickers {
		return t, false
	}
	found = slices.DeleteFunc(found, func(h search.Hit) bool { return in.Chain(h.Chain) == nil })
	if len(found) != 1 {
		return t, false
	}
	return store.TokenAt{Chain: found[0].Chain, Mint: found[0].Mint}, true
}

// ChainsOf lists the chains of a catalogue on which a token has an address.
func (f *Finder) ChainsOf(in *declared.Catalog, mint market.Address) (chains []string) {
	if !f.loaded.Load() {
		return nil
	}
	for _, h := range f.index.At(mint, search.MaxHits) {
		if in.Chain(h.Chain) != nil {
			chains = append(chains, h.Chain)
		}
	}
	return chains
}

// Search finds pairs by a name, a ticker or an address on the chains of a catalogue. Answers are shared and must not be changed.
func (f *Finder) Search(ctx context.Context, in *declared.Catalog, query string) (*Found, error) {
	if !f.loaded.Load() {
		return nil, errNotLoaded
	}
	f.mu.Lock()
	hit, ok := f.answers[query]
	f.mu.Unlock()
	if ok && hit.in == in && f.now().Sub(hit.at) < searchTTL {
		return hit.found, nil
	}
	out, err, _ := f.flight.Do(fmt.Sprintf("%p %s", in, query), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figures.ReadTime)
		defer cancel()
		return f.find(ctx, in, query)
	})
	if err != nil {
		return nil, err
	}
	found, _ := out.(*Found)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.answers) >= cachedSearches {
		clear(f.answers)
	}
	f.answers[query] = cachedSearch{found, in, f.now()}
	return found, nil
}

func (f *Finder) find(ctx context.Context, in *declared.Catalog, query string) (*Found, error) {
	only, query := chainBefore(in, query)
	hits := f.hits(in, only, query)
	pairs, err := f.pairsOf(ctx, hits)
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 || hits[0].Match != search.Address {
		byID, err := f.pairsAt(ctx, in, only, query)
		if err != nil {
			return nil, err
		}
		pairs = append(byID, pairs...)
	}
	pairs = pairs[:min(len(pairs), foundPairs)]
	found := &Found{Pairs: pairs}
	for i := range pairs {
		found.AsOf = max(found.AsOf, pairs[i].Token.Changed.At)
	}
	return found, f.measure(ctx, in, pairs)
}

// chainBefore takes off the chain that stands before an address, as the API writes it: only what is there is meant then.
func chainBefore(in *declared.Catalog, query string) (only, rest string) {
	chain, address, ok := strings.Cut(strings.TrimSpace(query), ":")
	if _, err := market.ParseAddress(address); !ok || err != nil || in.Chain(chain) == nil {
		return "", query
	}
	return chain, address
}

// hits are the tokens found on the chains of a catalogue, or on one of them. Those of a chain that isn't declared any more leave the index one by
// one; while some are found, more is looked for.
func (f *Finder) hits(in *declared.Catalog, only, query string) []search.Hit {
	gone := func(h search.Hit) bool { return in.Chain(h.Chain) == nil || (only != "" && h.Chain != only) }
	hits := f.index.Search(query, foundPairs)
	if slices.ContainsFunc(hits, gone) {
		hits = slices.DeleteFunc(f.index.Search(query, search.MaxHits), gone)
	}
	return hits[:min(len(hits), foundPairs)]
}

// pairsOf lists the pairs of tokens in their order, the most liquid of each first.
func (f *Finder) pairsOf(ctx context.Context, hits []search.Hit) ([]Pair, error) {
	mints := make([]market.Address, 0, len(hits))
	for _, h := range hits {
		mints = append(mints, h.Mint)
	}
	tokens, err := f.tokens.TokensAt(ctx, mints)
	if err != nil {
		return nil, err
	}
	var out []Pair
	for _, h := range hits {
		i := slices.IndexFunc(tokens[h.Mint], func(t figures.Token) bool { return t.Chain == h.Chain })
		var list []Pair
		if i >= 0 {
			list = pricedPools(&tokens[h.Mint][i])
		}
		if len(list) == 0 {
			f.doubt(h.Chain, h.Mint)
			continue
		}
		if h.Match != search.Address {
			list = list[:min(len(list), pairsOfToken)]
		}
		out = append(out, list...)
	}
	return out[:min(len(out), foundPairs)], nil
}

// pairsAt lists the pairs whose own address or id the query is, on all chains or on one.
func (f *Finder) pairsAt(ctx context.Context, in *declared.Catalog, only, query string) ([]Pair, error) {
	id, err := market.ParseAddress(query)
	if err != nil {
		return nil, nil //nolint:nilerr // it is no address: nothing is at it
	}
	pools, err := f.store.Pools.ByID(ctx, in.ChainIDs(func(c *declared.Chain) bool { return only == "" || c.ID == only }), id)
	if err != nil {
		return nil, err
	}
	var out []Pair
	for i := range pools {
		tokens, err := f.tokens.Tokens(ctx, pools[i].Base)
		if err != nil {
			return nil, err
		}
		for _, t := range tokens {
			if t.Chain != pools[i].Chain {
				continue
			}
			for _, p := range pricedPools(&t) {
				if p.Pool.ID == id {
					out = append(out, p)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Pair) int { return cmp.Compare(b.LiquidityUSD, a.LiquidityUSD) })
	return out, nil
}
