package limit

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/boardwalkhq/boardwalk/internal/redistest"
)

// patient is longer than any answer of a Redis that answers, on a machine that is busy.
const patient = 20 * time.Second

// TestRedis runs on Redis' own clock.
func TestRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conform(t, func(tb testing.TB) subject {
		tb.Helper()
		f := newRedisFixture(tb, server.Address(), patient)
		return subject{
			Limiter: f.limiter, takeAt: f.takeAt(tb),
			// About as long as a round trip takes: what is to be hit are the ends of windows.
			pass: time.Sleep, unit: 100 * time.Microsecond, tick: time.Microsecond,
		}
	})
}

// TestRedisOnASetClock runs the script on a clock that stands still between the steps, so that the ends of windows are
// hit to the microsecond.
func TestRedisOnASetClock(t *testing.T) {
	t.Parallel()
	conform(t, newSetClockSubject)
}

func TestRedisClockSetBack(t *testing.T) {
	t.Parallel()
	clockSetBack(t, newSetClockSubject(t))
}

func TestWindowsAreRoundedUpToMicroseconds(t *testing.T) {
	t.Parallel()
	s := newSetClockSubject(t)
	p := &Policy{Name: policyName(), Quota: 1, Window: 1001 * time.Nanosecond}
	s.Take(t.Context(), someone(1), p)
	s.pass(time.Microsecond)
	if d := s.Take(t.Context(), someone(1), p); d.Allowed || d.Reset != time.Microsecond {
		t.Errorf("after 1 of 1.001 µs: %+v, want a refusal for another", d)
	}
	s.pass(time.Microsecond)
	if d := s.Take(t.Context(), someone(1), p); !d.Allowed {
		t.Errorf("after 2 of 1.001 µs: %+v", d)
	}
}

// setClock makes the script read the time, in microseconds, from a key.
const setClock = `
local real = redis
local redis = {call = function(command, ...)
  if command ~= 'TIME' then return real.call(command, ...) end
  local now = tonumber(real.call('GET', 'clock'))
  return {math.floor(now / 1000000), now % 1000000}
end}
`

func newSetClockSubject(tb testing.TB) subject {
	tb.Helper()
	f := newRedisFixture(tb, redistest.Start(tb).Address(), patient)
	f.limiter.script = redis.NewScript(setClock + takeSource)
	pass := func(d time.Duration) {
		if err := f.rdb.IncrBy(context.Background(), "clock", d.Microseconds()).Err(); err != nil {
			tb.Fatal(err)
		}
	}
	pass(time.Duration(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixNano()))
	return subject{Limiter: f.limiter, takeAt: f.takeAt(tb), pass: pass, unit: 10 * time.Second, tick: time.Microsecond}
}

// takeAt takes, and tells when that was by the clock of Redis.
func (f *redisFixture) takeAt(tb testing.TB) func(Client, *Policy) (Decision, time.Duration) {
	tb.Helper()
	return func(c Client, p *Policy) (Decision, time.Duration) {
		d, at, err := f.limiter.ask(context.Background(), c, p)
		if err != nil {
			tb.Fatal(err)
		}
		return d, time.Duration(at) * time.Microsecond
	}
}

// redisFixture is a limiter with what it reports, on a clock that tests set.
type redisFixture struct {
	clock    clock
	registry *prometheus.Registry
	limiter  *Redis
	rdb      *redis.Client
	asked    asked
	log      log
}

func newRedisFixture(tb testing.TB, address string, timeout time.Duration) *redisFixture {
	tb.Helper()
	f := &redisFixture{registry: prometheus.NewRegistry()}
	var err error
	if f.rdb, err = OpenRedis(address); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.rdb.Close() })
	f.rdb.AddHook(&f.asked)
	memory := NewMemory(f.clock.now, 1000)
	f.limiter = NewRedis(f.rdb, memory, RedisOptions{
		Timeout: timeout, Metrics: NewMetrics(f.registry, memory), Log: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	return f
}

// asked counts the attempts to run the script.
type asked struct {
	n atomic.Int64
	// hold, when set, is called before each of them.
	hold func()
}

func (a *asked) DialHook(next redis.DialHook) redis.DialHook { return next }

func (a *asked) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (a *asked) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			a.n.Add(1)
			if a.hold != nil {
				a.hold()
			}
		}
		return next(ctx, cmd)
	}
}

