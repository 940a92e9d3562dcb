package rpc

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// slowest is the least number of calls per second that a pace falls to, unpaced the number from which on there is none.
	slowest, unpaced = 1, 1000
	// hurryPause is the time without a refusal after which a learnt pace becomes a quarter faster: nodes refuse some requests whatever the pace
	// is, and that mustn't slow them down for minutes.
	hurryPause = 2 * time.Second
	// fewestPaced is the least number of calls in a second of which a refusal can be about their number.
	fewestPaced = 10
	// refusalPause is the pause after a refusal that names none, longestRefusal the longest that one may name.
	refusalPause, longestRefusal = time.Second, time.Minute
	// longestWaitRefused is the longest pause after which the rest of a question is asked of an endpoint that answered a part.
	longestWaitRefused = 2 * time.Second
	// MostWaitsRefused is how often at most an endpoint is waited for within a question: another one may answer all of it sooner.
	MostWaitsRefused = 8
	// RefusedRounds is how often all endpoints are asked before a question that they refuse for their rates counts as unanswered.
	RefusedRounds = 3
)

// pace spreads the calls to an endpoint over time. What it allows per second is declared, or learnt from refusals: a provider counts each call
// of a batch, and has limits that it tells nobody before they are exceeded.
type pace struct {
	declared float64 // 0 if nothing is

	mu      sync.Mutex
	limiter *rate.Limiter
	changed time.Time // when the pace was set last
	// sent are the calls of the second that began at since, before those of the second before it.
	since        time.Time
	sent, before float64
}

func newPace(declared int64) *pace {
	p := &pace{declared: float64(declared), limiter: rate.NewLimiter(rate.Inf, 1)}
	if declared > 0 {
		p.set(p.declared)
	}
	return p
}

// set has the endpoint asked so often. At most as many calls as a second has are sent at once.
func (p *pace) set(perSecond float64) {
	p.limiter.SetLimit(rate.Limit(perSecond))
	p.limiter.SetBurst(max(int(perSecond), 1))
}

// limit is how many calls a second may have; 0 if any number.
func (p *pace) limit() float64 {
	if l := p.limiter.Limit(); l != rate.Inf {
		return float64(l)
	}
	return 0
}

// atOnce is the most calls that may be sent at once; 0 if any number.
func (p *pace) atOnce() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit() == 0 {
		return 0
	}
	return p.limiter.Burst()
}

// wait waits until n calls may be sent.
func (p *pace) wait(ctx context.Context, n int, now time.Time) error {
	p.mu.Lock()
	if elapsed := now.Sub(p.since); elapsed < 0 || elapsed >= time.Second {
		if p.before = p.sent; elapsed >= 2*time.Second {
			p.before = 0
		}
		p.sent, p.since = 0, now
	}
	p.sent += float64(n)
	p.hurry(now)
	p.mu.Unlock()
	for n > 0 {
		part := n
		if p.limiter.Limit() != rate.Inf {
			part = min(n, p.limiter.Burst())
		}
		if err := p.limiter.WaitN(ctx, part); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !wait.For(ctx, refusalPause) { // the pace was lowered meanwhile, or ctx would end before
				return ctx.Err()
			}
			continue
		}
		n -= part
	}
	return nil
}

// hurry makes a learnt pace faster where nothing was refused for a while.
func (p *pace) hurry(now time.Time) {
	limit := p.limit()
	if limit == 0 || limit == p.declared || now.Sub(p.changed) < hurryPause && !now.Before(p.changed) {
		return
	}
	p.changed = now
	switch limit *= 1.25; {
	case p.declared > 0:
		p.set(min(limit, p.declared))
	case limit >= unpaced:
		p.limiter.SetLimit(rate.Inf)
	default:
		p.set(limit)
	}
}

// refused halves the pace. Refusals of what was under way together count once.
func (p *pace) refused(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.limit()
	if limit > 0 && now.Sub(p.changed) < refusalPause && !now.Before(p.changed) {
		return
	}
	if limit == 0 {
		if limit = max(p.sent, p.before); limit < fewestPaced {
			return
		}
	}
	p.changed = now
	p.set(max(limit/2, slowest))
}

// pauseOf reads a Retry-After header (RFC 9110, section 10.2.3): how long not to ask.
func pauseOf(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, longestRefusal)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestRefusal)
	}
	return refusalPause
}

// refused leaves an endpoint that is asked too often aside, and asks it less often from then on. First says that it was well before.
func (e *Endpoint) refused(now time.Time) (pause time.Duration, first bool) {
	e.pace.refused(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	pause = refusalPause
	if text, told := e.takeRefusedFor(); told {
		pause = pauseOf(text, now)
	}
	first = e.pause == 0
	e.pause = max(e.pause, FirstPause)
	e.until = now.Add(pause)
	return pause, first
}

// WaitRefused waits until an endpoint that refused a part of a question may be asked for the rest. It is false where that isn't soon.
func (e *Endpoint) WaitRefused(ctx context.Context) bool {
	if text, told := e.refusedFor(); told && pauseOf(text, e.Now()) > longestWaitRefused {
		return false
	}
	pause, _ := e.refused(e.Now())
	return wait.For(ctx, pause)
}

// untilReady is how long it takes until the first of the endpoints may be asked again.
func untilReady(list []*Endpoint, now time.Time) time.Duration {
	shortest := longestRefusal
	for _, e := range list {
		e.mu.Lock()
		shortest = min(shortest, max(e.until.Sub(now), 0))
		e.mu.Unlock()
	}
	return shortest
}

type beatKey struct{}

// WithBeat has beat called for each request that is made on behalf of a loop: at a slow pace a question of many calls takes minutes.
func WithBeat(ctx context.Context, beat func()) context.Context {
	return context.WithValue(ctx, beatKey{}, beat)
}

func beat(ctx context.Context) {
	if beat, ok := ctx.Value(beatKey{}).(func()); ok {
		beat()
	}
}
