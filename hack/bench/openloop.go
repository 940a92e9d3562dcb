package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// shot is one request of an open loop and what came of it. Due is counted from the loop's beginning.
type shot struct {
	kind   int
	status int // 0: no answer before the loop was over
	due    time.Duration
	late   time.Duration // from due until it was sent: not the server's doing while connections are free
	took   time.Duration // from due until its answer was there
}

// openLoop are the parameters of an open loop.
type openLoop struct {
	address string
	rate    float64 // per second
	length  time.Duration
	// most bounds the connections. Requests beyond wait for one, and their wait counts.
	most    int
	clients *clients
	// next gives the n-th request and its kind.
	next func(n int) (kind int, head []byte)
	// grace is how long answers are waited for at the end.
	grace time.Duration
}

type openRun struct {
	shots []shot
	// waiting is the most requests that waited for a connection at a time.
	waiting int
}

// warmConnections are opened before the first request is due.
const warmConnections = 16

// job is a request that waits for a connection.
type job struct {
	n    int
	due  time.Time
	head []byte
}

// volley is the state of an open loop while it runs.
type volley struct {
	*openLoop

	out           *openRun
	jobs          chan job
	ends          time.Time
	idle, waiting atomic.Int64
	opened        int // connections
	all           sync.WaitGroup
	fail          context.CancelCauseFunc
}

// run sends requests at the rate. Every request is in the result, in the order in which they were due.
func (o *openLoop) run(ctx context.Context) (*openRun, error) {
	count := int(o.rate * o.length.Seconds())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := now().Add(50 * time.Millisecond)
	v := &volley{
		openLoop: o, out: &openRun{shots: make([]shot, count)}, jobs: make(chan job, count),
		ends: began.Add(o.length + o.grace), fail: cancel,
	}
	for v.opened < min(warmConnections, o.most) && ctx.Err() == nil {
		if x := v.connect(ctx); x != nil {
			v.opened++
			v.all.Go(func() { v.work(ctx, x) })
		}
	}
	p := pace{
		began: began, interval: time.Duration(float64(time.Second) / o.rate), count: count, now: now,
		sleep: func(d time.Duration) bool { return wait.For(ctx, d) },
	}
	p.run(func(n int, due time.Time) { v.launch(ctx, began, n, due) })
	close(v.jobs)
	v.all.Wait()
	return v.out, context.Cause(ctx)
}

// launch hands a request to a connection that is idle, to a new one, or, when there are as many as there may be, to the
// first that will be.
func (v *volley) launch(ctx context.Context, began time.Time, n int, due time.Time) {
	kind, head := v.next(n)
	v.out.shots[n] = shot{kind: kind, due: due.Sub(began)}
	beyond := v.waiting.Add(1) - v.idle.Load()
	if beyond > 0 && v.opened < v.most {
		v.opened++
		v.all.Go(func() {
			if x := v.connect(ctx); x != nil {
				v.work(ctx, x)
			}
		})
	}
	v.out.waiting = max(v.out.waiting, int(beyond))
	v.jobs <- job{n, due, head}
}

// connect gives nil when the loop has failed.
func (v *volley) connect(ctx context.Context) *connection {
	x, err := dial(ctx, v.address)
	if err == nil {
		err = x.SetDeadline(v.ends)
	}
	if err != nil {
		v.fail(err)
		return nil
	}
	return x
}

// work sends requests over a connection until there are no more.
func (v *volley) work(ctx context.Context, x *connection) {
	defer func() { _ = x.Close() }()
	for {
		v.idle.Add(1)
		j, more := <-v.jobs
		v.idle.Add(-1)
		if !more || ctx.Err() != nil {
			return
		}
		v.waiting.Add(-1)
		sent := now()
		if sent.After(v.ends) {
			continue // it stays unanswered
		}
		status, _, err := x.do(j.head, v.clients.next())
		if err != nil {
			if now().Before(v.ends) {
				v.fail(fmt.Errorf("request %d: %w", j.n, err))
			}
			return
		}
		s := &v.out.shots[j.n]
		s.status, s.late, s.took = status, sent.Sub(j.due), now().Sub(j.due)
	}
}

// of gives the latencies of the answers with a status, sorted; kind -1 is all.
func (r *openRun) of(kind, status int) []time.Duration {
	var out []time.Duration
	for i := range r.shots {
		if s := &r.shots[i]; s.status == status && (kind < 0 || s.kind == kind) {
			out = append(out, s.took)
		}
	}
	slices.Sort(out)
	return out
}

// late is the sorted time by which requests were sent after they were due.
func (r *openRun) late() []time.Duration {
	var out []time.Duration
	for i := range r.shots {
		out = append(out, r.shots[i].late)
	}
	slices.Sort(out)
	return out
}

// part is one of n equal parts of the run, by when requests were due.
func (r *openRun) part(i, n int) *openRun {
	return &openRun{shots: r.shots[len(r.shots)*i/n : len(r.shots)*(i+1)/n]}
}

func (r *openRun) statuses() statuses {
	out := statuses{}
	for i := range r.shots {
		out[r.shots[i].status]++
	}
	return out
}
