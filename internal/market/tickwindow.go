package market

import "slices"

// The ticks of a pool are from MinTick to MaxTick (Uniswap V3's TickMath).
const (
	MinTick = -887272
	MaxTick = 887272
)

// DepthTicks is no less than by how many ticks the price moves by a fall or a rise of 2 %, wherever within its tick it is: these are 202.03.
const DepthTicks = 204

// TickWindow is the part [Lower, Upper) of a pool's ticks that its map has, where it doesn't have all. The zero value says that it has all. What
// lies outside counts for nothing: at Lower the map begins with the liquidity that is active there, and at Upper it ends with as much.
type TickWindow struct{ Lower, Upper int32 }

// IsWhole reports whether all ticks are there.
func (w TickWindow) IsWhole() bool { return w == TickWindow{} }

// Has reports whether a price at the tick is within the window.
func (w TickWindow) Has(tick int32) bool { return w.IsWhole() || w.Lower <= tick && tick < w.Upper }

// HasDepth reports whether all that a move of 2 % from the tick meets is within the window. While it is, price and depth are as exact as with all ticks.
func (w TickWindow) HasDepth(tick int32) bool { return w.reaches(tick, DepthTicks) }

// HasRoom reports whether the price may still move by some 1 % from the tick before the window has no depth any more.
func (w TickWindow) HasRoom(tick int32) bool { return w.reaches(tick, DepthTicks+96) }

// reaches reports whether the window extends at least a number of ticks below and above a tick, or as far as a pool's ticks go.
func (w TickWindow) reaches(tick, ticks int32) bool {
	return w.IsWhole() || w.Has(tick) && (w.Lower <= MinTick || tick-w.Lower >= ticks) && (w.Upper >= MaxTick || w.Upper-tick >= ticks)
}

// Clip is the part of [lower, upper) that lies within the window. There is none where the first isn't below the second.
func (w TickWindow) Clip(lower, upper int32) (from, to int32) {
	if w.IsWhole() {
		return lower, upper
	}
	return max(lower, w.Lower), min(upper, w.Upper)
}

// NearestTicks is the distance from a tick within which at most so many of the ticks lie, which are sorted: the nearest others are exactly that far.
// There have to be more of them.
func NearestTicks(ticks []int32, tick int32, most int) (distance int) {
	above, _ := slices.BinarySearch(ticks, tick)
	below := above - 1
	for range most + 1 {
		switch {
		case above == len(ticks) || below >= 0 && int(tick)-int(ticks[below]) <= int(ticks[above])-int(tick):
			distance = int(tick) - int(ticks[below])
			below--
		default:
			distance = int(ticks[above]) - int(tick)
			above++
		}
	}
	return distance
}

// Narrow keeps at most so many of a window's ticks, those nearest to one, and the two that close the window around them.
func (m TickMap) Narrow(w TickWindow, tick int32, most int) (TickMap, TickWindow) {
	ticks := make([]int32, len(m))
	for i, t := range m {
		ticks[i] = t.Tick
	}
	if !w.IsWhole() {
		tick = max(w.Lower, min(tick, w.Upper-1))
	}
	distance := int32(NearestTicks(ticks, tick, most))
	var narrow TickWindow
	narrow.Lower, narrow.Upper = w.Clip(tick-distance, tick+distance)
	out := make(TickMap, 0, most+2)
	var lower, upper SignedAmount
	for _, t := range m {
		switch {
		case t.Tick <= narrow.Lower:
			lower = lower.Add(t.Net)
		case t.Tick >= narrow.Upper:
			upper = upper.Add(t.Net)
		}
	}
	out = out.appendNet(narrow.Lower, lower)
	for _, t := range m {
		if t.Tick > narrow.Lower && t.Tick < narrow.Upper {
			out = append(out, t)
		}
	}
	return out.appendNet(narrow.Upper, upper), narrow
}

func (m TickMap) appendNet(tick int32, net SignedAmount) TickMap {
	if net.IsZero() {
		return m
	}
	return append(m, TickNet{tick, net})
}

// Close is the map of a window with all ticks between its ends, given the price's tick and the liquidity that is active there. It is false where the
// liquidity would be below nothing at some price within the window, or more than a pool can have.
func (m TickMap) Close(w TickWindow, tick int32, liquidity Amount) (closed TickMap, ok bool) {
	if !w.Has(tick) {
		return nil, false
	}
	lower, upper := SignedAmount{Abs: liquidity}, SignedAmount{Abs: liquidity}
	possible := func(active SignedAmount) bool { return !active.Neg && active.Abs.BitLen() <= 8*netBytes }
	ok = possible(lower)
	for _, t := range slices.Backward(m) {
		if t.Tick <= tick {
			lower = lower.Add(t.Net.Negate())
			ok = ok && possible(lower)
		}
	}
	for _, t := range m {
		if t.Tick > tick {
			upper = upper.Add(t.Net)
			ok = ok && possible(upper)
		}
	}
	closed = append(make(TickMap, 0, len(m)+2).appendNet(w.Lower, lower), m...)
	return closed.appendNet(w.Upper, upper.Negate()), ok
}

// Fits reports whether a map's ticks, in their order, and the price's tick lie within the window.
func (w TickWindow) Fits(m TickMap, tick int32) bool {
	return w.IsWhole() || w.Lower < w.Upper && w.Has(tick) && (len(m) == 0 || m[0].Tick >= w.Lower && m[len(m)-1].Tick <= w.Upper)
}

// AddsUp reports whether the ticks up to the current one add up to the liquidity, and all of them to nothing: so they do in every pool of which all ticks
// are known (Uniswap V3's whitepaper, 6.3).
func (m TickMap) AddsUp(tick int32, liquidity Amount) bool {
	var active, all SignedAmount
	for _, t := range m {
		all = all.Add(t.Net)
		if t.Tick <= tick {
			active = all
		}
	}
	return all.IsZero() && active == SignedAmount{Abs: liquidity}
}
