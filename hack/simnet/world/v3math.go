package world

import (
	"math"
	"math/big"
)

// TickSpacings of the fee tiers, in hundredths of a basis point. 2500 is PancakeSwap's, 3000 Uniswap's.
var TickSpacings = map[int]int{100: 1, 500: 10, 2500: 50, 3000: 60, 10000: 200}

// MaxTick is the largest tick of Uniswap V3 (TickMath.MAX_TICK).
const MaxTick = 887272

// q96 is the scale of square root prices.
var q96 = new(big.Float).SetInt(new(big.Int).Lsh(big.NewInt(1), 96))

// SqrtPriceX96 is the square root of a price, token1 per token0 in smallest units, as Q64.96.
func SqrtPriceX96(price float64) *big.Int {
	root := new(big.Float).SetPrec(200).SetFloat64(price)
	root.Sqrt(root).Mul(root, q96)
	n, _ := root.Int(nil)
	return n
}

// PriceOf is the reverse of sqrtPriceX96.
func PriceOf(sqrtPrice *big.Int) float64 {
	root := rootOf(sqrtPrice)
	return root * root
}

// rootOf is the square root of a price whose Q64.96 form this is.
func rootOf(sqrtPrice *big.Int) float64 {
	root := new(big.Float).SetPrec(200).SetInt(sqrtPrice)
	value, _ := root.Quo(root, q96).Float64()
	return value
}

// TickOf is the tick of a price: its logarithm to the base 1.0001.
func TickOf(price float64) int { return int(math.Floor(math.Log(price) / math.Log(1.0001))) }

// PriceAtTick is the reverse of tickOf.
func PriceAtTick(tick int) float64 { return math.Pow(1.0001, float64(tick)) }

// AlignTick rounds a tick down to a multiple of the spacing, within the range of ticks.
func AlignTick(tick, spacing int) int {
	aligned := int(math.Floor(float64(tick)/float64(spacing))) * spacing
	limit := MaxTick / spacing * spacing
	return max(-limit, min(limit, aligned))
}

type v3Position struct {
	lower, upper int
	// share is the part of the pool's depth on each side that goes into the position.
	share float64
}

// v3Positions is how a pool's liquidity is spread: over all prices, so that it never runs dry, around
// the price in two widths, and waiting on either side of it.
func v3Positions(price float64, spacing int) []v3Position {
	limit := MaxTick / spacing * spacing
	at := AlignTick(TickOf(price), spacing)
	around := func(width float64) (int, int) {
		ticks := TickOf(1 + width)
		return AlignTick(at-ticks, spacing), AlignTick(at+ticks, spacing) + spacing
	}
	wideLower, wideUpper := around(0.5)
	narrowLower, narrowUpper := around(0.08)
	return []v3Position{
		{-limit, limit, 0.45},
		{wideLower, wideUpper, 0.3},
		{narrowLower, narrowUpper, 0.15},
		{narrowUpper, wideUpper, 0.05},
		{wideLower, narrowLower, 0.05},
	}
}

// LiquidityFor is how much liquidity amounts of both tokens give between two ticks at a price, all in
// smallest units (Uniswap V3 whitepaper, section 6.2).
func LiquidityFor(price float64, lower, upper int, amount0, amount1 float64) *big.Int {
	low, high := math.Pow(1.0001, float64(lower)/2), math.Pow(1.0001, float64(upper)/2)
	at := max(low, min(high, math.Sqrt(price)))
	liquidity := math.Inf(1)
	if at < high {
		liquidity = min(liquidity, amount0/(1/at-1/high))
	}
	if at > low {
		liquidity = min(liquidity, amount1/(at-low))
	}
	n, _ := big.NewFloat(liquidity).Int(nil)
	return n
}
