// Package view holds what the API serves from memory: the figures of tokens, made from derived rows, and the hot lists
// as snapshots that are encoded once per change. It reads the store; handlers read it.
package view

import (
	"sort"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/price"
)

// Token is a token of one chain with everything its figures follow from.
type Token struct {
	Chain string
	Token market.Token
	Pools []market.Pool // those it is the base of
	// Block is the newest indexed block of its chain; a slot on Solana.
	Block uint64
	// AsOf and FinalAt are the times (unix seconds) of the newest indexed and of the newest final block.
	AsOf, FinalAt int64
	// USD are the prices of the chain's quote assets.
	USD map[market.Address]market.QuotePrice
	// Stale is true while the chain's figures are those of a while ago.
	Stale bool
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
	// Pairs is how many pools liquidity and volume are summed over.
	Pairs int
	// Pegged is true when the price is the declared peg.
	Pegged bool
}

// Figures computes the token's figures. Only trusted pools count.
func (t *Token) Figures() Figures {
	var f Figures
	if p := t.Reference(); p != nil {
		if usd := p.Price * t.USD[p.Quote].USD; usd > 0 {
			f.Price = &usd
			if before := p.Day.ReferenceUSD; before > 0 {
				change := (usd/before - 1) * 100
				f.Change24hPct = &change
			}
		}
	}
	// A quote asset is worth what everything else is counted in, which is its peg while that stands.
	if q, ok := t.USD[t.Token.Mint]; ok && q.USD > 0 {
		f.Price, f.Pegged = &q.USD, q.Pegged
	}
	var liquidity, volume float64
	for i := range t.Pools {
		p := &t.Pools[i]
		if usd := t.USD[p.Quote].USD; p.Untrusted == market.Trusted && usd > 0 {
			f.Pairs++
			liquidity += p.Locked * usd
			volume += p.Day.VolumeUSD.Float64() / 1e9
		}
	}
	if f.Pairs > 0 {
		f.LiquidityUSD, f.VolumeUSD = &liquidity, &volume
	}
	if f.Price != nil && t.Token.HasSupply && t.Token.HasDecimals {
		fdv := price.Whole(&t.Token.Supply, t.Token.Decimals) * *f.Price
		f.FDV = &fdv
	}
	return f
}

// deepest sorts tokens with the same address by the liquidity of their trusted pools, most first. What stands still comes
// last.
func deepest(tokens []Token) {
	sort.SliceStable(tokens, func(i, j int) bool {
		a, b := tokens[i].Figures().LiquidityUSD, tokens[j].Figures().LiquidityUSD
		switch {
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
