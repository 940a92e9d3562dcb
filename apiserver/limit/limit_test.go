package limit

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// subject is a limiter under the conformance tests.
type subject struct {
	Limiter
	// takeAt takes and tells when that was, by the clock that the limiter counts by, since whenever.
	takeAt func(c Client, p *Policy) (Decision, time.Duration)
	// pass lets at least a duration pass on that clock.
	pass func(time.Duration)
	// unit is the shortest time that it is worth to let pass.
	unit time.Duration
	// tick is the clock's resolution.
	tick time.Duration
}

// conform holds a limiter to what all limiters promise. open may give the same limiter each time: no two tests use the
// same policies.
func conform(t *testing.T, open func(testing.TB) subject) {
	t.Helper()
	t.Run("as the model", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		rapid.Check(t, func(t *rapid.T) { asTheModel(t, s) })
	})
	t.Run("a quota that is lowered", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		before := Policy{Name: policyName(), Quota: 5, Window: time.Hour}
		after := before
		after.Quota = 2
		var at [6]time.Duration
		for i := range 5 {
			_, at[i] = s.takeAt(someone(1), &before)
			s.pass(s.unit)
		}
		got, now := s.takeAt(someone(1), &after)
		// Four of the five have to leave before one more is allowed.
		if want := (Decision{Reset: at[3] + time.Hour - now}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("no quota", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		for _, quota := range []int{0, -1} {
			p := Policy{Name: policyName(), Quota: quota, Window: time.Minute}
			if got, want := s.Take(t.Context(), someone(1), &p), (Decision{Reset: time.Minute}); got != want {
				t.Errorf("quota %d: got %+v, want %+v", quota, got, want)
			}
		}
	})
	t.Run("a /48 of IPv6", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		p := Policy{Name: policyName(), Quota: 3, Window: time.Hour}
		// A request that the client's own quota refuses isn't counted for the /48, which has room for exactly so many clients.
		for n := range byte(PerNetwork) {
			for range 2 * p.Quota {
				s.Take(t.Context(), within(1, n), &p)
			}
		}
		for range 2 * p.Quota {
			if d := s.Take(t.Context(), within(1, 99), &p); d.Allowed || !d.Network || d.Remaining != 0 || d.Reset <= 0 || d.Reset > p.Window {
				t.Fatalf("beyond the quotas of the /48: %+v", d)
			}
		}
		for name, c := range map[string]Client{"another /48": within(2, 1), "an IPv4 address": someone(1), "a key": KeyClient([32]byte{1})} {
			if d := s.Take(t.Context(), c, &p); !d.Allowed || d.Network || d.Remaining != p.Quota-1 {
				t.Errorf("%s: %+v", name, d)
			}
		}
		// A request that the /48 refuses isn't counted for the client.
		wider := p
		wider.Quota++
		if d := s.Take(t.Context(), within(1, 99), &wider); !d.Allowed || d.Remaining != wider.Quota-1 {
			t.Errorf("a client of the /48 that was refused, with more room: %+v", d)
		}
	})
	t.Run("at the same time", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		exactlyTheQuota(t, s.Limiter, s.Limiter)
	})
}

