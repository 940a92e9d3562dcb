package metadata

import (
	"context"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// perHost is how many requests a host gets at once.
	perHost = 2
	// hostPause is the time between the starts of two requests to a host.
	hostPause = 100 * time.Millisecond
	// manyHosts is how many hosts are remembered before idle ones are forgotten.
	manyHosts = 4096
	// failuresToRest is how many failures in a row make a host rest, for shortestRest at first and longestRest at last.
	failuresToRest = 3
	shortestRest   = time.Minute
	longestRest    = time.Hour
)

// hosts keeps the fetcher polite: few requests at once to a host, none too soon after another, and none for a while to one that
// asks for it or doesn't answer.
type hosts struct {
	now   func() time.Time
	pause time.Duration

	mu sync.Mutex
	m  map[string]*host
}

type host struct {
	slots    chan struct{}
	users    int       // with a slot or waiting for one
	next     time.Time // the earliest start of the next request
	until    time.Time // at rest until then
	rest     time.Duration
	failures int // in a row
}

func newHosts(now func() time.Time) *hosts {
	return &hosts{now: now, pause: hostPause, m: map[string]*host{}}
}

// enter waits until the host may be asked. A nil error must be followed by leave.
func (h *hosts) enter(ctx context.Context, name string) *Error {
	one, err := h.use(name)
	if err != nil {
		return err
	}
	select {
	case one.slots <- struct{}{}:
	case <-ctx.Done():
		h.unuse(one)
		return newError(Waiting, name+" has too many requests already")
	}
	ahead, err := h.turn(name, one)
	if err == nil && ahead > 0 && !wait.For(ctx, ahead) {
		err = newError(Waiting, name+" has too many requests already")
	}
	if err != nil {
		<-one.slots
		h.unuse(one)
	}
	return err
}

// turn takes the next start of a request to the host, which may be some time ahead.
func (h *hosts) turn(name string, one *host) (time.Duration, *Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if now.Before(one.until) { // since the request began to wait
		return 0, one.atRest(name)
	}
	ahead := max(one.next.Sub(now), 0)
	one.next = now.Add(ahead + h.pause)
	return ahead, nil
}

func (h *hosts) use(name string) (*host, *Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.m[name]
	if one == nil {
		h.forget()
		one = &host{slots: make(chan struct{}, perHost)}
		h.m[name] = one
	}
	if h.now().Before(one.until) {
		return nil, one.atRest(name)
	}
	one.users++
	return one, nil
}

func (h *hosts) unuse(one *host) {
	h.mu.Lock()
	one.users--
	h.mu.Unlock()
}

func (one *host) atRest(name string) *Error {
	return &Error{Kind: Waiting, Until: one.until, lost: one.rest >= longestRest, text: name + " is left alone for a while"}
}

// verdict is what an answer, or the lack of one, says about a host.
type verdict uint8

const (
	answered verdict = iota
	failed
	overloaded
)

// leave ends what enter began. after is how long the host asked to be left alone; 0 when it didn't.
func (h *hosts) leave(name string, v verdict, after time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.m[name]
	<-one.slots
	one.users--
	if v == answered {
		one.failures, one.rest = 0, 0
		return
	}
	if one.failures++; v == overloaded || one.failures >= failuresToRest {
		now := h.now()
		if !now.Before(one.until) { // not by a request that was under way beside the one that made it rest
			one.rest = min(max(2*one.rest, shortestRest), longestRest)
		}
		if until := now.Add(min(max(one.rest, after), longestRest)); until.After(one.until) {
			one.until = until
		}
	}
}

// free reports whether a request to the host would begin at once.
func (h *hosts) free(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.m[name]
	return one == nil || one.users < perHost
}

// forget drops idle hosts when there are many; those at rest stay as long as possible.
func (h *hosts) forget() {
	if len(h.m) < manyHosts {
		return
	}
	now := h.now()
	for name, one := range h.m {
		if one.users == 0 && !now.Before(one.until) && !now.Before(one.next) {
			delete(h.m, name)
		}
	}
	for name, one := range h.m {
		if len(h.m) < manyHosts*3/4 { // room for many more, before all are looked at again
			return
		}
		if one.users == 0 {
			delete(h.m, name)
		}
	}
}
