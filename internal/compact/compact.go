// Package compact keeps very many values by their keys in few bytes.
package compact

import (
	"hash/maphash"
	"iter"
)

// perPage is how many values a page has. A page of values of 32 bytes and more fits without a rest into the memory that Go's allocator gives for it.
const perPage = 1024

// Map has values that contain their keys. A map of many values takes 11 to 22 bytes for each besides the value. Room is made for 1,024 values at a time,
// and kept. A Go map has each key once more, leaves an eighth to a half of its places free, and each free place is as large as key and value.
//
// A value stays at its place until it is removed: places are small numbers to name values by, and pointers to values stay valid. The place of a
// removed value may become that of another. Goroutines may read a map together, but not while one changes it.
type Map[K comparable, V any] struct {
	key  func(*V) K
	hash func(K) uint32
	// slots have a value each, or none: the one that the key's hash names, or the next free one after it. How many there are is a power of two.
	slots []slot
	pages []*[perPage]V
	// used has a bit for each place, which is 1 where there is a value.
	used  []uint64
	free  []uint32 // places of removed values
	count int
}

// slot has the place of a value plus 1, 0 for none, and half of the hash of its key.
type slot struct{ hash, place uint32 }

// New makes an empty map of values of which key tells the key. The key of a value must not change while it is in the map.
func New[K comparable, V any](key func(*V) K) *Map[K, V] {
	seed := maphash.MakeSeed()
	return &Map[K, V]{key: key, hash: func(k K) uint32 { return uint32(maphash.Comparable(seed, k)) }}
}

// Len is how many values there are.
func (m *Map[K, V]) Len() int { return m.count }

// Places is how many places there are: each value's is below.
func (m *Map[K, V]) Places() int { return len(m.pages) * perPage }

// At is the value at a place that Place or Put gave.
func (m *Map[K, V]) At(place uint32) *V { return &m.pages[place/perPage][place%perPage] }

// Find gives the value with a key, or nil if there is none.
func (m *Map[K, V]) Find(key K) *V {
	if place, ok := m.Place(key); ok {
		return m.At(place)
	}
	return nil
}

// Place gives the place of the value with a key.
func (m *Map[K, V]) Place(key K) (place uint32, ok bool) {
	if m.count == 0 {
		return 0, false
	}
	at := m.slots[m.slot(key, m.hash(key))].place
	return at - 1, at > 0
}

// Put adds a value, or puts it in the place of the one with the same key. It gives its place.
func (m *Map[K, V]) Put(v V) (place uint32) {
	if 4*(m.count+1) > 3*len(m.slots) {
		m.grow()
	}
	key := m.key(&v)
	hash := m.hash(key)
	s := &m.slots[m.slot(key, hash)]
	if s.place == 0 {
		*s = slot{hash, m.take() + 1}
	}
	place = s.place - 1
	*m.At(place) = v
	return place
}

// Remove removes the value with a key, if there is one.
func (m *Map[K, V]) Remove(key K) {
	if m.count == 0 {
		return
	}
	i := m.slot(key, m.hash(key))
	if m.slots[i].place == 0 {
		return
	}
	m.give(m.slots[i].place - 1)
	// Values that come later than their hash says, because this slot was taken, move up.
	mask := len(m.slots) - 1
	for next := (i + 1) & mask; m.slots[next].place > 0; next = (next + 1) & mask {
		if late := (next - int(m.slots[next].hash)) & mask; late >= (next-i)&mask {
			m.slots[i], i = m.slots[next], next
		}
	}
	m.slots[i] = slot{}
}

// All gives all values, by their places. Values may be removed meanwhile; one that is added meanwhile may be left out.
func (m *Map[K, V]) All() iter.Seq[*V] {
	return func(yield func(*V) bool) {
		for place := uint32(0); int(place) < len(m.pages)*perPage; place++ {
			if m.isUsed(place) && !yield(m.At(place)) {
				return
			}
		}
	}
}

// slot finds the slot of the value with a key, or the free slot that it would take.
func (m *Map[K, V]) slot(key K, hash uint32) int {
	mask := len(m.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		if s := m.slots[i]; s.place == 0 || s.hash == hash && m.key(m.At(s.place-1)) == key {
			return i
		}
	}
}

// grow doubles the slots.
func (m *Map[K, V]) grow() {
	const least = 8
	last := m.slots
	m.slots = make([]slot, max(least, 2*len(last)))
	mask := len(m.slots) - 1
	for _, s := range last {
		if s.place == 0 {
			continue
		}
		i := int(s.hash) & mask
		for m.slots[i].place > 0 {
			i = (i + 1) & mask
		}
		m.slots[i] = s
	}
}

// take gives a free place, which is in use from then on.
func (m *Map[K, V]) take() (place uint32) {
	if n := len(m.free); n > 0 {
		place, m.free = m.free[n-1], m.free[:n-1]
	} else {
		place = uint32(m.count) // all places before it are in use
		if int(place) == len(m.pages)*perPage {
			m.pages = append(m.pages, new([perPage]V))
			m.used = append(m.used, make([]uint64, perPage/64)...)
		}
	}
	m.used[place/64] |= 1 << (place % 64)
	m.count++
	return place
}

// give has a place be free.
func (m *Map[K, V]) give(place uint32) {
	var none V
	*m.At(place) = none
	m.used[place/64] &^= 1 << (place % 64)
	m.free = append(m.free, place)
	m.count--
}

func (m *Map[K, V]) isUsed(place uint32) bool { return m.used[place/64]&(1<<(place%64)) != 0 }
