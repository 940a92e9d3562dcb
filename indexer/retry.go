package indexer

import (
	"context"
	"time"
)

// retryPause grows from failure to failure.
type retryPause struct{ pause time.Duration }

const (
	shortestRetry = 250 * time.Millisecond
	longestRetry  = 15 * time.Second
)

func (p *retryPause) next() time.Duration {
	p.pause = min(max(2*p.pause, shortestRetry), longestRetry)
	return p.pause
}

// ended reports whether ctx is over. That is how a program is stopped, not a failure.
func ended(ctx context.Context) bool { return ctx.Err() != nil }
