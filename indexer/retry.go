package indexer

import (
	"context"
	"time"
)

// retryPause grows from failure to failure, and starts anew after a quiet while.
type retryPause struct {
	pause time.Duration
	last  time.Time
}

const (
	shortestRetry = 250 * time.Millisecond
	longestRetry  = 15 * time.Second
)

func (p *retryPause) next(now time.Time) time.Duration {
	if now.Sub(p.last) > 2*longestRetry {
		p.pause = 0
	}
	p.pause = min(max(2*p.pause, shortestRetry), longestRetry)
	p.last = now
	return p.pause
}

// ended reports whether ctx is over. That is how a program is stopped, not a failure.
func ended(ctx context.Context) bool { return ctx.Err() != nil }

// sleep waits for d; it reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
