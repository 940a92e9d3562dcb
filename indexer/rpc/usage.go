package rpc

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// Units has, for each method, the compute units that a call counts of a plan.
type Units map[string]int64

// of adds up the compute units of calls of some methods at an endpoint: by its declared units, and else by the usual ones.
func (usual Units) of(declared Units, methods ...string) (sum int64) {
	for _, m := range methods {
		n, ok := declared[m]
		if !ok {
			n, ok = usual[m]
		}
		if !ok {
			n, ok = declared[chainconfig.OtherMethods]
		}
		if !ok {
			n = usual[chainconfig.OtherMethods]
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

// beginDay begins another day where it is one.
func (s *spending) beginDay(now time.Time) {
	if day := now.Unix() / 86400; day != s.day {
		s.day, s.today = day, budget.Spent{}
	}
}

// reserve takes calls off what is left of the day.
func (s *spending) reserve(now time.Time, want budget.Spent, purpose budget.Purpose) error {
	s.beginDay(now)
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
	s.beginDay(now)
	return s.overdrawn == s.day
}

// logSpent reports whether nobody was told yet that the day is spent.
func (e *Endpoint) logSpent() bool {
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

// ForPart has calls that are for blocks count as a part of these that has a purpose of its own. Those for anything else, as for an index that is made anew, stay what they are.
func ForPart(ctx context.Context, p budget.Purpose) context.Context {
	if PurposeOf(ctx) != budget.Blocks {
		return ctx
	}
	return For(ctx, p)
}

// PurposeOf is what calls under a context are for.
func PurposeOf(ctx context.Context) budget.Purpose {
	p, _ := ctx.Value(purposeKey{}).(budget.Purpose)
	return p
}

// silentAfter is for how long an endpoint may fail until what it allows counts no more.
const silentAfter = time.Minute

// Usage is what was asked of the endpoints since the start, and how each of them stands.
func (p *Pool[E]) Usage() (sum budget.Usage, list []budget.Endpoint) {
	now := p.Now()
	for _, member := range p.List {
		e := member.Base()
		perSecond := e.pace.perSecond()
		e.mu.Lock()
		e.beginDay(now)
		list = append(list, budget.Endpoint{
			Calls: e.today.Calls, CallsPerDay: e.perDay.Calls, Units: e.today.Units, UnitsPerDay: e.perDay.Units,
			PerSecond: perSecond, Wrong: e.wrong,
			Silent: !e.failedSince.IsZero() && now.Sub(e.failedSince) > silentAfter,
		})
		for purpose, spent := range e.usage {
			sum[purpose].Calls += spent.Calls
			sum[purpose].Units += spent.Units
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

func methodsOf(reqs []*Request) []string {
	out := make([]string, len(reqs))
	for i, r := range reqs {
		out[i] = r.Method
	}
	return out
}

// newSpending makes the spending of an endpoint that was asked for nothing yet.
func newSpending(e *chainconfig.Endpoint) spending {
	return spending{perDay: budget.Spent{Calls: e.RequestsPerDay, Units: e.ComputeUnitsPerDay}, overdrawn: -1, logged: -1}
}
