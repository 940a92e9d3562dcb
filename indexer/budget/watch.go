package budget

import (
	"slices"
	"time"
)

// readingsKept is how many readings a watch looks back at.
const readingsKept = 60

// Watch keeps how a chain and its endpoints stood over a while, and what follows from it.
type Watch struct {
	over      time.Duration
	blockTime time.Duration
	readings  []Reading // the oldest first

	ration    Ration
	behind    Behind
	allowance Allowance
}

// NewWatch looks back so far, at a chain with this block time.
func NewWatch(over, blockTime time.Duration) *Watch {
	return &Watch{over: over, blockTime: blockTime}
}

// Take takes one more reading in, and decides anew.
func (w *Watch) Take(r Reading) {
	if n := len(w.readings); n > 0 {
		switch last := w.readings[n-1].At; {
		case r.At.Before(last):
			w.readings = nil // the clock was set back
		case r.At.Sub(last) < w.over/readingsKept:
			return
		}
	}
	w.readings = append(w.readings, r)
	// The newest reading that is at least so old stays: the others are held against it.
	for len(w.readings) > 1 && r.At.Sub(w.readings[1].At) >= w.over {
		w.readings = w.readings[1:]
	}
	w.decide()
}

func (w *Watch) decide() {
	first, last := &w.readings[0], &w.readings[len(w.readings)-1]
	var all Spent
	for _, s := range last.Usage {
		all.Calls, all.Units = all.Calls+s.Calls, all.Units+s.Units
	}
	mean := 0.0
	if all.Calls > 0 {
		mean = float64(all.Units) / float64(all.Calls)
	}
	w.allowance = Allow(last.Endpoints, mean)

	var rates [purposes]float64
	// The time before the start counts as time without requests. So a past that is soon read doesn't pass for the need of a whole day.
	seconds := max(w.over, last.At.Sub(first.At)).Seconds()
	for p := range purposes {
		rates[p] = w.spent(first, last, p) / seconds
	}
	midnight := last.At.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	w.ration.Decide(w.allowance.Left, midnight.Sub(last.At).Seconds(), rates)
	if m, ok := w.measure(); ok {
		w.behind.Decide(&m, &w.allowance, w.blockTime)
	}
}

// spent is what was spent for a purpose between two readings, in the allowance's unit.
func (w *Watch) spent(from, to *Reading, p Purpose) float64 {
	if w.allowance.InUnits {
		return float64(to.Usage[p].Units - from.Usage[p].Units)
	}
	return float64(to.Usage[p].Calls - from.Usage[p].Calls)
}

// measure compares the last reading with the first one that has blocks.
func (w *Watch) measure() (m Measured, ok bool) {
	from := slices.IndexFunc(w.readings, func(r Reading) bool { return r.Head > 0 && r.Indexed > 0 })
	if from < 0 || from == len(w.readings)-1 {
		return m, false
	}
	first, last := &w.readings[from], &w.readings[len(w.readings)-1]
	took := last.At.Sub(first.At)
	m = Measured{
		Seconds: took.Seconds(), Whole: took >= w.over, Made: grown(first.Head, last.Head), Indexed: grown(first.Indexed, last.Indexed),
		ForBlocks: w.spent(first, last, Blocks), Lag: last.Lag, LeastLag: last.Lag,
	}
	for p := range purposes {
		m.Calls += float64(last.Usage[p].Calls - first.Usage[p].Calls)
	}
	for i := from; i < len(w.readings); i++ {
		m.LeastLag = min(m.LeastLag, w.readings[i].Lag)
	}
	return m, took > 0
}

// grown is by how much a number grew; 0 where it fell, as by a reorg.
func grown(from, to uint64) float64 {
	if to < from {
		return 0
	}
	return float64(to - from)
}

// GivesUp reports whether a purpose is given up.
func (w *Watch) GivesUp(p Purpose) bool { return w.ration.GivesUp(p) }

// GivenUp are the purposes that are given up, the first one first.
func (w *Watch) GivenUp() []Purpose { return w.ration.GivenUp() }

// Behind says what would suffice where the endpoints allow too little; else it is empty. See Behind.Text.
func (w *Watch) Behind() string { return w.behind.Text() }

// NeededPerDay is how much of the allowance, in its unit, the blocks of a day take; 0 before it was measured.
func (w *Watch) NeededPerDay() float64 { return w.behind.NeededPerDay() }

// Allowance is what the endpoints allow.
func (w *Watch) Allowance() Allowance { return w.allowance }
