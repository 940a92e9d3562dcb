// Package board has the rules of the launch board that are no score: the quality bar of the Running sort, how a card leaves
// it, which launches are clones, and where a token is bought. It is pure; docs/ranking.md explains it.
package board

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Gate is the quality bar. A token passes at the very value of each bound.
type Gate struct {
	// LiquidityUSDMin holds for chains that LiquidityUSDMinByChain doesn't name.
	LiquidityUSDMin        float64
	LiquidityUSDMinByChain map[string]float64
	Volume24hUSDMin        float64
	AgeSMin, AgeSMax       int64
	HoldersMin             int64
	ProgressPctMin         float64
	Buyers1hMin            int64
}

// DefaultGate is the bar that nobody configured: gate-v1.
func DefaultGate() Gate {
	return Gate{
		LiquidityUSDMin:        5_000,
		LiquidityUSDMinByChain: map[string]float64{"ethereum": 25_000},
		Volume24hUSDMin:        10_000,
		AgeSMin:                5 * 60,
		AgeSMax:                7 * 24 * 60 * 60,
		HoldersMin:             50,
		ProgressPctMin:         20,
		Buyers1hMin:            15,
	}
}

// defaultVersion names the values of DefaultGate.
const defaultVersion = "gate-v1"

// Version names the bar's values: gate-v1 for the default ones, else gate-v1+ and eight hexadecimal digits of their hash. Bars
// that judge alike have the same.
func (g *Gate) Version() string {
	usual := DefaultGate()
	if g.text() == usual.text() {
		return defaultVersion
	}
	sum := sha256.Sum256([]byte(g.text()))
	return defaultVersion + "+" + hex.EncodeToString(sum[:4])
}

// text has every value that judges, in one order.
func (g *Gate) text() string {
	var b strings.Builder
	number := func(v float64) { b.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + "\n") }
	for _, v := range []float64{g.LiquidityUSDMin, g.Volume24hUSDMin, g.ProgressPctMin} {
		number(v)
	}
	for _, v := range []int64{g.AgeSMin, g.AgeSMax, g.HoldersMin, g.Buyers1hMin} {
		b.WriteString(strconv.FormatInt(v, 10) + "\n")
	}
	for _, chain := range slices.Sorted(maps.Keys(g.LiquidityUSDMinByChain)) {
		if v := g.LiquidityUSDMinByChain[chain]; v != g.LiquidityUSDMin {
			b.WriteString(chain + " ")
			number(v)
		}
	}
	return b.String()
}

var chainID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// Check says which value makes no sense and what is allowed, by the names that the API has for them.
func (g *Gate) Check() error {
	for chain := range g.LiquidityUSDMinByChain {
		if !chainID.MatchString(chain) {
			return fmt.Errorf("gate: liquidity_usd_min_by_chain: %.80q is no chain id: it must match %s", chain, chainID)
		}
	}
	for _, f := range g.amounts() {
		if math.IsNaN(f.value) || f.value < 0 || f.value > f.most {
			return fmt.Errorf("gate: %s is %v: it must be from 0 to %v", f.name, f.value, f.most)
		}
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{"age_s_min", g.AgeSMin}, {"holders_min", g.HoldersMin}, {"curve.buyers_1h_min", g.Buyers1hMin}} {
		if f.value < 0 {
			return fmt.Errorf("gate: %s is %d: it must be 0 or more", f.name, f.value)
		}
	}
	if g.AgeSMax <= g.AgeSMin {
		return fmt.Errorf("gate: age_s_max is %d: it must be more than age_s_min, which is %d", g.AgeSMax, g.AgeSMin)
	}
	return nil
}

type amount struct {
	name        string
	value, most float64
}

// amounts are the bounds that are no whole numbers. A trillion USD is more than any pool has, and keeps typing errors out.
func (g *Gate) amounts() []amount {
	const most = 1e12
	out := []amount{
		{"liquidity_usd_min", g.LiquidityUSDMin, most},
		{"volume_24h_usd_min", g.Volume24hUSDMin, most},
		{"curve.progress_pct_min", g.ProgressPctMin, 100},
	}
	for _, chain := range slices.Sorted(maps.Keys(g.LiquidityUSDMinByChain)) {
		out = append(out, amount{"liquidity_usd_min_by_chain." + chain, g.LiquidityUSDMinByChain[chain], most})
	}
	return out
}

// Candidate is a token as far as the bar looks at it. What is nil is unknown, and fails.
type Candidate struct {
	Chain string
	// OnCurve says that the token is on a bonding curve still, full or not.
	OnCurve                    bool
	LiquidityUSD, Volume24hUSD float64
	AgeS                       int64
	Holders                    *int64
	// ProgressPct (0 to 100) and Buyers1h, distinct wallets, are looked at on a curve alone.
	ProgressPct *float64
	Buyers1h    *int64
	// FullS is how long the curve has been full without a pool, in seconds; 0 where it isn't.
	FullS int64
	// TrustCritical says that a trust check of critical severity failed.
	TrustCritical bool
}

// fullS is for how many seconds a full curve may wait for its pool: meanwhile nobody can trade the token. Venues move it within minutes.
const fullS = 10 * 60

// Fails says what the token fails. A pool's token needs liquidity, volume, age and holders; one on a curve needs progress and
// buyers in place of liquidity.
func (g *Gate) Fails(c Candidate) (out Fails) {
	for i, ok := range [failings]bool{
		c.OnCurve || c.LiquidityUSD >= g.LiquidityMin(c.Chain),
		c.Volume24hUSD >= g.Volume24hUSDMin,
		c.AgeS >= g.AgeSMin,
		c.AgeS <= g.AgeSMax,
		c.Holders != nil && *c.Holders >= g.HoldersMin,
		!c.OnCurve || c.ProgressPct != nil && *c.ProgressPct >= g.ProgressPctMin,
		!c.OnCurve || c.Buyers1h != nil && *c.Buyers1h >= g.Buyers1hMin,
		!c.OnCurve || c.FullS <= fullS,
		!c.TrustCritical,
	} {
		if !ok {
			out |= 1 << i
		}
	}
	return out
}

// LiquidityMin is the least liquidity on a chain, in USD.
func (g *Gate) LiquidityMin(chain string) float64 {
	if v, ok := g.LiquidityUSDMinByChain[chain]; ok {
		return v
	}
	return g.LiquidityUSDMin
}
