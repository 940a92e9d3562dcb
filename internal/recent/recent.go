// Package recent has a cache of bounded size that keeps the values that were put in last.
package recent

import (
	"sync"
	"time"
)

// Dated is a value with the time at which it was read.
type Dated[V any] struct {
	Value V
	At    time.Time
}

// Cache holds its values in two halves. When the younger half is full it becomes the older one, and the values of the older one are dropped. Get
// doesn't count as use: only Put keeps a value. Several goroutines may use it.
type Cache[K comparable, V any] struct {
	half       int
	mu         sync.Mutex
	young, old map[K]V
}

// New makes a cache of at most so many values, of which there are two at least.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{half: max(most/2, 1), young: map[K]V{}}
}

// Get is the value that was put in for a key last; ok is false where it is gone.
func (c *Cache[K, V]) Get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok = c.young[key]; !ok {
		v, ok = c.old[key]
	}
	return v, ok
}

// Put remembers a value for a key in place of any other.
func (c *Cache[K, V]) Put(key K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.young[key]; !there && len(c.young) >= c.half {
		c.young, c.old = make(map[K]V, c.half), c.young
	}
	c.young[key] = v
}
