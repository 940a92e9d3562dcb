package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	// spare is the share of what is allowed that may be needed until a chain that couldn't keep up can again, and of what would suffice that is
	// needed.
	spare = 0.9
	// retell is by what share a need has to change until another number is told.
	retell = 0.1
	// alike is how many times as many blocks as were made may be indexed in a time that says what a block takes: in one that has more the past is
	// read, whose blocks take less. Where more were made than so many times those that were indexed, what was spent wasn't spent for blocks.
	alike = 1.5
	// busy is the share of the calls that a second allows which is asked for by an index that its endpoints' pace holds up.
	busy = 0.7
	// lagBlocks and leastLag are how many block times, and how long at least, an index is behind that doesn't keep up.
	lagBlocks, leastLag = 10, 30 * time.Second
	// secondsOfDay is how many seconds a day has.
	secondsOfDay = 86400
)

// Measured is what a chain did over a while.
type Measured struct {
	// Seconds is how long it took. Whole says that it is as long as is looked back; a shorter one counts where the day is spent.
	Seconds float64
	Whole   bool
	// Made and Indexed are how many blocks the chain made, and how many were indexed.
	Made, Indexed float64
	// ForBlocks is what was spent for blocks, in the allowance's unit; Calls are those for everything.
	ForBlocks, Calls float64
	// Lag is how far the index was behind in the end, LeastLag the least in the whole time.
	Lag, LeastLag time.Duration
}

// Behind decides whether a chain can't keep up with what its endpoints allow. The zero value can.
type Behind struct {
	day, second need
}

// need remembers how much of what is allowed was needed, and what was said of it.
type need struct {
	behind bool
	told   float64 // the need that the text is about
	text   string
	last   float64 // the need as it was measured last; 0 before
}

// Decide takes one more measurement in. The block time is the declared one.
func (b *Behind) Decide(m *Measured, a *Allowance, blockTime time.Duration) {
	b.decideDay(m, a)
	b.decideSecond(m, a, blockTime)
}

// Text says what a chain takes that can't keep up, what its endpoints allow, and what would suffice; it is empty where it can. Its figures stay
// while they are about right.
func (b *Behind) Text() string {
	if b.day.behind {
		return b.day.text
	}
	return b.second.text
}

// NeededPerDay is how much of the allowance, in its unit, the blocks of a day take by the last measurement; 0 before the first.
func (b *Behind) NeededPerDay() float64 { return b.day.last }

// decideDay holds what the blocks of a day take against what the endpoints allow in a day.
func (b *Behind) decideDay(m *Measured, a *Allowance) {
	if math.IsInf(a.PerDay, 1) {
		b.day = need{}
		return
	}
	if !m.Whole && a.Left > 0 || m.Made <= 0 || m.Indexed > alike*m.Made || m.Indexed*alike < m.Made {
		return
	}
	each, made := m.ForBlocks/m.Indexed, m.Made/m.Seconds*secondsOfDay
	what := "calls"
	allowed := "requests"
	if a.InUnits {
		what, allowed = "compute units", "compute units"
	}
	b.day.decide(each*made, a.PerDay, each*made > a.PerDay, each*made <= a.PerDay*spare, func(enough float64) string {
		return fmt.Sprintf("the chain makes %s blocks a day at %s %s each; the endpoints allow %s %s a day: %s would suffice",
			figure(made), figure(each), what, figure(a.PerDay), allowed, figure(enough))
	})
}

// decideSecond looks whether the calls that a second allows hold the index up: it is behind, falls further behind, and asks for all that it may.
func (b *Behind) decideSecond(m *Measured, a *Allowance, blockTime time.Duration) {
	if math.IsInf(a.PerSecond, 1) {
		b.second = need{}
		return
	}
	if !m.Whole {
		return
	}
	tooFar := max(lagBlocks*blockTime, leastLag)
	held := m.Indexed > 0 && m.Indexed < m.Made && m.LeastLag > tooFar && m.Calls >= busy*a.PerSecond*m.Seconds
	each, made := 0.0, m.Made/m.Seconds
	if m.Indexed > 0 {
		each = m.Calls / m.Indexed
	}
	if !held && m.Lag > tooFar/2 {
		return // it is told until the index is near the head
	}
	b.second.decide(each*made, a.PerSecond, held, !held, func(enough float64) string {
		return fmt.Sprintf("the chain makes %s blocks a second at %s calls each; the endpoints allow %s requests a second: %s would suffice",
			figure(made), figure(each), figure(a.PerSecond), figure(enough))
	})
}

// decide takes a need in that was measured. Begins and ends say whether it is too much now, and whether it is so no more.
func (n *need) decide(measured, allowed float64, begins, ends bool, text func(enough float64) string) {
	n.last = measured
	switch {
	case begins && (!n.behind || math.Abs(measured-n.told) > retell*n.told):
		*n = need{behind: true, told: measured, text: text(max(enough(measured), enough(allowed*spare))), last: measured}
	case ends:
		*n = need{last: measured}
	}
}

// enough is what would suffice for a need: a whole number, rounded up to three digits.
func enough(need float64) float64 {
	need /= spare
	unit := math.Pow(10, max(math.Floor(math.Log10(max(need, 1)))-2, 0))
	const rounding = 1e-12 // of the division
	return math.Ceil(need/unit*(1-rounding)) * unit
}

// figure is a number as people read it: whole above 100, and with commas, else with one digit.
func figure(v float64) string {
	if v < 100 {
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
