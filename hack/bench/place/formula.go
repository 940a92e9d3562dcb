package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/traction"
)

// formula is a way to score a launch: the product's, or one that the product had before.
type formula struct {
	name string
	// score is nil for the product's.
	score func(p traction.Parts, tape *traction.Tape, now int64) float64
}

var formulas = []formula{{traction.Formula, nil}, {"traction-v1", scoreV1}}

// of is the score of a launch at a time; unix seconds. The tape is nil without a trade within its window.
func (f *formula) of(p traction.Parts, tape *traction.Tape, now int64) float64 {
	if f.score == nil {
		return traction.Score(p)
	}
	return f.score(p, tape, now)
}

// scoreV1 is traction-v1: each wallet counts by itself, and what all wallets trade to and fro, and how much of the volume the five largest have, lower the score.
func scoreV1(p traction.Parts, tape *traction.Tape, now int64) float64 {
	var buyers, raw, round, organic float64
	var volumes []float64
	if tape != nil {
		for buy, sell := range tape.Wallets(now) {
			volume, back := buy+sell, 2*min(buy, sell)
			raw, round = raw+volume, round+back
			if buy > sell && back < 0.8*volume {
				buyers += min(1, (buy-sell)/2)
			}
			volumes = append(volumes, min(volume-back, max(250, 0.05*p.LiquidityUSD)))
		}
	}
	slices.SortFunc(volumes, func(a, b float64) int { return cmp.Compare(b, a) })
	var largest float64
	for i, v := range volumes {
		if organic += v; i < 5 {
			largest += v
		}
	}
	quality := 1.0
	if raw > 0 {
		quality -= round / raw
	}
	if organic > 0 {
		quality *= 1 - min(1, max(0, 2*largest/organic-1))
	}
	sum := 0.40*math.Log1p(buyers/5) + 0.25*math.Log1p(organic/1000) + 0.15*math.Log1p(p.NewHolders/5) +
		0.10*math.Log1p(p.LiquidityUSD/5000) + 0.10*math.Log1p(p.Members)
	return 100 * quality * sum * math.Pow(2/(p.AgeS/3600+2), 0.35)
}
