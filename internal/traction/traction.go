// Package traction scores how sought after a token is, so that money alone can't buy the top: the formula traction-v1.
// It is pure; the caller says what time it is.
package traction

import (
	"math"
	"slices"

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
	Wallet market.Address
	Time   int64 // unix seconds
	Sell   bool
	USD    float64
}

// Measure sets the parts that follow from a token's trades. LiquidityUSD must be set before.
func (p *Parts) Measure(flows []Flow, now int64) {
	type wallet struct{ buy, sell float64 }
	wallets := make(map[market.Address]*wallet)
	var order []*wallet // sums of floats hang on their order
	for _, f := range flows {
		if f.Time <= now-Window {
			continue
		}
		w := wallets[f.Wallet]
		if w == nil {
			w = &wallet{}
			wallets[f.Wallet] = w
			order = append(order, w)
		}
		weighed := f.USD * decay(now-f.Time)
		if f.Sell {
			w.sell += weighed
		} else {
			w.buy += weighed
		}
	}
	ceiling := max(250, 0.05*p.LiquidityUSD)
	var raw, round float64
	organic := make([]float64, 0, len(order))
	p.Buyers, p.VolumeUSD = 0, 0
	for _, w := range order {
		volume, back := w.buy+w.sell, 2*min(w.buy, w.sell)
		raw += volume
		round += back
		if w.buy > w.sell && back < 0.8*volume {
			// A wallet that bought long ago fades like everything else.
			p.Buyers += min(1, (w.buy-w.sell)/walletUSD)
		}
		if o := min(volume-back, ceiling); o > 0 {
			organic = append(organic, o)
		}
	}
	slices.SortFunc(organic, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	var top float64
	for i, o := range organic {
		p.VolumeUSD += o
		if i < 5 {
			top += o
		}
	}
	p.Wash, p.Concentration = 0, 0
	if raw > 0 {
		p.Wash = round / raw
	}
	if p.VolumeUSD > 0 {
		p.Concentration = max(0, (top/p.VolumeUSD-0.5)/0.5)
	}
}

// walletUSD is the decayed purchase in USD from which on a wallet counts as a whole buyer: the smallest trade that the
// platform itself takes. Below it the wallet counts in part, so that dust buys no place.
const walletUSD = 2

func decay(age int64) float64 { return math.Exp2(-float64(max(age, 0)) / HalfLife) }
