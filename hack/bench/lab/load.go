package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Statuses counts answers by their status.
type Statuses map[int]int

// String lists them.
func (s Statuses) String() string {
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, fmt.Sprintf("%d of %d", s[code], code))
	}
	return strings.Join(parts, ", ")
}

// Only fails when an answer had a status that is not among the allowed ones.
func (s Statuses) Only(allowed ...int) error {
	for code := range s {
		if !slices.Contains(allowed, code) {
			return fmt.Errorf("the answers were %s; nothing is said of speed before all are %v", s, allowed)
		}
	}
	return nil
}

// ClosedRun is what a closed loop saw.
type ClosedRun struct {
	Requests int
	Wall     time.Duration
	Statuses Statuses
	// Lengths counts answers by the length of their bodies.
	Lengths map[int]int
}

// PerSecond is the rate that was reached.
func (r *ClosedRun) PerSecond() float64 { return float64(r.Requests) / r.Wall.Seconds() }

// ClosedLoop keeps a number of connections busy for a while: each sends its next request when it has the answer to its
// last. next gives the n-th request.
func ClosedLoop(ctx context.Context, address string, connections int, d time.Duration, c *Clients, next func(n uint64) []byte,
) (*ClosedRun, error) {
	open := make([]*connection, 0, connections)
	defer func() {
		for _, x := range open {
			_ = x.Close()
		}
	}()
	for range connections {
		x, err := dial(ctx, address)
		if err != nil {
			return nil, err
		}
		open = append(open, x)
	}
	var stop atomic.Bool
	var sent atomic.Uint64
	parts := make([]ClosedRun, connections)
	errs := make([]error, connections)
	var all sync.WaitGroup
	began := Now()
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	for i, x := range open {
		if err := x.SetDeadline(began.Add(d + 30*time.Second)); err != nil {
			return nil, err
		}
		all.Go(func() {
			r := ClosedRun{Statuses: Statuses{}, Lengths: map[int]int{}}
			for first := true; (first || !stop.Load()) && ctx.Err() == nil; first = false { // one request at least, on a machine that is slow to begin
				status, length, err := x.do(next(sent.Add(1)-1), c.next())
				if err != nil {
					errs[i] = err
					break
				}
				r.Requests++
				r.Statuses[status]++
				r.Lengths[length]++
			}
			parts[i] = r
		})
	}
	all.Wait()
	whole := &ClosedRun{Wall: Now().Sub(began), Statuses: Statuses{}, Lengths: map[int]int{}}
	for i := range parts {
		whole.Requests += parts[i].Requests
		for code, n := range parts[i].Statuses {
			whole.Statuses[code] += n
		}
		for length, n := range parts[i].Lengths {
			whole.Lengths[length] += n
		}
	}
	return whole, errors.Join(errors.Join(errs...), ctx.Err())
}

// pace says when requests are due, whatever became of those before: that is what makes a loop open. A server that
// stalls is then charged with the wait of everybody who came meanwhile, not with that of one.
type pace struct {
	began    time.Time
	interval time.Duration
	count    int
	now      func() time.Time
	// sleep waits for a while; it reports whether to go on.
	sleep func(time.Duration) bool
}

// spin is how long before a request is due the caller stops sleeping, since sleep ends late by about as much.
const spin = 200 * time.Microsecond

// run calls launch for each request when it is due, or at once when that has passed. It spins only where requests are
// so far apart that this takes little of a core.
func (p *pace) run(launch func(n int, due time.Time)) {
	early := time.Duration(0)
	if p.interval >= 10*spin {
		early = spin
	}
	for n := range p.count {
		due := p.began.Add(time.Duration(n) * p.interval)
		if wait := due.Sub(p.now()) - early; wait > 0 && !p.sleep(wait) {
			return
		}
		if early > 0 {
			for p.now().Before(due) {
				runtime.Gosched()
			}
		}
		launch(n, due)
	}
}
