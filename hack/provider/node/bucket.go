package node

import (
	"math"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/hack/provider/profiles"
)

// bucket lets units through at a rate: it fills while nothing is asked, up to the burst.
type bucket struct {
	rate profiles.Rate
	now  func() time.Time

	mu   sync.Mutex
	left float64
	at   time.Time
	day  int64
	used int64
}

func newBucket(r profiles.Rate, now func() time.Time) *bucket {
	return &bucket{rate: r, now: now, left: r.Burst, at: now()}
}

// take is nil where a call of so many units may pass; else it is the refusal, the seconds after which to try again, and which limit it was.
func (b *bucket) take(units int64) (refusal *profiles.Refusal, retryAfter int, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if day := now.Unix() / 86400; day != b.day {
		b.day, b.used = day, 0
	}
	if b.rate.PerDay > 0 && b.used >= b.rate.PerDay {
		return &b.rate.DayIsOver, int(86400 - now.Unix()%86400), "day"
	}
	if b.rate.PerSecond > 0 {
		cost := float64(units)
		if b.rate.Calls {
			cost = 1
		}
		b.left = min(b.rate.Burst, b.left+b.rate.PerSecond*now.Sub(b.at).Seconds())
		b.at = now
		if b.left < cost {
			return &b.rate.Exceeded, int(math.Ceil((cost - b.left) / b.rate.PerSecond)), "rate"
		}
		b.left -= cost
	}
	b.used++
	return nil, 0, ""
}
