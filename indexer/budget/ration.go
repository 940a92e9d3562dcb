package budget

// resume is the share of what is left of the day that everything has to fit into with what was given up, until that is taken up again: what is
// given up and taken up in turn would be asked for as if it never was.
const resume = 0.9

// statesAhead is for how many seconds PoolStates is taken to go on as it does: most pools are asked about once, so that the minutes in which an index meets them say nothing of
// the rest of the day. All other purposes are taken to go on until its end.
const statesAhead = 3600

// Ration decides which purposes are given up. The zero value gives up none.
type Ration struct {
	up int // how many are given up, the last ones
	// rates are what each purpose takes a second; of one that is given up what it took before.
	rates [purposes]float64
	// seconds is how many remained at the last decision; 0 before the first.
	seconds float64
}

// Decide holds what each purpose takes a second against what is left of the day, of which so many seconds remain. It keeps as many purposes as
// last until then, the most worthy ones.
func (r *Ration) Decide(left, seconds float64, rates [purposes]float64) {
	kept := int(purposes) - r.up
	copy(r.rates[:kept], rates[:kept])
	if r.GivesUp(PoolStates) && r.seconds > 0 {
		r.rates[PoolStates] *= fade(r.seconds - seconds)
	}
	r.seconds = seconds
	need, fits := r.rates[Blocks]*seconds, 1
	for p := Blocks + 1; p < purposes; p++ {
		ahead := seconds
		if p == PoolStates {
			ahead = min(ahead, statesAhead)
		}
		need += r.rates[p] * ahead
		within := left
		if int(p) >= kept {
			within *= resume
		}
		if within <= 0 || need > within {
			break
		}
		fits++
	}
	r.up = int(purposes) - fits
}

// fade is what is left of the rate of PoolStates after so many seconds in which they were given up. The pools that an index met at once are a part of a day, and of no other:
// a negative time is that of a new day.
func fade(passed float64) float64 {
	if passed < 0 {
		return 0
	}
	return max(0, 1-passed/statesAhead)
}

// GivesUp reports whether a purpose is given up.
func (r *Ration) GivesUp(p Purpose) bool { return int(p) >= int(purposes)-r.up }

// GivenUp are the purposes that are given up, the first one first.
func (r *Ration) GivenUp() (list []Purpose) {
	for p := purposes - 1; r.GivesUp(p) && p > Blocks; p-- {
		list = append(list, p)
	}
	return list
}
