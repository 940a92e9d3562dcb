package lab

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
	Due    time.Duration
	late   time.Duration // from due until it was sent: not the server's doing while connections are free
	took   time.Duration // from due until its answer was there
}

// OpenLoop are the parameters of an open loop.
type OpenLoop struct {
	Address string
	Rate    float64 // per second
	Length  time.Duration
	// Most bounds the connections. Requests beyond wait for one, and their wait counts.
	Most    int
	Clients *Clients
	// Next gives the n-th request and its kind.
	Next func(n int) (kind int, head []byte)
	// Grace is how long answers are waited for at the end.
	Grace time.Duration
}

// OpenRun is what an open loop saw.
type OpenRun struct {
	Shots []shot
	// Waiting is the most requests that waited for a connection at a time.
	Waiting int
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
	*OpenLoop

	out           *OpenRun
	jobs          chan job
	ends          time.Time
	idle, waiting atomic.Int64
	opened        int // connections
	all           sync.WaitGroup
	fail          context.CancelCauseFunc
}

// Run sends requests at the rate. Every request is in the result, in the order in which they were due.
func (o *OpenLoop) Run(ctx context.Context) (*OpenRun, error) {
	count := int(o.Rate * o.Length.Seconds())
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := Now().Add(50 * time.Millisecond)
	v := &volley{
		OpenLoop: o, out: &OpenRun{Shots: make([]shot, count)}, jobs: make(chan job, count),
		ends: began.Add(o.Length + o.Grace), fail: cancel,
	}
	for v.opened < min(warmConnections, o.Most) && ctx.Err() == nil {
		if x := v.connect(ctx); x != nil {
			v.opened++
			v.all.Go(func() { v.work(ctx, x) })
		}
	}
	p := pace{
		began: began, interval: time.Duration(float64(time.Second) / o.Rate), count: count, now: Now,
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
	kind, head := v.Next(n)
	v.out.Shots[n] = shot{kind: kind, Due: due.Sub(began)}
	beyond := v.waiting.Add(1) - v.idle.Load()
	if beyond > 0 && v.opened < v.Most {
		v.opened++
		v.all.Go(func() {
			if x := v.connect(ctx); x != nil {
				v.work(ctx, x)
			}
		})
	}
	v.out.Waiting = max(v.out.Waiting, int(beyond))
	v.jobs <- job{n, due, head}
}

// connect gives nil when the loop has failed.
func (v *volley) connect(ctx context.Context) *connection {
	x, err := dial(ctx, v.Address)
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
		sent := Now()
		if sent.After(v.ends) {
			continue // it stays unanswered
		}
		status, _, err := x.do(j.head, v.Clients.next())
		if err != nil {
			if Now().Before(v.ends) {
				v.fail(fmt.Errorf("request %d: %w", j.n, err))
			}
			return
		}
		s := &v.out.Shots[j.n]
		s.status, s.late, s.took = status, sent.Sub(j.due), Now().Sub(j.due)
	}
}

// Of lists how long the answers with an HTTP status took, the shortest first: the answers to one kind of request, or to all kinds if kind is -1.
func (r *OpenRun) Of(kind, status int) []time.Duration {
	return r.times(kind, status, func(s *shot) time.Duration { return s.took })
}

// SinceSent is Of, counted from when each request was sent. A busy machine sends requests after they are due.
func (r *OpenRun) SinceSent(kind, status int) []time.Duration {
	return r.times(kind, status, func(s *shot) time.Duration { return s.took - s.late })
}

func (r *OpenRun) times(kind, status int, of func(*shot) time.Duration) []time.Duration {
	var out []time.Duration
	for i := range r.Shots {
		if s := &r.Shots[i]; s.status == status && (kind < 0 || s.kind == kind) {
			out = append(out, of(s))
		}
	}
	slices.Sort(out)
	return out
}

// Late is the sorted time by which requests were sent after they were due.
func (r *OpenRun) Late() []time.Duration {
	var out []time.Duration
	for i := range r.Shots {
		out = append(out, r.Shots[i].late)
	}
	slices.Sort(out)
	return out
}

// Part is one of n equal parts of the run, by when requests were due.
func (r *OpenRun) Part(i, n int) *OpenRun {
	return &OpenRun{Shots: r.Shots[len(r.Shots)*i/n : len(r.Shots)*(i+1)/n]}
}

// Statuses counts the answers.
func (r *OpenRun) Statuses() Statuses {
	out := Statuses{}
	for i := range r.Shots {
		out[r.Shots[i].status]++
	}
	return out
}
