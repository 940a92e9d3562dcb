package limit

import (
	"context"
	"encoding/binary"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	conform(t, func(testing.TB) subject { return newMemorySubject() })
}

func TestMemoryClockSetBack(t *testing.T) {
	t.Parallel()
	clockSetBack(t, newMemorySubject())
}

func newMemorySubject() subject {
	c := &clock{}
	m := NewMemory(c.now, 1000)
	return subject{
		Limiter: m,
		takeAt: func(who Client, p *Policy) (Decision, time.Duration) {
			return m.Take(context.Background(), who, p), time.Duration(c.sinceStart.Load())
		},
		pass: c.pass, unit: 7 * time.Second, tick: 1,
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	c := &clock{}
	m := NewMemory(c.now, 3)
	p := &Policy{Name: "getThing", Quota: 2, Window: time.Minute}
	remaining := func(n byte) int { return m.Take(t.Context(), someone(n), p).Remaining }
	for n := range byte(3) {
		remaining(n)
	}
	c.pass(time.Second)
	remaining(0) // used again, so 1 is the one used least recently
	remaining(3)
	if n := m.len(); n != 3 {
		t.Errorf("%d entries, want at most 3", n)
	}
	if got := remaining(0); got != 0 {
		t.Errorf("the one used recently has %d left, want none", got)
	}
	if got := remaining(1); got != 1 {
		t.Errorf("the one used least recently has %d left, want it to start anew with 1", got)
	}

	for _, most := range []int{-1, 1, 100, 127, 128, 5000, 1 << 16} {
		m := NewMemory(c.now, most)
		for n := range 3 * most {
			m.Take(t.Context(), number(n), p)
		}
		if n := m.len(); n > max(1, most) || n < most*3/4 {
			t.Errorf("%d entries after three times as many as the %d that there may be", n, most)
		}
	}
}

// TestMemoryWindowSlides: a request counts until it is one window old, and the later ones go on counting then.
func TestMemoryWindowSlides(t *testing.T) {
	t.Parallel()
	c := &clock{}
	m := NewMemory(c.now, 10)
	p := &Policy{Name: "getThing", Quota: 3, Window: time.Minute}
	for i, step := range []struct {
		pass time.Duration
		want Decision
	}{
		{0, Decision{Allowed: true, Remaining: 2, Reset: time.Minute}},
		{20 * time.Second, Decision{Allowed: true, Remaining: 1, Reset: 40 * time.Second}},
		{20 * time.Second, Decision{Allowed: true, Remaining: 0, Reset: 20 * time.Second}},
		{20*time.Second - 1, Decision{Reset: 1}},
		{1, Decision{Allowed: true, Remaining: 0, Reset: 20 * time.Second}},
		{0, Decision{Reset: 20 * time.Second}},
		{20 * time.Second, Decision{Allowed: true, Remaining: 0, Reset: 20 * time.Second}},
		{time.Minute, Decision{Allowed: true, Remaining: 2, Reset: time.Minute}},
	} {
		c.pass(step.pass)
		if got := m.Take(t.Context(), someone(1), p); got != step.want {
			t.Errorf("request %d: %+v, want %+v", i, got, step.want)
		}
	}
}

// A table is spread over as many shards as leave each room for 64 entries, and over 64 at most.
func TestMemoryShards(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]int{-1: 1, 0: 1, 1: 1, 64: 1, 127: 1, 128: 2, 255: 2, 256: 4, 4095: 32, 4096: 64, 1 << 20: 64} {
		m := NewMemory((&clock{}).now, most)
		if len(m.shards) != want {
			t.Errorf("a table of at most %d entries has %d shards, want %d", most, len(m.shards), want)
		}
		for i := range m.shards {
			if each := max(1, most/want); m.shards[i].most != each {
				t.Errorf("of %d entries shard %d keeps at most %d, want %d", most, i, m.shards[i].most, each)
			}
		}
	}
}