// log keeps what is logged.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines are the messages so far, without their times.
func (l *log) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for line := range strings.Lines(l.b.String()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), " ")
		out = append(out, line)
	}
	return out
}

func TestTwoProcessesShareALimit(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := newRedisFixture(t, server.Address(), patient), newRedisFixture(t, server.Address(), patient)
	exactlyTheQuota(t, a.limiter, b.limiter)
}

// TestRedisDies: while Redis is down, decisions are made in memory and Redis is asked once a second; when it is back, it
// is used.
func TestRedisDies(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := newRedisFixture(t, server.Address(), patient)
	p := &Policy{Name: policyName(), Quota: 3, Window: time.Hour}
	take := func() Decision { return f.limiter.Take(t.Context(), someone(1), p) }
	expect := func(when string, fallback, byRedis, byMemory float64) {
		t.Helper()
		for name, want := range map[string]float64{
			"boardwalk_limiter_fallback":                       fallback,
			"boardwalk_limiter_decisions_total redis allowed":  byRedis,
			"boardwalk_limiter_decisions_total memory allowed": byMemory,
		} {
			if got := metric(t, f.registry, name); got != want {
				t.Errorf("%s: %s is %g, want %g", when, name, got, want)
			}
		}
	}
	take()
	take()
	expect("with Redis", 0, 2, 0)

	server.Kill(t)
	f.asked.n.Store(0)
	for i := range p.Quota {
		if d := take(); !d.Allowed || d.Remaining != p.Quota-1-i {
			t.Errorf("take %d in memory: %+v, want it to start anew", i, d)
		}
	}
	if d := take(); d.Allowed {
		t.Error("there is no limit without Redis")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				f.limiter.Take(context.Background(), someone(2), p)
			}
		})
	}
	wg.Wait()
	expect("without Redis", 1, 2, 6)
	if n := f.asked.n.Load(); n != 1 {
		t.Errorf("Redis was asked %d times within a second of its end, want once", n)
	}

	for range 3 {
		f.clock.pass(pause)
		for range 8 {
			wg.Go(func() {
				for range 100 {
					f.limiter.Take(context.Background(), someone(2), p)
				}
			})
		}
		wg.Wait()
	}
	if n := f.asked.n.Load(); n != 1+3 {
		t.Errorf("Redis was asked %d times in three seconds more, want once in each", n-1)
	}

	server.Restart(t)
	take()
	expect("before the pause is over", 1, 2, 6)
	f.clock.pass(pause)
	if d := take(); !d.Allowed || d.Remaining != p.Quota-1 {
		t.Errorf("take with the new Redis: %+v, want it to start anew", d)
	}
	take()
	expect("with Redis again", 0, 4, 6)

	want := []string{
		`level=WARN msg="Redis fails, requests are counted in this process until it answers" reason="`,
		`level=INFO msg="requests are counted in Redis again"`,
	}
	got := f.log.lines()
	if len(got) != len(want) || !strings.HasPrefix(got[0], want[0]) || got[1] != want[1] {
		t.Errorf("the log is\n%s\nwant\n%s…", strings.Join(got, "\n"), strings.Join(want, "…\n"))
	}
}

