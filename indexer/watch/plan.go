package watch

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

// Plan compares the calls that a chain's endpoints are asked for with the calls that they allow. It alone decides
// which purposes are given up.
type Plan struct {
	usage func() (budget.Usage, []budget.Endpoint)
	state func() chainconfig.State
	tell  func(p chainconfig.Plan, givesUp func(budget.Purpose) bool)
	now   func() time.Time
	pause time.Duration

	mu    sync.Mutex
	watch *budget.Watch
}

// PlanOptions are what a watch works with.
type PlanOptions struct {
	// Usage is what was asked of the endpoints since the start, and how each of them stands.
	Usage func() (budget.Usage, []budget.Endpoint)
	// State is how far the index is.
	State func() chainconfig.State
	// Tell is told what is spent, needed and given up.
	Tell func(p chainconfig.Plan, givesUp func(budget.Purpose) bool)
	// Window is how far back the watch looks, Pause the time between two looks; 0 are 10 minutes and 5 s.
	Window, Pause time.Duration
	BlockTime     time.Duration
	Now           func() time.Time
}

// NewPlan makes a watch that gives nothing up yet.
func NewPlan(o PlanOptions) *Plan {
	return &Plan{
		usage: o.Usage, state: o.State, now: o.Now, pause: cmp.Or(o.Pause, planPause), tell: o.Tell,
		watch: budget.NewWatch(cmp.Or(o.Window, planWindow), o.BlockTime),
	}
}

// Run watches until ctx ends.
func (p *Plan) Run(ctx context.Context) {
	for wait.For(ctx, p.pause) {
		p.look()
	}
}

func (p *Plan) look() {
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

// GivesUp reports whether nodes aren't asked for something while what the day has left wouldn't last.
func (p *Plan) GivesUp(what budget.Purpose) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watch.GivesUp(what)
}
