// Package presence counts the members who are present: those of whom the platform's app said so within the last three minutes. One process counts.
package presence

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// Window is for how long a member is present after a heartbeat, in seconds.
const Window = 180

// Registry tells who is a member. It is social.Registry.
type Registry interface {
	Numbers(ctx context.Context, ids []member.ID) (map[member.ID]member.Number, error)
	Changes(ctx context.Context, after int64, limit int) ([]social.Change, error)
	LastChange(ctx context.Context) (int64, error)
}

// Store keeps who was present for the next process. It is social.Presence.
type Store interface {
	Present(ctx context.Context, oldest int64) (map[member.Number]int64, error)
	KeepPresent(ctx context.Context, l *social.Lease, minute int64, present []member.Number, oldest int64) error
}

// Counter counts members, not heartbeats.
type Counter struct {
	registry Registry
	store    Store
	now      func() time.Time

	mu sync.Mutex
	// numbers has the numbers of the members that were asked about; a change of the registry takes a member out.
	numbers map[member.ID]member.Number
	// last is when a member was seen last, in unix seconds, and in counts how many members were seen last at a second.
	last   map[member.Number]int64
	counts map[int64]int
	// change is the number of the registry's last change that was taken in.
	change int64
}

// New is a counter that has seen nobody.
func New(registry Registry, store Store, now func() time.Time) *Counter {
	return &Counter{
		registry: registry, store: store, now: now, numbers: map[member.ID]member.Number{}, last: map[member.Number]int64{}, counts: map[int64]int{},
	}
}

// Restore begins anew with whom another process saw. Of them only the minute is known: they are present until three minutes after its end.
func (c *Counter) Restore(ctx context.Context) error {
	change, err := c.registry.LastChange(ctx)
	if err != nil {
		return err
	}
	now := c.now().Unix()
	present, err := c.store.Present(ctx, minuteOf(now-Window)-60)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers, c.change = map[member.ID]member.Number{}, change
	c.last, c.counts = map[member.Number]int64{}, map[int64]int{}
	for number, minute := range present {
		c.see(number, min(minute+59, now)) // the minute's last second, so that it isn't kept as the next minute's
	}
	return nil
}

func minuteOf(t int64) int64 { return t - t%60 }

// Seen notes that members are present now, and gives the ids that aren't members'.
func (c *Counter) Seen(ctx context.Context, ids []member.ID) (unknown []member.ID, err error) {
	for {
		ask, change := c.unasked(ids)
		found := map[member.ID]member.Number{}
		if len(ask) > 0 {
			if found, err = c.registry.Numbers(ctx, ask); err != nil {
				return nil, err
			}
		}
		if unknown, ok := c.note(ids, found, change); ok {
			return unknown, nil
		}
	}
}

// unasked are the ids whose members aren't known, as of a change of the registry. What can't be an id is nobody's.
func (c *Counter) unasked(ids []member.ID) (ask []member.ID, change int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if _, known := c.numbers[id]; !known && member.CheckID(string(id)) == nil {
			ask = append(ask, id)
		}
	}
	return ask, c.change
}

// note notes that members are present. ok is false where the registry has changed meanwhile: one of those who were found may have left.
func (c *Counter) note(ids []member.ID, found map[member.ID]member.Number, change int64) (unknown []member.ID, ok bool) {
	now := c.now().Unix()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.change != change {
		return nil, false
	}
	maps.Copy(c.numbers, found)
	for _, id := range ids {
		if number, known := c.numbers[id]; known {
			c.see(number, now)
		} else {
			unknown = append(unknown, id)
		}
	}
	return unknown, true
}

// see notes when a member was seen. The caller holds mu.
func (c *Counter) see(number member.Number, at int64) {
	before, seen := c.last[number]
	if seen && before >= at {
		return
	}
	if seen {
		c.uncount(before)
	}
	c.last[number] = at
	c.counts[at]++
}

func (c *Counter) uncount(at int64) {
	if c.counts[at]--; c.counts[at] == 0 {
		delete(c.counts, at)
	}
}

// forget takes a member out. The caller holds mu.
func (c *Counter) forget(number member.Number) {
	if at, seen := c.last[number]; seen {
		c.uncount(at)
		delete(c.last, number)
	}
}

// Online is how many members are present now.
func (c *Counter) Online() int {
	oldest := c.now().Unix() - Window
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for at, count := range c.counts { // at most one entry for each second of the window, and those that Keep hasn't dropped yet
		if at >= oldest {
			n += count
		}
	}
	return n
}

// changesAtOnce is how many changes of the registry are read at once.
const changesAtOnce = 1000

// Follow takes in what has changed in the registry: who left isn't present any more.
func (c *Counter) Follow(ctx context.Context) error {
	for {
		c.mu.Lock()
		after := c.change
		c.mu.Unlock()
		list, err := c.registry.Changes(ctx, after, changesAtOnce)
		if err != nil || len(list) == 0 {
			return err
		}
		c.mu.Lock()
		for i := range list {
			if m := list[i].Member; m != nil && m.LeftAt > 0 {
				delete(c.numbers, m.ID)
				c.forget(m.Number)
			}
			c.change = list[i].Number
		}
		c.mu.Unlock()
	}
}

// Keep keeps who was seen in the minute that ended last, for the next process, and forgets who isn't present any more.
func (c *Counter) Keep(ctx context.Context, l *social.Lease) error {
	return c.keep(ctx, l, minuteOf(c.now().Unix())-60)
}

// End keeps who was seen in the present minute, for the next process.
func (c *Counter) End(ctx context.Context, l *social.Lease) error {
	return c.keep(ctx, l, minuteOf(c.now().Unix()))
}

// keep keeps who was seen since a minute began; whoever is seen later is kept with a later minute as well.
func (c *Counter) keep(ctx context.Context, l *social.Lease, minute int64) error {
	oldest := c.now().Unix() - Window
	c.mu.Lock()
	var present []member.Number
	for number, at := range c.last {
		switch {
		case at < oldest:
			c.forget(number)
		case at >= minute:
			present = append(present, number)
		}
	}
	c.mu.Unlock()
	slices.Sort(present)
	return c.store.KeepPresent(ctx, l, minute, present, minute-Window-60)
}
