package view

import (
	"sync"
	"time"
)

// recent remembers values in two generations: when the younger one is full it becomes the older one, so that what is asked
// for stays and what isn't goes.
type recent[K comparable, V any] struct {
	most       int
	mu         sync.Mutex
	young, old map[K]dated[V]
}

type dated[V any] struct {
	value V
	at    time.Time
}

// newRecent remembers up to most values.
func newRecent[K comparable, V any](most int) recent[K, V] {
	return recent[K, V]{most: most, young: make(map[K]dated[V])}
}

func (c *recent[K, V]) get(key K) (dated[V], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hit, ok := c.young[key]
	if !ok {
		hit, ok = c.old[key]
	}
	return hit, ok
}

func (c *recent[K, V]) put(key K, value V, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= c.most/2 {
		c.young, c.old = make(map[K]dated[V], c.most/2), c.young
	}
	c.young[key] = dated[V]{value, at}
}
