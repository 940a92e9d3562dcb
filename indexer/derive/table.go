package derive

import (
	"maps"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// table is a bounded cache of rows that remembers what each changed row was when the commit began. Rows that are known
// not to exist are cached too: most tokens that a block moves are no launches, and their absence costs a key instead of a row.
type table[K comparable, V any] struct {
	rows map[K]*row[V]
	// absent are the keys without a row, each with the commit that used it last.
	absent map[K]uint32
	dirty  []dirty[K, V]
	gen    uint32 // counts commits; tells what a commit used
	// last is the row that was found last, and lastKey its key: deriving a trade often looks up one row again at once. last is nil while none was found.
	lastKey K
	last    *row[V]
	// equal spares a write when a row ends as it began.
	equal func(a, b *V) bool
}

// row is as small as it can be: there is one for each of 100,000 watched wallets.
type row[V any] struct {
	v       V
	used    uint32
	exists  bool
	changed bool
}

// dirty is a changed row as it was when the commit began; before is nil where it didn't exist.
type dirty[K comparable, V any] struct {
	key    K
	before *V
}

func newTable[K comparable, V any](equal func(a, b *V) bool) *table[K, V] {
	return &table[K, V]{rows: make(map[K]*row[V]), absent: make(map[K]uint32), equal: equal}
}

func same[V comparable](a, b *V) bool { return *a == *b }

// find is the row that the table has of a key, nil when there is none.
func (t *table[K, V]) find(k K) *row[V] {
	if t.last != nil && t.lastKey == k {
		return t.last
	}
	r := t.rows[k]
	if r != nil {
		t.lastKey, t.last = k, r
	}
	return r
}

// cached reports whether the table knows the row or its absence, and marks it as used.
func (t *table[K, V]) cached(k K) bool {
	if r := t.find(k); r != nil {
		r.used = t.gen
		return true
	}
	used, ok := t.absent[k]
	if ok && used != t.gen {
		t.absent[k] = t.gen
	}
	return ok
}

// put stores a row as it is in the database; nil is "not there". What the cache has already stays.
func (t *table[K, V]) put(k K, v *V) {
	if t.find(k) != nil {
		return
	}
	if v == nil {
		t.absent[k] = t.gen
		return
	}
	if _, ok := t.absent[k]; !ok {
		t.rows[k] = &row[V]{v: *v, exists: true, used: t.gen}
	}
}

// get is the row for reading, nil when there is none.
func (t *table[K, V]) get(k K) *V {
	r := t.find(k)
	if r == nil || !r.exists {
		return nil
	}
	r.used = t.gen
	return &r.v
}

// edit is the row for changing; it is made, zero, where there was none.
func (t *table[K, V]) edit(k K) *V {
	r := t.find(k)
	if r == nil {
		r = &row[V]{}
		t.rows[k] = r
		delete(t.absent, k)
	}
	t.touch(k, r)
	r.exists = true
	return &r.v
}

// remove takes the row out.
func (t *table[K, V]) remove(k K) {
	r := t.find(k)
	if r == nil || !r.exists {
		return
	}
	t.touch(k, r)
	var zero V
	r.v, r.exists = zero, false
}

func (t *table[K, V]) touch(k K, r *row[V]) {
	r.used = t.gen
	if r.changed {
		return
	}
	r.changed = true
	d := dirty[K, V]{key: k}
	if r.exists {
		before := r.v
		d.before = &before
	}
	t.dirty = append(t.dirty, d)
}

// flush lists what changed since the last flush and starts the next commit.
func (t *table[K, V]) flush() []market.Change[K, V] {
	t.last = nil
	out := make([]market.Change[K, V], 0, len(t.dirty))
	for _, d := range t.dirty {
		r := t.rows[d.key]
		c := market.Change[K, V]{Key: d.key, Before: d.before}
		r.changed = false
		if r.exists {
			if c.Before != nil && t.equal(c.Before, &r.v) {
				continue
			}
			after := r.v
			c.After = &after
		} else {
			delete(t.rows, d.key)
			t.absent[d.key] = t.gen
			if c.Before == nil {
				continue
			}
		}
		out = append(out, c)
	}
	clear(t.dirty) // of the pointers
	t.dirty = t.dirty[:0]
	t.gen++
	return out
}

// size counts the rows and absences that are cached.
func (t *table[K, V]) size() int { return len(t.rows) + len(t.absent) }

// drop forgets what the table knows of a key. It must not be called between a change and its flush.
func (t *table[K, V]) drop(k K) {
	t.last = nil
	delete(t.rows, k)
	delete(t.absent, k)
}

func (t *table[K, V]) dropAll(keys []K) {
	for _, k := range keys {
		t.drop(k)
	}
}

// trim drops rows that the last commit did not use, once there are more than limit. It must not be called between a
// change and its flush.
func (t *table[K, V]) trim(limit int, dropped func(K, *V)) {
	if t.size() <= limit {
		return
	}
	t.last = nil
	for k, r := range t.rows {
		if r.used+1 >= t.gen {
			continue
		}
		if dropped != nil {
			dropped(k, &r.v)
		}
		delete(t.rows, k)
	}
	maps.DeleteFunc(t.absent, func(_ K, used uint32) bool { return used+1 < t.gen })
}
