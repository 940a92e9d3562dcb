// Package traction scores how sought after a token is, so that money alone can't buy the top: the formula traction-v1, which
// docs/ranking.md explains. It is pure; the caller says what time it is.
package traction

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// HalfLife is the time in seconds after which what happened counts half.
const HalfLife = 30 * 60

// Window is the time in seconds after which what happened is left out: seven half-lives, below 1 %.
const Window = 7 * HalfLife

// Parts are the inputs of the score.
type Parts struct {
	// Buyers counts wallets that bought more than they sold, decayed.
	Buyers float64
	// VolumeUSD is organic volume: per wallet no more than max(250, 5 % of liquidity), without same-wallet round trips.
	VolumeUSD float64
	// NewHolders is by how much the holders grew; 0 when unknown.
	NewHolders   float64
	LiquidityUSD float64
	// Members is the number of members who hold the token.
	Members float64
	AgeS    float64
	// Wash is the round trips' share of the raw volume, 0 to 1.
	Wash float64
	// Concentration is how far the five largest wallets make up the organic volume: 0 up to a half of it, 1 for all.
	Concentration float64
}

// Score is traction-v1. Logarithms keep any one input from running away; buyers weigh most because wallets that hold
// on are the dearest thing to fake; age weighs mildly because the inputs decay by themselves.
func Score(p Parts) float64 {
	quality := (1 - p.Wash) * (1 - p.Concentration)
	sum := 0.40*math.Log1p(p.Buyers/5) + 0.25*math.Log1p(p.VolumeUSD/1000) + 0.15*math.Log1p(p.NewHolders/5) +
		0.10*math.Log1p(p.LiquidityUSD/5000) + 0.10*math.Log1p(p.Members)
	return 100 * quality * sum * math.Pow(2/(p.AgeS/3600+2), 0.35)
}

// Flow is one trade as far as the score sees it.
type Flow struct {
	Wallet market.Address // none where nobody is known to have traded
	Time   int64          // unix seconds
	Sell   bool
	USD    float64 // finite, not negative
	// CloseUSD is the token's price at the close of the trade's block; 0 when unknown.
	CloseUSD float64
}
