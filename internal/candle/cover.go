package candle

import "github.com/boardwalkhq/boardwalk/internal/market"

// Cover cuts [from, to) into spans of stored candles, of the widest that fit and at most maxWidth, so that few rows tell
// the sum over a window. Both ends are whole minutes.
func Cover(from, to int64, maxWidth Width) []market.CandleSpan {
	var out []market.CandleSpan
	for from < to {
		best := market.StoredIntervals[0]
		for _, width := range market.StoredIntervals {
			if w := int64(width); w <= int64(maxWidth) && from%w == 0 && from+w <= to {
				best = width
			}
		}
		end := from + int64(best)
		if n := len(out); n > 0 && out[n-1].Interval == best && out[n-1].To == from {
			out[n-1].To = end
		} else {
			out = append(out, market.CandleSpan{Interval: best, From: from, To: end})
		}
		from = end
	}
	return out
}
