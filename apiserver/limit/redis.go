package limit

import (
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// defaultTimeout is what a request can wait for a decision without anyone noticing.
	defaultTimeout = 100 * time.Millisecond
	// pause is how long Redis isn't asked after it failed.
	pause = time.Second

	keyPrefix = "boardwalk:limit:"
)

//go:embed take.lua
var takeSource string

var takeScript = redis.NewScript(takeSource)

// RedisOptions are what may differ between uses of Redis.
type RedisOptions struct {
	// Timeout is how long a Take waits for Redis; 0 is 100 ms.
	Timeout time.Duration
	Metrics *Metrics
	Log     *slog.Logger // nil logs nothing
}

// Redis limits the requests of all processes that use the same Redis, by its clock. A Take is one round trip.
//
// When Redis fails, or doesn't answer in time, requests are decided by the fallback, and Redis isn't asked for a second.
// Then one Take asks again while the others don't wait for it, until one is answered. The fallback knows nothing of
// what Redis counted, nor Redis of what it counted: meanwhile each process has limits of its own, and all clients start
// anew at both changes. A request whose answer came too late may count in both.
type Redis struct {
	rdb      redis.UniversalClient
	script   *redis.Script
	fallback *Memory
	timeout  time.Duration
	metrics  *Metrics
	log      *slog.Logger

	// pausedUntil is when Redis may be asked again; nil while it answers. transition is held while it becomes nil or stops
	// being it, so that the metric and the log change in the same order.
	pausedUntil atomic.Pointer[time.Time]
	transition  sync.Mutex
}

var _ Limiter = (*Redis)(nil)

// NewRedis makes a limiter on rdb, as OpenRedis gives it: one that keeps to a context's deadline and tries nothing twice.
// The caller closes it. Pauses are timed by the fallback's clock.
func NewRedis(rdb redis.UniversalClient, fallback *Memory, o RedisOptions) *Redis {
	r := &Redis{rdb: rdb, script: takeScript, fallback: fallback, timeout: o.Timeout, metrics: o.Metrics, log: o.Log}
	if r.timeout <= 0 {
		r.timeout = defaultTimeout
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

// Take counts a request of c, and of its /48 when it has one, under p, if it may be for both. The end of the context doesn't end it: a client that hangs up has made
// its request all the same, and must not look like a Redis that fails.
func (r *Redis) Take(ctx context.Context, c Client, p *Policy) Decision {
	if p.Quota <= 0 {
		r.metrics.decided(false)
		return refusal(p)
	}
	if trial, ok := r.mayAsk(); ok {
		d, _, err := r.ask(ctx, c, p)
		if err == nil {
			r.answered(ctx, trial)
			r.metrics.decided(d.Allowed)
			return d
		}
		r.failed(ctx, trial, err)
	}
	return r.fallback.Take(ctx, c, p)
}

// ask asks Redis. at is Redis' time, in microseconds since 1970.
func (r *Redis) ask(ctx context.Context, c Client, p *Policy) (d Decision, at int64, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.timeout)
	defer cancel()
	window := (p.Window + time.Microsecond - 1) / time.Microsecond
	got, err := r.script.Run(ctx, r.rdb, redisKeys(c, p), p.Quota, int64(window), PerNetwork*p.Quota).Int64Slice()
	if err != nil {
		return Decision{}, 0, err
	}
	if len(got) != 4 {
		return Decision{}, 0, fmt.Errorf("the script answered with %d numbers, not 4", len(got))
	}
	return Decision{
		Allowed: got[0] == 1, Network: got[0] == -1, Remaining: int(got[1]), Reset: time.Duration(got[2]) * time.Microsecond,
	}, got[3], nil
}

// redisKeys name the lists of the requests of a client, and of its /48 when it has one, under a policy. What stands in
// braces is the same in both, which keeps them together in a cluster.
func redisKeys(c Client, p *Policy) []string {
	network, ok := c.Network()
	if !ok {
		return []string{redisKey(c, p)}
	}
	wide := redisKey(network, p)
	return []string{string(appendClient([]byte(wide+":"), c)), wide}
}

// redisKey is the key that a client or a /48 has under a policy.
func redisKey(c Client, p *Policy) string {
	b := make([]byte, 0, len(keyPrefix)+len(p.Name)+2*len(c)+3)
	b = append(b, keyPrefix...)
	b = append(b, '{')
	b = append(b, p.Name...)
	b = append(b, ':')
	return string(append(appendClient(b, c), '}'))
}

// appendClient writes a client without the zeros that pad it.
func appendClient(b []byte, c Client) []byte {
	n := len(c)
	for n > 1 && c[n-1] == 0 {
		n--
	}
	return hex.AppendEncode(b, c[:n])
}

// mayAsk tells whether this Take asks Redis. During an outage the one that does has a trial, a new end of the pause, and
// the others go by that meanwhile.
func (r *Redis) mayAsk() (trial *time.Time, ok bool) {
	paused := r.pausedUntil.Load()
	if paused == nil {
		return nil, true
	}
	now := r.fallback.now()
	// More than a pause to go: the clock was set back.
	if left := paused.Sub(now); left > 0 && left <= pause {
		return nil, false
	}
	next := now.Add(pause)
	return &next, r.pausedUntil.CompareAndSwap(paused, &next)
}

// answered ends the outage when it was a trial that Redis answered. An answer to a Take from before the outage says
// nothing.
func (r *Redis) answered(ctx context.Context, trial *time.Time) {
	if trial == nil {
		return
	}
	r.transition.Lock()
	defer r.transition.Unlock()
	if r.pausedUntil.CompareAndSwap(trial, nil) {
		r.metrics.fallenBack(false)
		r.log.InfoContext(ctx, "requests are counted in Redis again")
	}
}

func (r *Redis) failed(ctx context.Context, trial *time.Time, err error) {
	until := r.fallback.now().Add(pause)
	if trial != nil {
		r.pausedUntil.CompareAndSwap(trial, &until)
		return
	}
	r.transition.Lock()
	defer r.transition.Unlock()
	if r.pausedUntil.CompareAndSwap(nil, &until) {
		r.metrics.fallenBack(true)
		r.log.WarnContext(ctx, "Redis fails, requests are counted in this process until it answers", "reason", reason(err))
	}
}
