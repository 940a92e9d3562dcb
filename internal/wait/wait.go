// Package wait has the pauses of loops that end with a context.
package wait

import (
	"context"
	"time"
)

// For waits for d and reports whether it passed before ctx ended.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Until asks again after each pause of d until something is so. It reports false when ctx ended first.
func Until(ctx context.Context, d time.Duration, so func() bool) bool {
	for !so() {
		if !For(ctx, d) {
			return false
		}
	}
	return true
}
