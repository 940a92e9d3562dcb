package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// reason is why a browser was replaced.
type reason string

const (
	reasonEnded   reason = "ended"   // it crashed or was killed
	reasonHung    reason = "hung"    // it doesn't answer
	reasonTab     reason = "tab"     // it opens no new tab
	reasonCards   reason = "count"   // it has drawn as many pictures as it may
	reasonMemory  reason = "memory"  // it holds more than it may
	reasonStopped reason = "stopped" // the Supervisor ends
)

// planned tells whether a browser still draws until the next one is there.
func (r reason) planned() bool { return r == reasonCards || r == reasonMemory }

// reasonOf tells a browser that didn't answer in time from one that is gone.
func reasonOf(err error) reason {
	if errors.Is(err, context.DeadlineExceeded) {
		return reasonHung
	}
	return reasonEnded
}

const (
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// Supervisor keeps a browser running and draws with it.
type Supervisor struct {
	o     Options
	slots chan int      // the free ones; who has one draws in that tab
	ended chan struct{} // closed with Run

	mu      sync.Mutex
	waiting int // places that are taken, those that draw included
	current *instance
	changed chan struct{} // closed and made anew with every change of current and failure
	// failure is why no browser started at the last try, and retry when the next try is.
	failure error
	retry   time.Time
}

// New checks the options and starts nothing.
func New(o Options) (*Supervisor, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Supervisor{o: o, slots: make(chan int, o.Tabs), ended: make(chan struct{}), changed: make(chan struct{})}
	for slot := range o.Tabs {
		s.slots <- slot
	}
	o.Metrics.observe(s)
	return s, nil
}

// Run keeps a browser running until ctx ends, which cuts off what is being drawn. No process is left when it returns. It
// makes this program the parent of its descendants' orphans. It is called once.
func (s *Supervisor) Run(ctx context.Context) (err error) {
	defer close(s.ended)
	if err := adopt(); err != nil {
		return err
	}
	if err := s.o.folders.make(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.o.folders.remove()) }()
	var ending sync.WaitGroup
	defer ending.Wait()
	defer func() { s.replace(nil, &ending) }()
	k := keeper{Supervisor: s, ending: &ending, backoff: firstBackoff}
	for ctx.Err() == nil {
		k.round(ctx)
	}
	return nil
}

// keeper is Run's state.
type keeper struct {
	*Supervisor

	ending  *sync.WaitGroup
	backoff time.Duration
	granted *Protection
}

// round starts a browser, in the place of one that may still draw, and looks after it until it must be replaced.
func (k *keeper) round(ctx context.Context) {
	next, err := k.start(ctx)
	if ctx.Err() != nil {
		if err == nil {
			next.end()
		}
		return
	}
	if err != nil {
		k.failed(ctx, err)
		return
	}
	if p := next.protection; k.granted == nil || *k.granted != p {
		k.granted = &p
		k.o.Log.InfoContext(ctx, "the browser runs", "sandbox", p.Sandbox, "network_namespace", p.NoNetwork, "user", browserUser())
	}
	k.replace(next, k.ending)
	began := k.o.Now()
	why := k.watch(ctx, next)
	if why == reasonStopped {
		return
	}
	k.o.Metrics.replaced(why)
	if why.planned() {
		k.backoff = firstBackoff
		k.o.Log.InfoContext(ctx, "the browser is replaced", "reason", string(why))
		return
	}
	k.o.Log.WarnContext(ctx, "the browser is started anew", "reason", string(why))
	if k.replace(nil, k.ending) > 0 || k.o.Now().Sub(began) > maxBackoff {
		k.backoff = firstBackoff
		return
	}
	// It drew nothing in its short life, so the next one may not either.
	k.failed(ctx, fmt.Errorf("%w: the last browser drew nothing (%s)", ErrUnavailable, why))
}

// failed tells those who wait, and waits before the next try.
func (k *keeper) failed(ctx context.Context, err error) {
	k.o.Log.ErrorContext(ctx, "no browser could be started", "err", err.Error(), "retry_in", k.backoff.String())
	k.o.Metrics.startFailed()
	k.mu.Lock()
	k.failure, k.retry = err, k.o.Now().Add(k.backoff)
	k.announce()
	k.mu.Unlock()
	t := time.NewTimer(k.backoff)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	k.backoff = min(2*k.backoff, maxBackoff)
}

// start starts a browser with the best protection that works here. There is never less than there was before: what the
// kernel allowed once it allows, so that a failure has another cause, such as a lack of memory.
func (k *keeper) start(ctx context.Context) (*instance, error) {
	program, err := find(k.o.Program)
	if err != nil {
		return nil, err
	}
	var why []error
	for _, p := range k.o.only {
		if p.NoNetwork && k.o.without.namespace {
			continue
		}
		i, err := start(ctx, &k.o, program, p)
		if err == nil {
			if len(why) > 0 && (k.granted == nil || *k.granted != p) {
				k.o.Log.WarnContext(ctx, "the kernel or the container's settings allow the browser less protection than there is",
					"err", errors.Join(why...).Error())
			}
			return i, nil
		}
		why = append(why, fmt.Errorf("with %s: %w", p, err))
		slow := errors.Is(err, errSlow) || ctx.Err() != nil
		if had := k.granted != nil && *k.granted == p; had || slow {
			break // a slow machine is no reason for less protection either
		}
	}
	return nil, errors.Join(why...)
}

// watch gives why the browser must be replaced.
func (k *keeper) watch(ctx context.Context, i *instance) reason {
	look := time.NewTicker(k.o.HealthEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return reasonStopped
		case <-i.gone:
			return reasonEnded
		case why := <-i.faults:
			return why
		case <-look.C:
			if why, ill := k.look(ctx, i); ill {
				return why
			}
		}
	}
}

// look asks after the browser's health and memory.
func (k *keeper) look(ctx context.Context, i *instance) (reason, bool) {
	if err := i.answers(k.o.Patience / 4); err != nil {
		return reasonOf(err), true
	}
	held, err := memory(i.pid)
	if err != nil {
		k.o.Log.ErrorContext(ctx, "the browser's memory can't be read", "err", err.Error())
		return "", false
	}
	k.o.Metrics.memory(held)
	return reasonMemory, held > k.o.MaxMemory
}

// replace puts another browser in the current one's place, or none, and gives how many pictures the former began. The
// former is ended once it draws nothing any more; one that is replaced by none is ended at once.
func (s *Supervisor) replace(next *instance, ending *sync.WaitGroup) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	former := s.current
	s.current = next
	if next != nil {
		s.failure = nil
	}
	s.announce()
	if former == nil {
		return 0
	}
	former.retired = true
	if former.drawing == 0 || next == nil {
		former.rest()
	}
	ending.Go(func() {
		<-former.idle
		former.end()
	})
	return former.used
}

// announce wakes those who wait for a change. The lock is held.
func (s *Supervisor) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}
