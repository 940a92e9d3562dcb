package limit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

const (
	// mostShards is far more than the processors that a server has, so that two of them seldom meet in one shard.
	mostShards = 64
	// leastPerShard keeps a small table in few shards: each has its share of the entries, and clients don't spread over
	// shards evenly when they are few.
	leastPerShard = 64
	// sweepsPerTake is more than the one entry that a Take can add, so that idle entries can't pile up.
	sweepsPerTake = 2
	// useEvery is how often, in nanoseconds, an entry in use is put at the front. Doing it at every Take would write to
	// five entries instead of one, which costs more than all else once several processors do.
	useEvery = int64(time.Second)
)

// Memory limits the requests that this process sees.
//
// It keeps an entry for each client and policy with counted requests, and one for each /48 of IPv6, of about 250 bytes and 8
// more for each request that is counted at a time. Every Take drops up to two entries of which all requests have left the window, so there is no
// pass over all of them, and none without traffic. Where there would be more entries than the most that it may keep,
// the one that was used least recently, to within a second, goes, and its client starts anew: when more clients than that
// come at a time, they get more than their quota. Clients are spread over up to 64 shards, each with its part of the
// most, so one can be full a little before all are. Those of one /48 are in one shard: one lock covers both counts, and
// clients that come from everywhere in it push out those of that shard alone.
type Memory struct {
	now    func() time.Time
	start  time.Time
	seed   maphash.Seed
	shards []shard
}

var _ Limiter = (*Memory)(nil)

// NewMemory makes a limiter that keeps at most maxEntries (at least 1) pairs of a client and a policy. now is its clock.
// A clock that is set back never makes it allow more: what it counted later than the clock then says counts as made at
// that moment.
func NewMemory(now func() time.Time, maxEntries int) *Memory {
	shards := 1
	for shards < mostShards && maxEntries/(shards*2) >= leastPerShard {
		shards *= 2
	}
	m := &Memory{now: now, start: now(), seed: maphash.MakeSeed(), shards: make([]shard, shards)}
	for i := range m.shards {
		s := &m.shards[i]
		s.entries, s.most = make(map[key]*entry), max(1, maxEntries/shards)
		s.ends.next, s.ends.prev = &s.ends, &s.ends
	}
	return m
}

// Take counts a request of c under p, if it may be. It doesn't wait, and doesn't look at the context.
func (m *Memory) Take(_ context.Context, c Client, p *Policy) Decision {
	by, ok := c.Network()
	if !ok {
		by = c
	}
	s := &m.shards[maphash.Bytes(m.seed, by[:])&uint64(len(m.shards)-1)]
	s.mu.Lock()
	// Read under the lock: of two Takes the later in the ring must have the later time.
	now := int64(m.now().Sub(m.start))
	d := s.take(now, c, p)
	if d.Allowed {
		s.allowed++
	} else {
		s.refused++
	}
	s.mu.Unlock()
	return d
}

// decisions counts the requests decided on so far.
func (m *Memory) decisions() (allowed, refused uint64) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		allowed += s.allowed
		refused += s.refused
		s.mu.Unlock()
	}
	return allowed, refused
}

// len is the number of entries.
func (m *Memory) len() int {
	n := 0
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		n += len(s.entries)
		s.mu.Unlock()
	}
	return n
}

// key names an entry.
type key struct {
	client Client
	policy string
}

// shard is a part of the table, with a lock of its own.
type shard struct {
	mu      sync.Mutex
	entries map[key]*entry
	most    int
	allowed uint64
	refused uint64
	// ends ties the entries into a ring: ends.next was used last, ends.prev the longest ago.
	ends entry
}

// take decides at now, in nanoseconds since the limiter was made.
func (s *shard) take(now int64, c Client, p *Policy) Decision {
	if p.Quota <= 0 {
		return refusal(p)
	}
	var wide *entry
	if network, ok := c.Network(); ok {
		wide = s.use(now, key{client: network, policy: p.Name})
		// It is looked at first, so that a /48 that is refused makes no entries of its clients.
		if d := wide.times.look(now, PerNetwork*p.Quota, p.Window); !d.Allowed {
			d.Network = true
			return d
		}
	}
	own := s.use(now, key{client: c, policy: p.Name})
	d := own.times.look(now, p.Quota, p.Window)
	if d.Allowed {
		d = own.count(now, p.Quota, p.Window)
		if wide != nil {
			wide.count(now, PerNetwork*p.Quota, p.Window)
		}
	}
	for range sweepsPerTake {
		last := s.ends.prev
		if last == own || last == wide || last.idleAt > now {
			break
		}
		s.drop(last)
	}
	return d
}

// use finds an entry, or makes it, and puts it at the front.
func (s *shard) use(now int64, k key) *entry {
	e := s.entries[k]
	if e == nil {
		if len(s.entries) >= s.most {
			s.drop(s.ends.prev)
		}
		e = &entry{key: k, usedAt: now}
		s.entries[k] = e
		s.front(e)
	} else if ago := now - e.usedAt; ago >= useEvery || ago < 0 {
		e.usedAt = now
		e.unlink()
		s.front(e)
	}
	return e
}

func (s *shard) front(e *entry) {
	e.prev, e.next = &s.ends, s.ends.next
	e.prev.next, e.next.prev = e, e
}

func (s *shard) drop(e *entry) {
	e.unlink()
	delete(s.entries, e.key)
}

// entry is what is counted for one client, or one /48, under one policy.
type entry struct {
	times      times
	idleAt     int64 // when nothing is counted any more
	usedAt     int64 // when it was put at the front
	prev, next *entry
	key        key
}

// count counts a request that look allowed.
func (e *entry) count(now int64, quota int, window time.Duration) Decision {
	e.times.add(now, quota)
	e.idleAt = now + int64(window)
	d := e.times.state(now, quota, window)
	d.Allowed = true
	return d
}

func (e *entry) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

// times are the moments of the counted requests, oldest first, in a ring that grows to the quota.
type times struct {
	ring  []int64
	first int
	n     int
}

func (t *times) at(i int) *int64 {
	i += t.first
	if i >= len(t.ring) {
		i -= len(t.ring)
	}
	return &t.ring[i]
}

// look drops what has left the window, and tells whether one more may be counted.
func (t *times) look(now int64, quota int, window time.Duration) Decision {
	for i := t.n - 1; i >= 0 && *t.at(i) > now; i-- {
		*t.at(i) = now // the clock was set back
	}
	for t.n > 0 && *t.at(0) <= now-int64(window) {
		if t.first, t.n = t.first+1, t.n-1; t.first == len(t.ring) {
			t.first = 0
		}
	}
	if t.n < quota {
		return Decision{Allowed: true}
	}
	return t.state(now, quota, window)
}

// state is where a client stands that has something counted.
func (t *times) state(now int64, quota int, window time.Duration) Decision {
	// With a quota that was lowered meanwhile, several have to leave before there is room for one.
	oldest := *t.at(max(0, t.n-quota))
	return Decision{Remaining: max(0, quota-t.n), Reset: time.Duration(oldest + int64(window) - now)}
}

func (t *times) add(now int64, quota int) {
	if t.n == len(t.ring) {
		grown := make([]int64, min(max(4, 2*t.n), quota))
		copy(grown[copy(grown, t.ring[t.first:]):], t.ring[:t.first])
		t.ring, t.first = grown, 0
	}
	t.n++
	*t.at(t.n - 1) = now
}
