package figure

import (
	"math"
	"slices"
	"strconv"
)

// The functions below round figures to the digits that are written: figures that are written alike become equal, and are still
// written alike. So data that look alike are equal, and have one key.

// none is what figures below zero are rounded to where there are none.
const none = -1

// RoundPrice rounds to what Price writes.
func RoundPrice(usd float64) float64 {
	switch {
	case usd < 0:
		return none
	case usd == 0:
		return 0
	case usd < leastPrice:
		return leastPrice / 10
	}
	if _, exponent := scientific(usd, 4); exponent < 2 {
		return significant(usd, 4)
	}
	if cents := rounded(usd, 2); cents < 10_000 {
		return cents
	}
	if whole := math.RoundToEven(usd); whole < 1_000_000 {
		return whole
	}
	return roundShort(usd)
}

// RoundUSD rounds to what USD writes.
func RoundUSD(usd float64) float64 {
	if usd < 0 {
		return none
	}
	return roundAmount(usd)
}

// RoundProfit rounds to what Profit writes.
func RoundProfit(usd float64) float64 {
	size := math.Abs(usd)
	if size < leastUSD {
		return roundAmount(size) // written without its sign
	}
	if whole := math.RoundToEven(size); size >= 1000 && whole < mostPlain {
		return math.Copysign(whole, usd)
	}
	r := roundAmount(size)
	if r == 1000 { // $1K, while 1000 itself is written out
		r = 999.9
	}
	return math.Copysign(r, usd)
}

// RoundPercent rounds to what Percent and Move write.
func RoundPercent(pct float64) float64 {
	size := math.Abs(pct)
	switch {
	case rounded(size, 2) < 1:
		size = rounded(size, 2)
	case rounded(size, 1) < 100:
		size = rounded(size, 1)
	case size < 100:
		size = 99.9
	case math.RoundToEven(size) < mostPlain:
		size = math.RoundToEven(size)
	case size < mostPercent:
		size = roundShort(size)
	default:
		size = significant(size, 2)
	}
	if size == 0 {
		return 0 // and not -0
	}
	return math.Copysign(size, pct)
}

// RoundProgress rounds down to what Progress writes.
func RoundProgress(pct float64) float64 { return math.Floor(pct*10) / 10 }

// RoundCount rounds to what Count writes.
func RoundCount(n int) int {
	switch {
	case n < 0:
		return none
	case n < mostPlain:
		return n
	default:
		return int(roundShort(float64(n)))
	}
}

// RoundAge rounds down to what Age writes.
func RoundAge(seconds int64) int64 {
	unit := int64(1)
	switch {
	case seconds < 0 || seconds >= mostDays*day:
		return none
	case seconds >= 10*day:
		unit = day
	case seconds >= day:
		unit = hour
	case seconds >= minute:
		unit = minute
	}
	return seconds - seconds%unit
}

const (
	heights   = 256    // of a line that can be told apart in a drawing, at most
	leastSpan = 1e-300 // of a line's points: lower ones are flat
)

// RoundLine rounds the points of a line to a power of ten below what is seen of their range.
func RoundLine(points []float64) []float64 {
	if len(points) == 0 {
		return points
	}
	low, high := slices.Min(points), slices.Max(points)
	decimals := 4 - int(math.Ceil(math.Log10(max(math.Abs(high), math.Abs(low), math.SmallestNonzeroFloat64))))
	if high > low {
		span := min(max(high-low, leastSpan), math.MaxFloat64)
		decimals = int(math.Ceil(math.Log10(heights / span)))
	}
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = roundPoint(p, decimals)
	}
	return out
}

// roundPoint rounds to a number of decimals, which may be below zero.
func roundPoint(v float64, decimals int) float64 {
	text := strconv.FormatFloat(v, 'f', min(max(decimals, 0), 300), 64)
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		text = strconv.FormatFloat(math.RoundToEven(v/unit)*unit, 'g', 15, 64)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || n == 0 {
		return 0
	}
	return n
}

// roundAmount rounds to what amount writes.
func roundAmount(size float64) float64 {
	switch {
	case size == 0:
		return 0
	case size < leastUSD:
		return leastUSD / 5
	}
	if cents := rounded(size, 2); cents < 100 {
		return cents
	}
	return roundShort(size)
}

// roundShort rounds to what short writes.
func roundShort(size float64) float64 {
	if size >= mostUSD {
		return mostUSD
	}
	return significant(size, 3)
}

// significant rounds a size to a number of significant digits.
func significant(size float64, digits int) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(size, 'e', digits-1, 64), 64)
	if err != nil {
		return math.MaxFloat64 // rounded up beyond what there is
	}
	return f
}
