package evm

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// units is what a call counts of a plan that counts compute units, by its method. Where an endpoint's own aren't declared they are those of one
// provider (alchemy.com/docs/reference/compute-unit-costs), which docs/costs.md repeats.
type units map[string]int64

var usualUnits = units{"eth_call": 26, "eth_getLogs": 60, chainconfig.OtherMethods: 20}

// of is what calls of the methods count together.
func (u units) of(methods ...string) (sum int64) {
	for _, m := range methods {
		n, ok := u[m]
		if !ok {
			n, ok = usualUnits[m]
		}
		if !ok {
			n, ok = u[chainconfig.OtherMethods]
		}
		if !ok {
			n = usualUnits[chainconfig.OtherMethods]
		}
		sum += n
	}
	return sum
}

// budgetError means that what an endpoint allows in a day is spent, or that a request asks for more than is left.
type budgetError struct{ what string }

func (e budgetError) Error() string {
	return "the endpoint's " + e.what + " per day are spent; they begin anew at midnight UTC"
}

// spending is what an endpoint was asked for. The caller has the endpoint locked.
type spending struct {
	perDay      budget.Spent // what a day allows; 0 is any number
	day         int64        // days since 1970 in UTC
	today       budget.Spent
	overdrawn   int64        // the last day on which a request asked for more than was left
	logged      int64        // the last day of which it was logged that it is spent
	usage       budget.Usage // since the start
	failedSince time.Time    // zero while it answers
}

// begin begins another day where it is one.
func (s *spending) begin(now time.Time) {
	if day := now.Unix() / 86400; day != s.day {
		s.day, s.today = day, budget.Spent{}
	}
}

// reserve takes calls off what is left of the day.
func (s *spending) reserve(now time.Time, want budget.Spent, purpose budget.Purpose) error {
	s.begin(now)
	switch most := s.perDay; {
	case most.Calls > 0 && s.today.Calls+want.Calls > most.Calls:
		s.overdrawn = s.day
		return budgetError{"requests"}
	case most.Units > 0 && s.today.Units+want.Units > most.Units:
		s.overdrawn = s.day
		return budgetError{"compute units"}
	}
	s.today.Calls += want.Calls
	s.today.Units += want.Units
	s.usage[purpose].Calls += want.Calls
	s.usage[purpose].Units += want.Units
	return nil
}

// isSpent reports whether a request of today asked for more than was left.
func (s *spending) isSpent(now time.Time) bool {
	s.begin(now)
	return s.overdrawn == s.day
}

// logSpent reports whether nobody was told yet that the day is spent.
func (e *endpoint) logSpent() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := e.logged != e.overdrawn
	e.logged = e.overdrawn
	return first
}

type purposeKey struct{}

// For says what calls under a context are for; those of any other are for blocks.
func For(ctx context.Context, p budget.Purpose) context.Context {
	return context.WithValue(ctx, purposeKey{}, p)
}

func purposeOf(ctx context.Context) budget.Purpose {
	p, _ := ctx.Value(purposeKey{}).(budget.Purpose)
	return p
}

// silentAfter is for how long an endpoint may fail until what it allows counts no more.
const silentAfter = time.Minute

// Usage is what was asked of the endpoints since the start, and how each of them stands.
func (s *Source) Usage() (sum budget.Usage, list []budget.Endpoint) {
	now := s.pool.now()
	for _, e := range s.pool.list {
		perSecond := e.pace.perSecond()
		e.mu.Lock()
		e.begin(now)
		list = append(list, budget.Endpoint{
			Calls: e.today.Calls, CallsPerDay: e.perDay.Calls, Units: e.today.Units, UnitsPerDay: e.perDay.Units,
			PerSecond: perSecond, Wrong: e.wrong,
			Silent: !e.failedSince.IsZero() && now.Sub(e.failedSince) > silentAfter,
		})
		for p, spent := range e.usage {
			sum[p].Calls += spent.Calls
			sum[p].Units += spent.Units
		}
		e.mu.Unlock()
	}
	return sum, list
}

// perSecond is how many calls a second may have now; 0 if any number.
func (p *pace) perSecond() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit()
}

func methodsOf(reqs []*rpc.Request) []string {
	out := make([]string, len(reqs))
	for i, r := range reqs {
		out[i] = r.Method
	}
	return out
}

// newSpending is that of an endpoint that was asked for nothing yet.
func newSpending(e *chainconfig.Endpoint) spending {
	return spending{perDay: budget.Spent{Calls: e.RequestsPerDay, Units: e.ComputeUnitsPerDay}, overdrawn: -1, logged: -1}
}
