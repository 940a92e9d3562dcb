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
// It keeps an entry for each client and policy with counted requests, of about 250 bytes and 8 more for each request that
// is counted at a time. Every Take drops up to two entries of which all requests have left the window, so there is no
// pass over all of them, and none without traffic. Where there would be more entries than the most that it may keep,
// the one that was used least recently, to within a second, goes, and its client starts anew: when more clients than that
// come at a time, they get more than their quota. Clients are spread over up to 64 shards, each with its part of the
// most, so one can be full a little before all are.
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
	s := &m.shards[maphash.Bytes(m.seed, c[:])&uint64(len(m.shards)-1)]
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
	k := key{client: c, policy: p.Name}
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
	d := e.times.take(now, p)
	if d.Allowed {
		e.idleAt = now + int64(p.Window)
	}
	for range sweepsPerTake {
		last := s.ends.prev
		if last == e || last.idleAt > now {
			break
		}
		s.drop(last)
	}
	return d
}

func (s *shard) front(e *entry) {
	e.prev, e.next = &s.ends, s.ends.next
	e.prev.next, e.next.prev = e, e
}

func (s *shard) drop(e *entry) {
	e.unlink()
	delete(s.entries, e.key)
}

// entry is what is counted for one client under one policy.
type entry struct {
	times      times
	idleAt     int64 // when nothing is counted any more
	usedAt     int64 // when it was put at the front
	prev, next *entry
	key        key
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

func (t *times) take(now int64, p *Policy) Decision {
	for i := t.n - 1; i >= 0 && *t.at(i) > now; i-- {
		*t.at(i) = now // the clock was set back
	}
	window := int64(p.Window)
	for t.n > 0 && *t.at(0) <= now-window {
		if t.first, t.n = t.first+1, t.n-1; t.first == len(t.ring) {
			t.first = 0
		}
	}
	d := Decision{Allowed: t.n < p.Quota}
	if d.Allowed {
		t.add(now, p.Quota)
	}
	d.Remaining = max(0, p.Quota-t.n)
	// With a quota that was lowered meanwhile, several have to leave before there is room for one.
	d.Reset = time.Duration(*t.at(max(0, t.n-p.Quota)) + window - now)
	return d
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
