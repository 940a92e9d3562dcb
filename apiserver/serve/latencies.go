package serve

import (
	"slices"
	"sync"
	"time"
)

// keptLatencies bounds the answers whose time is remembered.
const keptLatencies = 1024

// Latencies remembers how long the answers of the last minute took, the newest keptLatencies of them.
type Latencies struct {
	mu   sync.Mutex
	kept []latency
	next int
}

type latency struct {
	at   time.Time
	took time.Duration
}

func (l *Latencies) add(at time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) < keptLatencies {
		l.kept = append(l.kept, latency{at, took})
		return
	}
	l.kept[l.next] = latency{at, took}
	l.next = (l.next + 1) % keptLatencies
}

// P95 is the 95th percentile in milliseconds; nil when there was no answer lately.
func (l *Latencies) P95(now time.Time) *float64 {
	l.mu.Lock()
	var lately []time.Duration
	for _, k := range l.kept {
		if now.Sub(k.at) < time.Minute {
			lately = append(lately, k.took)
		}
	}
	l.mu.Unlock()
	if len(lately) == 0 {
		return nil
	}
	slices.Sort(lately)
	ms := float64(lately[(len(lately)*95-1)/100].Microseconds()) / 1000
	return &ms
}
