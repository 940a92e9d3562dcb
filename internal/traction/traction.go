// Package traction scores how sought after a token is, so that money alone can't buy the top: the formula traction-v2, which
// docs/ranking.md explains. It is pure; the caller says what time it is.
package traction

import (
	"math"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Formula is the name of the score's formula.
const Formula = "traction-v2"

// HalfLife is the time in seconds after which what happened counts half.
const HalfLife = 30 * 60

// Window is the time in seconds after which what happened is left out: seven half-lives, below 1 %.
const Window = 7 * HalfLife

// liquidityFloorUSD of the liquidity counts whoever buys, and liquidityPerBuyerUSD more for each buyer.
const liquidityFloorUSD, liquidityPerBuyerUSD = 5000, 2500

// Parts are the inputs of the score, and what is shown beside them.
type Parts struct {
	// Buyers counts independent wallets that bought more than they sold, decayed: a cluster counts by its logarithm.
	Buyers float64
	// VolumeUSD is organic volume, without same-wallet round trips: of each cluster no more than max(250, 5 % of liquidity), and than a fifth of the whole.
	VolumeUSD    float64
	LiquidityUSD float64
	// Members is the number of members who hold the token.
	Members float64
	AgeS    float64

	// NewHolders is by how much the holders grew; 0 when unknown. Like Wash and Concentration it is no part of the score, as anybody can change it: by dust.
	NewHolders float64
	// Wash is the round trips' share of the raw volume, 0 to 1.
	Wash float64
	// Concentration is how far the five largest clusters make up the organic volume before the bound of a fifth: 0 up to a half of it, 1 for all.
	Concentration float64

	// KnowsFunding is false where nobody can tell where any wallet's coins came from: then each wallet is a cluster, and the parts below are 0.
	KnowsFunding bool
	// Clusters is the number of clusters with a buyer.
	Clusters int
	// Fresh is the share of the organic volume, before its bounds by cluster, of wallets that are in clusters; ByCreator that of wallets that the
	// creator paid, which counts for nobody. Both are from 0 to 1.
	Fresh, ByCreator float64
}

// Score is traction-v2. Logarithms keep any one input from running away; buyers weigh most because independent wallets that hold
// on are the dearest thing to fake, and liquidity counts no further than they carry it. With strangers' trades a score is no lower than
// without them, so that nobody can lower another's. Age weighs mildly because the inputs decay by themselves.
func Score(p Parts) float64 {
	liquidity := min(p.LiquidityUSD, liquidityFloorUSD+liquidityPerBuyerUSD*p.Buyers)
	sum := 0.55*math.Log1p(p.Buyers/5) + 0.25*math.Log1p(p.VolumeUSD/1000) + 0.10*math.Log1p(liquidity/5000) + 0.10*math.Log1p(p.Members)
	return 100 * sum * math.Pow(2/(p.AgeS/3600+2), 0.35)
}

// Flow is one trade as far as the score sees it.
type Flow struct {
	Wallet market.Address // none where nobody is known to have traded
	Time   int64          // unix seconds
	Sell   bool
	USD    float64 // finite, not negative
	// CloseUSD is the token's price at the close of the trade's block; 0 when unknown.
	CloseUSD float64
	// Funding is where the wallet's coins came from.
	Funding market.Funding
}
