// Package figures reads tokens with all the inputs of their figures, and computes the figures in USD: price,
// liquidity and volume.
package figures

import (
	"sort"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Stamp is the block in which something last changed.
type Stamp = store.Stamp

// Token is a token of one chain with everything its figures follow from.
type Token struct {
	Chain string
	Token market.Token
	Pools []market.Pool // those it is the base of
	// Launched is true of what was launched at a declared venue of its chain.
	Launched bool
	// Metadata is nil while none was fetched. AwaitsMetadata says of a token that wasn't launched that it has some which is still to be fetched.
	Metadata       *Metadata
	AwaitsMetadata bool
	// GraduatedAt is when it moved from its curve to a pool; unix seconds, 0 for what never did.
	GraduatedAt int64
	// Block is the newest indexed block of its chain; a slot on Solana.
	Block uint64
	// Changed is the newest block in which an input of its figures changed: the token, its pools, the prices of their
	// quotes, its launch.
	Changed Stamp
	// AsOf and FinalAt are the times (unix seconds) of the newest indexed and of the newest final block, whether it changed in them or not.
	AsOf, FinalAt int64
	// USD are the prices of the chain's quote assets.
	USD Prices
	// Stale is true while the chain's figures are those of a while ago.
	Stale bool
}

// Metadata is what a token's own description says; a text is empty where it says nothing.
type Metadata struct{ ImageURL, Website, X, Telegram string }

// NewMetadata takes what is shown of a description.
func NewMetadata(m *store.TokenMetadata) *Metadata {
	return &Metadata{ImageURL: m.ImageURL, Website: m.Website, X: m.X, Telegram: m.Telegram}
}

// Reference is the pool that prices the token; nil when none does.
func (t *Token) Reference() *market.Pool {
	for i := range t.Pools {
		if t.Pools[i].ID == t.Token.Pool {
			return &t.Pools[i]
		}
	}
	return nil
}

// Figures are a token's figures in USD; nil is unknown.
type Figures struct {
	Price, Change24hPct, LiquidityUSD, VolumeUSD, FDV *float64
	// Pairs is how many of the pools that liquidity and volume are summed over hold something.
	Pairs int
	// Pegged is true when the price is the declared peg.
	Pegged bool
	// OnCurve is true when the price is that of a bonding curve, OnCurvesAlone when all liquidity is a curve's.
	OnCurve, OnCurvesAlone bool
	// SupplyAwaited says that the supply is unknown and still asked for.
	SupplyAwaited bool
}

// Figures computes the token's figures. Only trusted pools count.
func (t *Token) Figures() Figures {
	f := NewFacts(t)
	return f.Figures(t.Token.Mint, t.USD, t.AsOf)
}

// foremost sorts tokens with the same address: those with a launch record first, then by the liquidity of their trusted
// pools, most first. Of the others, stale ones come last.
func foremost(tokens []Token) {
	sort.SliceStable(tokens, func(i, j int) bool {
		a, b := tokens[i].Figures().LiquidityUSD, tokens[j].Figures().LiquidityUSD
		switch {
		case tokens[i].Launched != tokens[j].Launched:
			return tokens[i].Launched
		case tokens[i].Stale != tokens[j].Stale:
			return tokens[j].Stale
		case a == nil:
			return false
		case b == nil:
			return true
		default:
			return *a > *b
		}
	})
}