// TestRedisHangs: a Redis that takes connections but doesn't answer is as good as none.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := newRedisFixture(t, server.Address(), 20*time.Millisecond)
	control := newRedisFixture(t, server.Address(), patient).rdb
	p := &Policy{Name: policyName(), Quota: 1000, Window: time.Hour}
	if err := control.Do(t.Context(), "CLIENT", "PAUSE", patient.Milliseconds(), "WRITE").Err(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		f.limiter.Take(t.Context(), someone(1), p)
	}
	if n, fallback := f.asked.n.Load(), metric(t, f.registry, "boardwalk_limiter_fallback"); n != 1 || fallback != 1 {
		t.Errorf("asked %d times, fallback is %g; want once and 1", n, fallback)
	}
	if got := f.log.lines(); len(got) != 1 || !strings.HasSuffix(got[0], `reason="no answer in time"`) {
		t.Errorf("the log is %q", got)
	}
	if err := control.Do(t.Context(), "CLIENT", "UNPAUSE").Err(); err != nil {
		t.Fatal(err)
	}
	f.limiter.timeout = patient // 20 ms may be too few on a machine that is busy
	f.clock.pass(pause)
	f.limiter.Take(t.Context(), someone(1), p)
	if fallback := metric(t, f.registry, "boardwalk_limiter_fallback"); fallback != 0 {
		t.Errorf("fallback is %g although Redis answers again", fallback)
	}
}

// TestOneAsksWhileTheOthersGoOn: during an outage nobody waits for the one that tries whether Redis is back.
func TestOneAsksWhileTheOthersGoOn(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := newRedisFixture(t, server.Address(), patient)
	p := &Policy{Name: policyName(), Quota: 1000, Window: time.Hour}
	server.Kill(t)
	f.limiter.Take(t.Context(), someone(1), p)
	f.asked.n.Store(0)
	f.clock.pass(pause)

	asking, goOn := make(chan struct{}), make(chan struct{})
	f.asked.hold = func() {
		asking <- struct{}{}
		<-goOn
	}
	var wg sync.WaitGroup
	wg.Go(func() { f.limiter.Take(context.Background(), someone(1), p) })
	<-asking
	for range 10 {
		f.limiter.Take(t.Context(), someone(1), p)
	}
	f.clock.pass(pause - 1) // the one that asks takes its time
	for range 10 {
		f.limiter.Take(t.Context(), someone(1), p)
	}
	close(goOn)
	wg.Wait()
	f.asked.hold = nil
	f.clock.pass(pause - 1) // and the pause is from when it failed
	for range 10 {
		f.limiter.Take(t.Context(), someone(1), p)
	}
	if n := f.asked.n.Load(); n != 1 {
		t.Errorf("Redis was asked %d times, want once", n)
	}
	f.clock.pass(1)
	f.limiter.Take(t.Context(), someone(1), p)
	if n := f.asked.n.Load(); n != 2 {
		t.Errorf("Redis was asked %d times, want once more when the pause is over", n)
	}
}

// TestTheClockIsSetBackDuringAnOutage: Redis is then asked at once, not only when the clock is where it was.
func TestTheClockIsSetBackDuringAnOutage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := newRedisFixture(t, server.Address(), patient)
	p := &Policy{Name: policyName(), Quota: 5, Window: time.Hour}
	server.Kill(t)
	f.limiter.Take(t.Context(), someone(1), p)
	server.Restart(t)
	f.clock.pass(-time.Hour)
	f.limiter.Take(t.Context(), someone(1), p)
	if fallback := metric(t, f.registry, "boardwalk_limiter_fallback"); fallback != 0 {
		t.Errorf("fallback is %g", fallback)
	}
}

func TestScriptsAreFlushed(t *testing.T) {
	t.Parallel()
	f := newRedisFixture(t, redistest.Start(t).Address(), patient)
	p := &Policy{Name: policyName(), Quota: 5, Window: time.Hour}
	for i := range p.Quota {
		if err := f.rdb.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if d := f.limiter.Take(t.Context(), someone(1), p); !d.Allowed || d.Remaining != p.Quota-1-i {
			t.Errorf("take %d: %+v", i, d)
		}
	}
	if got := f.log.lines(); got != nil {
		t.Errorf("it logs %q", got)
	}
	f.asked.n.Store(0)
	f.limiter.Take(t.Context(), someone(1), p)
	if n := f.asked.n.Load(); n != 1 {
		t.Errorf("a Take of a script that Redis knows is %d round trips, want 1", n)
	}
}

