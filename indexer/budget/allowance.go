package budget

import "math"

// usualMean is how many compute units a call counts before any was measured.
const usualMean = 40

// Allowance is what a chain's endpoints allow together, in one unit: compute units where every endpoint that has a cap has one of units, else
// calls. It is infinite where one of them allows any number.
type Allowance struct {
	InUnits bool
	// PerDay is what a day allows, Left what is left of today's at the endpoints that answer.
	PerDay, Left float64
	// PerSecond is how many calls the endpoints that answer allow in a second.
	PerSecond float64
}

// Allow adds up what endpoints allow. An endpoint of another chain allows nothing. Where none answers all of them count. The mean is how many
// units a call counts; 0 where that isn't known.
func Allow(list []Endpoint, mean float64) Allowance {
	if mean == 0 {
		mean = usualMean
	}
	answering := 0
	out := Allowance{InUnits: true}
	for i := range list {
		e := &list[i]
		if e.CallsPerDay > 0 && e.UnitsPerDay == 0 {
			out.InUnits = false
		}
		if !e.Wrong && !e.Silent {
			answering++
		}
	}
	for i := range list {
		e := &list[i]
		if e.Wrong {
			continue
		}
		out.PerDay += e.cap(e.CallsPerDay, e.UnitsPerDay, mean, out.InUnits)
		if e.Silent && answering > 0 {
			continue
		}
		out.Left += e.cap(max(e.CallsPerDay-e.Calls, 0), max(e.UnitsPerDay-e.Units, 0), mean, out.InUnits)
		if e.PerSecond == 0 {
			out.PerSecond = math.Inf(1)
		}
		out.PerSecond += e.PerSecond
	}
	return out
}

// cap is the lesser of so many calls and so many units, as far as the endpoint has a cap of either, in units or in calls.
func (e *Endpoint) cap(calls, units int64, mean float64, inUnits bool) float64 {
	out := math.Inf(1)
	if e.CallsPerDay > 0 {
		out = min(out, float64(calls))
	}
	if e.UnitsPerDay > 0 {
		out = min(out, float64(units)/mean)
	}
	if !inUnits {
		return out
	}
	out *= mean
	if e.UnitsPerDay > 0 {
		out = min(out, float64(units)) // the division may have lost some
	}
	return out
}
