package poolstate

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Some pools have more ticks than the calls for one pool can read: busy ones with a narrow tick spacing, or one that a stranger gave many. So the bitmap words around
// the price are read first. If the other words and all marked ticks fit into the remaining calls, they are read, too. If not, only the ticks nearest to the price
// are read, as many as fit into the calls. Liquidity outside of these ticks isn't counted.

const (
	// nearCalls is in how many calls the words around the price are asked for, and singleNear where each call has one question alone.
	nearCalls, singleNear = 3, 100
	// leastWindow is by how many ticks a window has to reach beyond the price in either direction: as far as the depth is looked at, and as far again
	// before the price has moved so near to the window's end that the pool is asked anew.
	leastWindow = 400
	// mostSpacing is above the widest spacing of ticks that a pool can have (Uniswap V4's TickMath.MAX_TICK_SPACING).
	mostSpacing = 1 << 15
)

// wordRange are words of a pool's ticks that are marked, from the first to the last.
type wordRange struct{ first, last int }

func (r wordRange) count() int { return r.last - r.first + 1 }

func (a *poolAsking) mostCalls() int {
	if a.single {
		return singleCalls
	}
	return stateCalls
}

// askNear asks for the words around the price, or for all where they are no more.
func (a *poolAsking) askNear() {
	words, _ := a.reader.atOnce()
	most := nearCalls * words
	if a.single {
		most = singleNear
	}
	if a.near = a.all; a.all.count() > most {
		spacing := int(a.pool.TickSpacing)
		at := wordOf(floorTo(int(a.state.Tick), spacing) / spacing)
		first := max(a.all.first, min(at-most/2, a.all.last-most+1))
		a.near = wordRange{first, first + most - 1}
	}
	a.words = a.reader.together(a.questionsOf(a.near))
}

func (a *poolAsking) questionsOf(r wordRange) (questions []string) {
	for w := r.first; w <= r.last; w++ {
		questions = append(questions, a.reader.word(w))
	}
	return questions
}

// beyond are the words below and above those that were asked for first.
func (a *poolAsking) beyond() (below, above wordRange) {
	return wordRange{a.all.first, a.near.first - 1}, wordRange{a.near.last + 1, a.all.last}
}

// askRest takes the words around the price in, and asks for the others where they and the ticks that are known by now fit into the calls.
func (a *poolAsking) askRest() []*Call {
	if a.reader == nil {
		return nil
	}
	if a.failed = !a.mark(a.words, a.near); a.failed || a.near == a.all {
		return nil
	}
	words, ticks := a.reader.atOnce()
	rest := a.all.count() - a.near.count()
	if len(a.head)+len(a.words)+callsFor(rest, words)+callsFor(len(a.marked), ticks) > a.mostCalls() {
		return nil
	}
	below, above := a.beyond()
	a.rest = a.reader.together(slices.Concat(a.questionsOf(below), a.questionsOf(above)))
	return a.rest
}

// mark adds the ticks that words mark.
func (a *poolAsking) mark(calls []*Call, ranges ...wordRange) (ok bool) {
	questions := 0
	for _, r := range ranges {
		questions += r.count()
	}
	words, ok := a.reader.apart(calls, questions)
	if !ok {
		return false
	}
	for _, r := range ranges {
		for w := r.first; w <= r.last; w++ {
			if len(words[0]) < 32 {
				return false
			}
			for _, bit := range decode.SetBits(words[0][:32]) {
				a.marked = append(a.marked, int32((w<<8+bit)*int(a.pool.TickSpacing)))
			}
			words = words[1:]
		}
	}
	return true
}

// askTicks asks for the ticks that are marked, or for those of a window.
func (a *poolAsking) askTicks() []*Call {
	if a.reader == nil {
		return nil
	}
	read := a.near
	if len(a.rest) > 0 {
		below, above := a.beyond()
		if a.failed = !a.mark(a.rest, below, above); a.failed {
			return nil
		}
		slices.Sort(a.marked)
		read = a.all
	}
	_, atOnce := a.reader.atOnce()
	room := (a.mostCalls() - len(a.head) - len(a.words) - len(a.rest)) * atOnce
	if a.ticks = a.marked; read != a.all || len(a.marked) > room {
		if a.failed = !a.narrow(read, room); a.failed {
			return nil
		}
	}
	var questions []string
	for _, tick := range a.ticks {
		questions = append(questions, a.reader.tick(tick))
	}
	a.nets = a.reader.together(questions)
	return a.nets
}

// narrow chooses the window, and its ticks, for which there is room, out of words that were read. Its ends are multiples of the spacing. It is false
// where the window would be too narrow.
func (a *poolAsking) narrow(read wordRange, room int) bool {
	at, spacing := int(a.state.Tick), int(a.pool.TickSpacing)
	if spacing > mostSpacing {
		return false
	}
	lower, upper := read.first<<8*spacing, (read.last+1)<<8*spacing
	if read.first == a.all.first {
		lower -= spacing // below which no tick can be
	}
	if len(a.marked) > room {
		distance := market.NearestTicks(a.marked, a.state.Tick, room)
		lower, upper = max(lower, floorTo(at-distance, spacing)), min(upper, -floorTo(-at-distance, spacing))
	}
	a.ticks = slices.DeleteFunc(slices.Clone(a.marked), func(tick int32) bool { return int(tick) <= lower || int(tick) >= upper })
	a.window = market.TickWindow{Lower: int32(lower), Upper: int32(upper)}
	least := max(leastWindow, market.DepthTicks+spacing)
	return lower <= max(at-least, market.MinTick) && upper >= min(at+least, market.MaxTick) && a.window.Has(a.state.Tick)
}

// callsFor is how many calls so many questions take.
func callsFor(questions, atOnce int) int { return (questions + atOnce - 1) / atOnce }

// floorTo is the highest multiple of the spacing that isn't above a tick.
func floorTo(tick, spacing int) int {
	rest := tick % spacing
	if rest < 0 {
		rest += spacing
	}
	return tick - rest
}