// asTheModel plays takes and pauses, and compares every decision with that of a list of all counted requests.
func asTheModel(t *rapid.T, s subject) {
	policies := make([]*Policy, rapid.IntRange(1, 2).Draw(t, "policies"))
	for i := range policies {
		policies[i] = &Policy{
			Name: policyName(), Quota: rapid.IntRange(1, 12).Draw(t, "quota"),
			Window: time.Duration(rapid.IntRange(1, 20).Draw(t, "window")) * s.unit,
		}
	}
	m := model{}
	policy := rapid.SampledFrom(policies)
	clients := []Client{someone(1), someone(2), someone(3)}
	if rapid.Bool().Draw(t, "IPv6") { // with more /64s of one /48 than it has quotas
		clients = nil
		for n := range byte(PerNetwork + 4) {
			clients = append(clients, within(1, n))
		}
		clients = append(clients, within(2, 0), someone(1))
	}
	t.Repeat(map[string]func(*rapid.T){
		"take": func(t *rapid.T) {
			c, p := rapid.SampledFrom(clients).Draw(t, "client"), policy.Draw(t, "policy")
			got, at := s.takeAt(c, p)
			if want := m.take(c, p, at); got != want {
				t.Fatalf("at %s got %+v, the model says %+v", at, got, want)
			}
		},
		"pass": func(t *rapid.T) {
			w := policy.Draw(t, "policy").Window
			s.pass(rapid.SampledFrom([]time.Duration{s.tick, s.unit, w / 3, w - s.tick, w, w + s.tick}).Draw(t, "time"))
		},
		"": func(t *rapid.T) { m.check(t) },
	})
}

// model is the definition: all counted requests ever, and those of them that are within the window.
type model map[modelKey][]time.Duration

type modelKey struct {
	c Client
	p *Policy
}

func (m model) take(c Client, p *Policy, now time.Duration) Decision {
	own := m.within(c, p, now)
	n, inNetwork := c.Network()
	if network := m.within(n, p, now); inNetwork && len(network) >= PerNetwork*p.Quota {
		return Decision{Network: true, Reset: network[0] + p.Window - now}
	}
	allowed := len(own) < p.Quota
	if allowed {
		k := modelKey{c, p}
		own, m[k] = append(own, now), append(m[k], now)
		if inNetwork {
			k.c = n
			m[k] = append(m[k], now)
		}
	}
	return Decision{Allowed: allowed, Remaining: p.Quota - len(own), Reset: own[0] + p.Window - now}
}

// within are the counted requests of the window that ends now.
func (m model) within(c Client, p *Policy, now time.Duration) (times []time.Duration) {
	for _, at := range m[modelKey{c, p}] {
		if at > now-p.Window {
			times = append(times, at)
		}
	}
	return times
}

// check states the promise itself: of any quota + 1 counted requests in a row, the last is a window after the first.
func (m model) check(t *rapid.T) {
	for k, times := range m {
		quota := k.p.Quota
		if k.c[0] == kindNetwork {
			quota *= PerNetwork
		}
		for i := range max(0, len(times)-quota) {
			if took := times[i+quota] - times[i]; took < k.p.Window {
				t.Fatalf("%d requests within %s; allowed are %d in %s", quota+1, took, quota, k.p.Window)
			}
		}
	}
}

// clockSetBack holds limiters to this: however often the clock is set back, by the time that truly passes there are never
// more than the quota in a window. pass takes negative durations as well.
func clockSetBack(t *testing.T, s subject) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		var truly time.Duration
		p := &Policy{Name: policyName(), Quota: rapid.IntRange(1, 9).Draw(t, "quota"), Window: time.Minute}
		counted := model{}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				d := s.Take(context.Background(), someone(1), p)
				if d.Reset <= 0 || d.Reset > p.Window {
					t.Fatalf("reset is %s, of a window of %s", d.Reset, p.Window)
				}
				if d.Allowed {
					k := modelKey{someone(1), p}
					counted[k] = append(counted[k], truly)
				}
			},
			"pass": func(t *rapid.T) {
				d := time.Duration(rapid.Int64Range(1, int64(p.Window/s.tick)).Draw(t, "time")) * s.tick
				s.pass(d)
				truly += d
			},
			"set back": func(t *rapid.T) {
				s.pass(-time.Duration(rapid.Int64Range(1, int64(time.Hour/s.tick)).Draw(t, "by")) * s.tick)
			},
			"": func(t *rapid.T) { counted.check(t) },
		})
	})

	p := &Policy{Name: policyName(), Quota: 1, Window: time.Minute}
	s.Take(t.Context(), someone(1), p)
	s.pass(-time.Hour)
	if d := s.Take(t.Context(), someone(1), p); d.Allowed || d.Reset != time.Minute {
		t.Errorf("got %+v, want a refusal for one window", d)
	}
	s.pass(time.Minute)
	if d := s.Take(t.Context(), someone(1), p); !d.Allowed {
		t.Errorf("got %+v, want it allowed after one window, not after an hour", d)
	}
}

