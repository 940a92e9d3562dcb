package figures

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

const (
	// tokenTTL is how long what is known of one token is used again: about the pace of the fastest blocks.
	tokenTTL = 250 * time.Millisecond
	// cachedTokens bounds the tokens that are remembered. Those of the last while answer in place of the
	// database while it is away.
	cachedTokens = 16384

	// ReadTime bounds what is read of the database for one request.
	ReadTime = 5 * time.Second
	// LookTime is the time limit for reading one chain's changes since the last commit, so that a database that hangs is
	// noticed.
	LookTime = 5 * time.Second
)

// Reader reads tokens for requests, and remembers them for a moment.
type Reader struct {
	store *store.Store
	now   func() time.Time
	// away reports whether the database is known to be away.
	away   func() bool
	recent *recent.Cache[market.Address, recent.Dated[[]Token]]
	flight singleflight.Group
}

// NewReader makes a reader. away reports whether the database is known to be away: then what was read last is the answer.
func NewReader(st *store.Store, now func() time.Time, away func() bool) *Reader {
	return &Reader{store: st, now: now, away: away, recent: recent.New[market.Address, recent.Dated[[]Token]](cachedTokens)}
}

// Tokens lists the tokens at an address on all chains, those that aren't declared any more among them: those with a launch
// record first, then by liquidity, deepest first. Answers are shared and must not be changed. While the database can't be read, what was read last stands in for it, and is stale.
func (r *Reader) Tokens(ctx context.Context, mint market.Address) ([]Token, error) {
	if hit, ok := r.remembered(mint, tokenTTL); ok {
		return hit, nil
	}
	out, err, _ := r.flight.Do(string(mint.Bytes()), func() (any, error) {
		// The first caller's going away must not take the answer from the others.
		found, err := r.readInto(context.WithoutCancel(ctx), []market.Address{mint})
		return found[mint], err
	})
	if err != nil {
		return nil, err
	}
	tokens, ok := out.([]Token)
	if !ok {
		return nil, fmt.Errorf("figures: a token lookup gave a %T", out)
	}
	return tokens, nil
}

// TokensAt is Tokens for several addresses, which are read together.
func (r *Reader) TokensAt(ctx context.Context, mints []market.Address) (map[market.Address][]Token, error) {
	return r.TokensWithin(ctx, mints, tokenTTL)
}

// TokensWithin is TokensAt for who is content with what was read up to an age ago.
func (r *Reader) TokensWithin(ctx context.Context, mints []market.Address, age time.Duration) (map[market.Address][]Token, error) {
	out := make(map[market.Address][]Token, len(mints))
	var missing []market.Address
	for _, mint := range mints {
		if hit, ok := r.remembered(mint, age); ok {
			out[mint] = hit
		} else {
			missing = append(missing, mint)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	found, err := r.readInto(ctx, missing)
	if err != nil {
		return nil, err
	}
	maps.Copy(out, found)
	return out, nil
}

// remembered are the tokens at an address as they were read less than an age ago; while the database is known to be away, as they were
// read last, and stale.
func (r *Reader) remembered(mint market.Address, age time.Duration) ([]Token, bool) {
	hit, ok := r.recent.Get(mint)
	if !ok || r.now().Sub(hit.At) < age {
		return hit.Value, ok
	}
	if !r.away() {
		return nil, false
	}
	return stale(hit.Value), true
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
func (r *Reader) readInto(ctx context.Context, mints []market.Address) (map[market.Address][]Token, error) {
	ctx, cancel := context.WithTimeout(ctx, ReadTime)
	defer cancel()
	found, err := Read(ctx, r.store, r.now(), mints)
	if err == nil {
		for mint, tokens := range found {
			r.recent.Put(mint, recent.Dated[[]Token]{Value: tokens, At: r.now()})
		}
		return found, nil
	}
	last := make(map[market.Address][]Token, len(mints))
	for _, mint := range mints {
		hit, ok := r.recent.Get(mint)
		if !ok {
			return nil, err
		}
		last[mint] = stale(hit.Value)
	}
	return last, nil
}

// Read reads tokens with their chains' state, and then their pools, which can only be newer. now says which chains are stale.
func Read(ctx context.Context, st *store.Store, now time.Time, mints []market.Address) (map[market.Address][]Token, error) {
	found, err := st.Tokens.Now(ctx, mints)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	pools, err := st.Pools.Now(ctx, mints)
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
		out[found[i].Mint] = append(out[found[i].Mint], newToken(&found[i], byToken[k], now))
	}
	for mint := range out {
		foremost(out[mint])
	}
	return out, nil
}

// As is the token, of which nothing has changed, as of a later state of its chain.
func (t Token) As(of *store.ChainStatus, now time.Time) Token {
	t.Block, t.AsOf, t.FinalAt = of.Last.Number, of.Last.Time, of.Head.FinalTime
	t.Stale = store.IsStale(of.State, of.Last.Time, of.Head, now)
	return t
}

// newToken is a token with its pools.
func newToken(t *store.TokenNow, pools []*store.PoolNow, now time.Time) Token {
	out := Token{
		Chain: t.Chain, Token: t.Token, Block: t.Block, Changed: t.Changed,
		AsOf: t.Time, FinalAt: t.FinalTime, Stale: store.IsStale(t.State, t.Time, t.Head, now), Launched: t.Launched, GraduatedAt: t.GraduatedAt,
		AwaitsMetadata: t.AwaitsMetadata,
	}
	if t.Metadata != nil {
		out.Metadata = NewMetadata(t.Metadata)
	}
	out.Pools = slices.Grow(out.Pools, len(pools))
	for _, p := range pools {
		out.Pools = append(out.Pools, p.Pool)
		out.USD.Set(p.QuotePrice)
		out.Changed = out.Changed.Latest(p.Changed)
	}
	if t.Quote != nil {
		out.USD.Set(*t.Quote)
	}
	return out
}
