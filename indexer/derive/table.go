package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// table is a bounded cache of rows that remembers what each changed row was when the commit began. Rows that are known
// not to exist are cached too.
type table[K comparable, V any] struct {
	rows  map[K]*row[V]
	dirty []K
	gen   uint64 // counts commits; tells what a commit used
	// equal spares a write when a row ends as it began.
	equal func(a, b *V) bool
}

type row[V any] struct {
	v       V
	exists  bool
	changed bool
	before  V
	existed bool
	used    uint64
}

func newTable[K comparable, V any](equal func(a, b *V) bool) *table[K, V] {
	return &table[K, V]{rows: make(map[K]*row[V]), equal: equal}
}

func same[V comparable](a, b *V) bool { return *a == *b }

// cached reports whether the table knows the row or its absence, and marks it as used.
func (t *table[K, V]) cached(k K) bool {
	r, ok := t.rows[k]
	if ok {
		r.used = t.gen
	}
	return ok
}

// put stores a row as it is in the database; nil is "not there". What the cache has already stays.
func (t *table[K, V]) put(k K, v *V) {
	if _, ok := t.rows[k]; ok {
		return
	}
	r := &row[V]{used: t.gen}
	if v != nil {
		r.v, r.exists = *v, true
	}
	t.rows[k] = r
}

// get is the row for reading, nil when there is none.
func (t *table[K, V]) get(k K) *V {
	r, ok := t.rows[k]
	if !ok || !r.exists {
		return nil
	}
	r.used = t.gen
	return &r.v
}

// edit is the row for changing; it is made, zero, where there was none.
func (t *table[K, V]) edit(k K) *V {
	r, ok := t.rows[k]
	if !ok {
		r = &row[V]{}
		t.rows[k] = r
	}
	t.touch(k, r)
	r.exists = true
	return &r.v
}

// remove takes the row out.
func (t *table[K, V]) remove(k K) {
	r, ok := t.rows[k]
	if !ok || !r.exists {
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
	r.changed, r.before, r.existed = true, r.v, r.exists
	t.dirty = append(t.dirty, k)
}

// flush lists what changed since the last flush and starts the next commit.
func (t *table[K, V]) flush() []market.Change[K, V] {
	out := make([]market.Change[K, V], 0, len(t.dirty))
	for _, k := range t.dirty {
		r := t.rows[k]
		r.changed = false
		if r.existed == r.exists && (!r.exists || t.equal(&r.before, &r.v)) {
			continue
		}
		c := market.Change[K, V]{Key: k}
		if r.existed {
			before := r.before
			c.Before = &before
		}
		if r.exists {
			after := r.v
			c.After = &after
		}
		out = append(out, c)
	}
	t.dirty = t.dirty[:0]
	t.gen++
	return out
}

// trim drops rows that the last commit did not use, once there are more than limit. It must not be called between a
// change and its flush.
func (t *table[K, V]) trim(limit int, dropped func(K, *V)) {
	if len(t.rows) <= limit {
		return
	}
	for k, r := range t.rows {
		if r.used+1 >= t.gen {
			continue
		}
		if dropped != nil && r.exists {
			dropped(k, &r.v)
		}
		delete(t.rows, k)
	}
}