// exactlyTheQuota takes from many goroutines at a time, on limiters that share their count.
func exactlyTheQuota(t *testing.T, limiters ...Limiter) {
	t.Helper()
	p := &Policy{Name: policyName(), Quota: 100, Window: time.Hour}
	var allowed atomic.Int64
	var wg sync.WaitGroup
	remaining := make([]atomic.Bool, p.Quota)
	for i := range 16 {
		wg.Go(func() {
			for range 20 {
				d := limiters[i%len(limiters)].Take(context.Background(), someone(1), p)
				if !d.Allowed {
					continue
				}
				allowed.Add(1)
				if remaining[d.Remaining].Swap(true) {
					t.Errorf("two were told that %d remain", d.Remaining)
				}
			}
		})
	}
	wg.Wait()
	if got := allowed.Load(); got != int64(p.Quota) {
		t.Errorf("%d were allowed, want exactly %d", got, p.Quota)
	}
	if d := limiters[0].Take(t.Context(), someone(2), p); d.Remaining != p.Quota-1 {
		t.Errorf("another client has %d left, want %d", d.Remaining, p.Quota-1)
	}
}

var policiesNamed atomic.Int64

// policyName is a name that no other test has.
func policyName() string { return fmt.Sprintf("getThing%d", policiesNamed.Add(1)) }

func someone(n byte) Client { return AddressClient(netip.AddrFrom4([4]byte{192, 0, 2, n})) }

// within is a /64 of a /48 of IPv6.
func within(network, n byte) Client {
	return AddressClient(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, network, 0, n, 15: 1}))
}

// clock is one that tests set.
type clock struct{ sinceStart atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.sinceStart.Load()))
}

func (c *clock) pass(d time.Duration) { c.sinceStart.Add(int64(d)) }

func TestClient(t *testing.T) {
	t.Parallel()
	address := func(s string) Client { return AddressClient(netip.MustParseAddr(s)) }
	for _, c := range []struct {
		name string
		a, b Client
		same bool
	}{
		{"an IPv4 address", address("192.0.2.1"), address("192.0.2.1"), true},
		{"two IPv4 addresses", address("192.0.2.1"), address("192.0.2.2"), false},
		{"IPv4 in IPv6", address("192.0.2.1"), address("::ffff:192.0.2.1"), true},
		{"a /64", address("2001:db8:1:2::1"), address("2001:db8:1:2:ffff:ffff:ffff:ffff"), true},
		{"two /64", address("2001:db8:1:2::1"), address("2001:db8:1:3::1"), false},
		{"a zone", address("fe80::1%eth0"), address("fe80::1"), true},
		{"IPv4 and IPv6 of the same bytes", address("32.1.13.184"), address("2001:db8::1"), false},
		{"a key and an address", KeyClient([32]byte{192, 0, 2, 1}), address("192.0.2.1"), false},
		{"two keys", KeyClient([32]byte{31: 1}), KeyClient([32]byte{31: 2}), false},
		{"no address", AddressClient(netip.Addr{}), Client{}, true},
		{"no address and the one of zeros", AddressClient(netip.Addr{}), address("0.0.0.0"), false},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: the same client is %t, want %t", c.name, c.a == c.b, c.same)
		}
		p := &Policy{Name: "getThing"}
		if a, b := redisKeys(c.a, p)[0], redisKeys(c.b, p)[0]; (a == b) != c.same {
			t.Errorf("%s: %s and %s", c.name, a, b)
		}
	}
}
