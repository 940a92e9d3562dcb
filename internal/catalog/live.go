package catalog

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// Live holds the catalogue as it is now. One goroutine replaces it, any number read it.
type Live struct {
	now atomic.Pointer[Catalog]

	mu      sync.Mutex
	changed chan struct{}
}

// NewLive starts with c.
func NewLive(c *Catalog) *Live {
	l := &Live{changed: make(chan struct{})}
	l.now.Store(c)
	return l
}

// Now is the newest catalogue. It isn't changed by whoever has it.
func (l *Live) Now() *Catalog { return l.now.Load() }

// Changed gives the newest catalogue and a channel that is closed when there is a newer one.
func (l *Live) Changed() (*Catalog, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now.Load(), l.changed
}

// Replace puts c in the place of the newest catalogue and reports whether they differ.
func (l *Live) Replace(c *Catalog) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if reflect.DeepEqual(l.now.Load(), c) {
		return false
	}
	l.now.Store(c)
	close(l.changed)
	l.changed = make(chan struct{})
	return true
}
