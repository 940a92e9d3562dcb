package httpapi

import (
	"math"
	"slices"
	"strconv"
)

// What follows rounds figures to what cards show of them, so that cards that look alike are one card.

func minute(unix int64) int64 { return unix - unix%60 }

// drawnAge is an age in its two largest units.
func drawnAge(s int64) int64 {
	switch {
	case s < 60:
		return s
	case s < 24*60*60:
		return s - s%60
	case s < 10*24*60*60:
		return s - s%(60*60)
	default:
		return s - s%(24*60*60)
	}
}

// drawnPrice has four significant digits, or cents where these say more.
func drawnPrice(v *float64) *float64 {
	return rounding(v, func(size float64) string {
		switch {
		case size < 100:
			return strconv.FormatFloat(size, 'e', 3, 64)
		case size < 9999.995:
			return strconv.FormatFloat(size, 'f', 2, 64)
		case size < 999_999.5:
			return strconv.FormatFloat(size, 'f', 0, 64)
		default:
			return strconv.FormatFloat(size, 'e', 2, 64)
		}
	})
}

// drawnUSD has three significant digits, or cents where these say more. What is below a cent is drawn as that.
func drawnUSD(v *float64) *float64 {
	return rounding(v, func(size float64) string {
		switch {
		case size > 0 && size < 0.005:
			return "0.001"
		case size < 99.995:
			return strconv.FormatFloat(size, 'f', 2, 64)
		default:
			return strconv.FormatFloat(size, 'e', 2, 64)
		}
	})
}

// drawnProfit is drawnUSD, but that it is written out below 100,000.
func drawnProfit(v *float64) *float64 {
	if v != nil && math.Abs(*v) >= 1000 && math.Abs(*v) < 99_999.5 {
		return new(math.RoundToEven(*v))
	}
	return drawnUSD(v)
}

// drawnPct has two decimals below 1, one below 100 and then none, but that what is below 100 isn't made 100.
func drawnPct(v *float64) *float64 {
	return rounding(v, func(size float64) string {
		switch {
		case size < 0.995:
			return strconv.FormatFloat(size, 'f', 2, 64)
		case size < 99.95:
			return strconv.FormatFloat(size, 'f', 1, 64)
		case size < 100:
			return "99.9"
		case size < 99_999.5:
			return strconv.FormatFloat(size, 'f', 0, 64)
		default:
			return strconv.FormatFloat(size, 'e', 2, 64)
		}
	})
}

// rounding rounds a size by how it is written and keeps its sign. What is no finite number is unknown.
func rounding(v *float64, write func(size float64) string) *float64 {
	if v = number(v); v == nil {
		return nil
	}
	n, err := strconv.ParseFloat(write(math.Abs(*v)), 64)
	if err != nil || math.IsInf(n, 0) {
		return nil
	}
	if *v < 0 && n != 0 {
		n = -n
	}
	return &n
}

// steps is how many heights of a line can be told apart on a card, at most.
const steps = 256

// shape rounds the points of a line to a power of ten below what is seen of their range.
func shape(points []float64) []float64 {
	if len(points) == 0 {
		return points
	}
	low, high := slices.Min(points), slices.Max(points)
	digits := 4 - int(math.Ceil(math.Log10(max(math.Abs(high), math.Abs(low), math.SmallestNonzeroFloat64))))
	if high > low {
		digits = int(math.Ceil(math.Log10(steps / (high - low))))
	}
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = roundedTo(p, digits)
	}
	return out
}

// roundedTo rounds to a number of decimals, which may be below zero.
func roundedTo(v float64, decimals int) float64 {
	text := strconv.FormatFloat(v, 'f', min(max(decimals, 0), 300), 64)
	if decimals < 0 {
		unit := math.Pow10(-decimals)
		text = strconv.FormatFloat(math.RoundToEven(v/unit)*unit, 'g', digits, 64)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || n == 0 {
		return 0
	}
	return n
}