// An entry that is used again within a second keeps its place: putting it at the front writes to five entries.
func TestMemoryMovesEntriesSeldom(t *testing.T) {
	t.Parallel()
	c := &clock{}
	m := NewMemory(c.now, 3)
	c.pass(time.Hour) // entries are timed from the limiter's start on
	p := &Policy{Name: "getThing", Quota: 9, Window: time.Minute}
	for n := range byte(3) {
		m.Take(t.Context(), someone(n+1), p)
	}
	for _, step := range []struct {
		pass time.Duration
		last byte // the client whose entry is the last
	}{{0, 1}, {time.Second - 1, 1}, {1, 2}} {
		c.pass(step.pass)
		m.Take(t.Context(), someone(1), p)
		if got := m.shards[0].ends.prev.key.client; got != someone(step.last) {
			t.Errorf("%s later the last entry is that of %v, want %d", step.pass, got[:5], step.last)
		}
	}
}

func TestMemoryForgetsTheIdle(t *testing.T) {
	t.Parallel()
	c := &clock{}
	m := NewMemory(c.now, 1<<16)
	long := &Policy{Name: "getRarely", Quota: 5, Window: time.Hour}
	short := &Policy{Name: "getOften", Quota: 5, Window: time.Minute}
	const idle = 1000
	for n := range idle {
		m.Take(t.Context(), number(n), short)
	}
	for n := range 10 {
		m.Take(t.Context(), number(n), long)
	}
	c.pass(time.Minute - 1)
	for range idle {
		m.Take(t.Context(), someone(1), short)
	}
	if n := m.len(); n != idle+11 {
		t.Errorf("%d entries while all have something counted, want %d", n, idle+11)
	}
	c.pass(1)
	for n := range 3 * idle { // of other clients, so that every shard is visited, if not by just as many
		m.Take(t.Context(), number(idle+n%idle), short)
	}
	if n := m.len(); n != idle+11 {
		t.Errorf("%d entries after more Takes than there were idle ones, want the idle ones gone and %d left", n, idle+11)
	}
	for n := range 10 {
		if d := m.Take(t.Context(), number(n), long); d.Remaining != 3 {
			t.Errorf("one that counts for an hour has %d left after a minute, want 3", d.Remaining)
		}
	}
}

func TestMemoryMetrics(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	m := NewMemory((&clock{}).now, 10)
	NewMetrics(r, m)
	p := &Policy{Name: "getThing", Quota: 2, Window: time.Minute}
	for range 5 {
		m.Take(t.Context(), someone(1), p)
	}
	m.Take(t.Context(), someone(1), &Policy{Name: "getNothing", Window: time.Minute})
	for name, want := range map[string]float64{
		"boardwalk_limiter_decisions_total memory allowed": 2,
		"boardwalk_limiter_decisions_total memory refused": 4,
		"boardwalk_limiter_decisions_total redis allowed":  0,
		"boardwalk_limiter_fallback":                       0,
	} {
		if got := metric(t, r, name); got != want {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
}

// metric is the value of a metric, named with its labels' values.
func metric(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			full := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				full = append(full, l.GetValue())
			}
			if strings.Join(full, " ") == name {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func TestMemoryAllocatesNothing(t *testing.T) {
	m := NewMemory(time.Now, 1000)
	p := &Policy{Name: "getThing", Quota: 16, Window: time.Minute}
	for range p.Quota {
		m.Take(t.Context(), someone(1), p)
	}
	if n := testing.AllocsPerRun(100, func() { m.Take(context.Background(), someone(1), p) }); n != 0 {
		t.Errorf("a Take of a client that was seen before allocates %g times, want 0", n)
	}
}

// number is the nth of many clients.
func number(n int) Client {
	var sum [32]byte
	binary.BigEndian.PutUint64(sum[:], uint64(n))
	return KeyClient(sum)
}

func BenchmarkMemoryTake(b *testing.B) {
	for _, bb := range []struct {
		name   string
		quota  int
		window time.Duration
	}{
		{"refused", 120, time.Hour},
		{"allowed", 120, 5 * time.Millisecond}, // so short that as many leave it as are made
	} {
		b.Run(bb.name, func(b *testing.B) {
			m := NewMemory(time.Now, 100_000)
			p := &Policy{Name: "getTokenPrices", Quota: bb.quota, Window: bb.window}
			clients := make([]Client, 1000)
			for i := range clients {
				clients[i] = number(i)
				for range 2 * p.Quota {
					m.Take(b.Context(), clients[i], p)
				}
			}
			var start atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				ctx := context.Background()
				for i := int(start.Add(331)); pb.Next(); i++ {
					m.Take(ctx, clients[i%len(clients)], p)
				}
			})
		})
	}
}
