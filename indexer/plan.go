package indexer

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// planWindow is how far a chain looks back to say what its blocks take: long enough for many blocks of the slowest chains.
	planWindow = 10 * time.Minute
	// planPause is the time between two looks at what was spent.
	planPause = 5 * time.Second
)

// planWatch watches what a chain's endpoints are asked for against what they allow. It alone decides what is given up.
type planWatch struct {
	usage func() (budget.Usage, []budget.Endpoint)
	state func() chainconfig.State
	tell  func(p chainconfig.Plan, givesUp func(budget.Purpose) bool)
	now   func() time.Time
	pause time.Duration

	mu    sync.Mutex
	watch *budget.Watch
}

// newPlanWatch watches an indexer, whose endpoints tell what they were asked for.
func newPlanWatch(ix *Indexer, usage func() (budget.Usage, []budget.Endpoint)) *planWatch {
	return &planWatch{
		usage: usage, state: ix.State, now: ix.o.Now, pause: cmp.Or(ix.o.PlanPause, planPause),
		watch: budget.NewWatch(cmp.Or(ix.o.PlanWindow, planWindow), time.Duration(ix.cfg.BlockTime)),
		tell: func(plan chainconfig.Plan, givesUp func(budget.Purpose) bool) {
			ix.o.Metrics.plan(ix.cfg.ID, plan.Behind != "", givesUp)
			ix.account.update(func(s *chainconfig.State) { s.Plan = plan })
		},
	}
}

// run watches until ctx ends.
func (p *planWatch) run(ctx context.Context) {
	for wait.For(ctx, p.pause) {
		p.look()
	}
}

func (p *planWatch) look() {
	s := p.state()
	r := budget.Reading{At: p.now()}
	r.Usage, r.Endpoints = p.usage()
	if s.Head != nil && s.Indexed != nil {
		r.Head, r.Indexed = s.Head.Number, s.Indexed.Number
		r.Lag, _ = s.Lag()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch.Take(r)
	a := p.watch.Allowance()
	out := chainconfig.Plan{Behind: p.watch.Behind(), Needed: int64(math.Ceil(p.watch.NeededPerDay()))}
	if !math.IsInf(a.PerDay, 1) {
		out.Unit, out.PerDay, out.Left = chainconfig.PlanCalls, int64(a.PerDay), int64(a.Left)
		if a.InUnits {
			out.Unit = chainconfig.PlanUnits
		}
	}
	for _, u := range p.watch.GivenUp() {
		if u == budget.Reindexing && s.Reindexing == nil {
			continue // there is nothing to give up
		}
		out.GivenUp = append(out.GivenUp, u.String())
	}
	p.tell(out, p.watch.GivesUp)
}

// givesUp reports whether nodes aren't asked for something while what the day has left wouldn't last.
func (p *planWatch) givesUp(what budget.Purpose) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watch.GivesUp(what)
}