func TestTheClientHangsUp(t *testing.T) {
	t.Parallel()
	f := newRedisFixture(t, redistest.Start(t).Address(), patient)
	p := &Policy{Name: policyName(), Quota: 5, Window: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := f.limiter.Take(ctx, someone(1), p); !d.Allowed {
		t.Errorf("got %+v", d)
	}
	if n := metric(t, f.registry, "boardwalk_limiter_decisions_total redis allowed"); n != 1 {
		t.Errorf("Redis counted %g requests of a client that hung up, want 1", n)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	f := newRedisFixture(t, redistest.Start(t).Address(), patient)
	p := &Policy{Name: "getThing", Quota: 3, Window: time.Hour + 1500*time.Microsecond}
	f.limiter.Take(t.Context(), someone(1), p)
	keys, err := f.rdb.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 1 || keys[0] != "boardwalk:limit:{getThing:04c0000201}" {
		t.Fatalf("keys %q, %v", keys, err)
	}
	p.Window = time.Hour
	f.limiter.Take(t.Context(), someone(1), p)
	if left := f.rdb.PTTL(t.Context(), keys[0]).Val(); left <= p.Window-patient || left > p.Window+2*time.Second {
		t.Errorf("the key expires in %s, want a little after the window of %s", left, p.Window)
	}
	for range 10 {
		f.limiter.Take(t.Context(), someone(1), p)
	}
	if n := f.rdb.LLen(t.Context(), keys[0]).Val(); n > int64(p.Quota) {
		t.Errorf("%d moments are kept, want at most the quota", n)
	}
}

// A client of zeros has a key of its own, as any other has.
func TestKeyOfNobody(t *testing.T) {
	t.Parallel()
	p := &Policy{Name: "getThing"}
	if got := redisKeys(Client{}, p); len(got) != 1 || got[0] != "boardwalk:limit:{getThing:00}" {
		t.Errorf("the keys of nobody are %q", got)
	}
	p.Name = strings.Repeat("getThing", 100) // longer than all else in the key
	if got := redisKeys(Client{}, p); len(got) != 1 || got[0] != "boardwalk:limit:{"+p.Name+":00}" {
		t.Errorf("the keys of nobody under a long name are %q", got)
	}
}

func TestTimeoutOfRedis(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]time.Duration{
		0: 100 * time.Millisecond, -1: 100 * time.Millisecond, 1: 1, time.Minute: time.Minute,
	} {
		if got := NewRedis(nil, nil, RedisOptions{Timeout: given}).timeout; got != want {
			t.Errorf("of the timeout %s it makes %s, want %s", given, got, want)
		}
	}
}

// A policy that allows nothing needs no answer of Redis.
func TestNoQuotaAsksNobody(t *testing.T) {
	t.Parallel()
	f := newRedisFixture(t, redistest.Start(t).Address(), patient)
	for _, quota := range []int{0, -1} {
		if d := f.limiter.Take(t.Context(), someone(1), &Policy{Name: policyName(), Quota: quota, Window: time.Minute}); d.Allowed {
			t.Errorf("a quota of %d allows a request", quota)
		}
	}
	if n := f.asked.n.Load(); n != 0 {
		t.Errorf("Redis was asked %d times", n)
	}
	if got := metric(t, f.registry, "boardwalk_limiter_decisions_total redis refused"); got != 2 {
		t.Errorf("%v refusals are counted, want 2", got)
	}
}

func BenchmarkRedisTake(b *testing.B) {
	f := newRedisFixture(b, redistest.Start(b).Address(), patient)
	p := &Policy{Name: "getTokenPrices", Quota: 120, Window: time.Minute}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			f.limiter.Take(context.Background(), number(i%1000), p)
		}
	})
	if n := f.log.lines(); n != nil {
		b.Errorf("it logs %q", n)
	}
}
