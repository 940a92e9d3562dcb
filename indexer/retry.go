package indexer

import (
	"context"
	"math/rand/v2"
	"time"
)

// retryPause grows from failure to failure. Chance makes it up to a quarter shorter or longer: what failed together isn't tried again together.
type retryPause struct{ pause time.Duration }

const (
	shortestRetry = 250 * time.Millisecond
	longestRetry  = 15 * time.Second
)

func (p *retryPause) next() time.Duration {
	p.pause = min(max(2*p.pause, shortestRetry), longestRetry)
	return p.pause*3/4 + rand.N(p.pause/2) //nolint:gosec // no secret
}

// ended reports whether ctx is over. That is how a program is stopped, not a failure.
func ended(ctx context.Context) bool { return ctx.Err() != nil }

// doubtPause is the time until something that one endpoint alone says is asked for again: firstDoubt at first, each time twice as long.
type doubtPause struct {
	over   time.Time
	length time.Duration
}

// begin begins the next pause.
func (p *doubtPause) begin(now time.Time) {
	p.length = max(2*p.length, firstDoubt)
	p.over = now.Add(p.length)
}

// isOver reports whether the pause is over. A clock that was set back since it began doesn't prolong it.
func (p *doubtPause) isOver(now time.Time) bool {
	return !now.Before(p.over) || p.over.Sub(now) > p.length
}
