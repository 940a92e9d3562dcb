package trust

import (
	"slices"
	"time"
)

// Summary counts a report's checks by result.
type Summary struct {
	Pass    int `json:"pass"`
	Warn    int `json:"warn"`
	Fail    int `json:"fail"`
	Unknown int `json:"unknown"`
}

// Summary counts the checks.
func (r *Report) Summary() (s Summary) {
	for i := range r.Checks {
		switch r.Checks[i].Result {
		case Pass:
			s.Pass++
		case Warn:
			s.Warn++
		case Fail:
			s.Fail++
		case Unknown:
			s.Unknown++
		}
	}
	return s
}

// rank orders severities; what isn't one is the least.
func (s Severity) rank() int {
	return slices.Index([]Severity{Info, Low, Medium, High, Critical}, s)
}

// Verdict is danger once a check of high or critical severity failed, caution once another failed or one of medium or more
// warns, unknown while more than half of the critical checks are, else ok. A report without checks says nothing.
func (r *Report) Verdict() Verdict {
	if len(r.Checks) == 0 {
		return VerdictUnknown
	}
	caution := false
	critical, unknown := 0, 0
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Severity == Critical {
			critical++
			if c.Result == Unknown {
				unknown++
			}
		}
		switch {
		case c.Result == Fail && c.Severity.rank() >= High.rank():
			return Danger
		case c.Result == Fail, c.Result == Warn && c.Severity.rank() >= Medium.rank():
			caution = true
		}
	}
	switch {
	case caution:
		return Caution
	case 2*unknown > critical:
		return VerdictUnknown
	}
	return OK
}

// halves is what a failure costs, in half points of the score.
var halves = map[Severity]int{Critical: 80, High: 40, Medium: 20, Low: 6}

// Score is 100 less 40, 20, 10 and 3 for each failure of critical, high, medium and low severity, half of that for a warning,
// rounded down and not below 0. It is nil when nothing is known, and where there is no verdict: what is unknown costs nothing, so that
// a report that says least would have the best score.
func (r *Report) Score() *int {
	known, lost := false, 0
	for i := range r.Checks {
		c := &r.Checks[i]
		known = known || c.Result != Unknown
		switch c.Result {
		case Fail:
			lost += halves[c.Severity]
		case Warn:
			lost += halves[c.Severity] / 2
		case Pass, Unknown:
		}
	}
	if !known || r.Verdict() == VerdictUnknown {
		return nil
	}
	score := max(0, 200-lost) / 2
	return &score
}

// Critical reports whether a critical check failed.
func (r *Report) Critical() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Result == Fail && c.Severity == Critical })
}

// Find is the check of an id; nil where the report has none.
func (r *Report) Find(id string) *Check {
	for i := range r.Checks {
		if r.Checks[i].ID == id {
			return &r.Checks[i]
		}
	}
	return nil
}

// callers is the source of a figure that whoever asks has brought along.
const callers = "caller"

// WithCallersAge is the report with the age of the market as the caller says it, where the index doesn't know it and the
// caller's time is neither nothing nor in the future; else the report itself. The report isn't changed.
func (r *Report) WithCallersAge(pairCreatedAt, now time.Time) *Report {
	old := r.Find(PairAge)
	rule, ok := RuleOf(PairAge)
	if old == nil || !ok || old.Result != Unknown || pairCreatedAt.Unix() <= 0 || pairCreatedAt.After(now) {
		return r
	}
	c := rule.Measure(float64(int64(now.Sub(pairCreatedAt) / time.Second)))
	c.Source = callers
	out := *r
	out.Checks = slices.Clone(r.Checks)
	*out.Find(PairAge) = c
	return &out
}

// Inconclusive reports whether a critical check could not be made, so that the report says nothing against an earlier one.
func (r *Report) Inconclusive() bool {
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Severity == Critical && c.Result == Unknown {
			return true
		}
	}
	return false
}
