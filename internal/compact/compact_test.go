package compact

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"
)

type pair struct{ key, value int }

func newPairs() *Map[int, pair] { return New(func(p *pair) int { return p.key }) }

// TestTheSameAsAMap does to a map and to a Go map the same at random: with hashes as they are, with few that are different, and with those of the last slots.
func TestTheSameAsAMap(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]func(int) uint32{
		"as it is": newPairs().hash, "one": func(int) uint32 { return 0 }, "three": func(key int) uint32 { return uint32(key % 3) },
		"the last": func(key int) uint32 { return ^uint32(key % 2) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				rng := rand.New(rand.NewPCG(seed, 0))
				most, steps := 3*perPage, 20_000
				if name != "as it is" { // a look goes through all slots
					most, steps = 60, 2_000
				}
				m := newPairs()
				m.hash = hash
				sameAsAMap(t, rng, m, 1+rng.IntN(most), steps)
			}
		})
	}
}

func sameAsAMap(t *testing.T, rng *rand.Rand, got *Map[int, pair], keys, steps int) {
	t.Helper()
	want := map[int]int{}
	for range steps {
		key := rng.IntN(keys)
		if rng.IntN(5) < 2 {
			got.Remove(key)
			delete(want, key)
			continue
		}
		value := rng.Int()
		place := got.Put(pair{key, value})
		want[key] = value
		if found, ok := got.Place(key); !ok || found != place || got.At(place).value != value {
			t.Fatalf("%d was put at %d and is at %d", key, place, found)
		}
	}
	all := map[int]int{}
	for p := range got.All() {
		all[p.key] = p.value
	}
	if got.Len() != len(want) || !maps.Equal(all, want) {
		t.Fatalf("%d values are there, want %d", got.Len(), len(want))
	}
	for key := range keys {
		value, there := want[key]
		if p := got.Find(key); there != (p != nil) || there && p.value != value {
			t.Fatalf("%v for %d, want %d, %t", p, key, value, there)
		}
	}
}

// TestValuesStay has pointers and places be those of the same values while others come and go.
func TestValuesStay(t *testing.T) {
	t.Parallel()
	m := newPairs()
	place := m.Put(pair{-1, 1})
	p := m.At(place)
	for key := range 5 * perPage {
		m.Put(pair{key, key})
	}
	for key := range 5 * perPage {
		m.Remove(key)
	}
	if p != m.Find(-1) || p != m.At(place) || p.value != 1 || m.Len() != 1 {
		t.Errorf("the value is %v now, of %d", m.Find(-1), m.Len())
	}
	for key := range 5 * perPage {
		m.Put(pair{key, key})
	}
	if len(m.pages) != 6 {
		t.Errorf("there are %d pages: places of removed values are not used again", len(m.pages))
	}
}

// TestValuesAreRemovedWhileAllAreGiven removes each value, and the one after it, as it is given.
func TestValuesAreRemovedWhileAllAreGiven(t *testing.T) {
	t.Parallel()
	m := newPairs()
	for key := range 100 {
		m.Put(pair{key, key})
	}
	var given []int
	for p := range m.All() {
		key := p.key
		given = append(given, key)
		m.Remove(key)
		m.Remove(key + 1)
	}
	if len(given) != 50 || m.Len() != 0 {
		t.Errorf("%v were given, %d are left", given, m.Len())
	}
}

// TestAnEmptyMap has nothing.
func TestAnEmptyMap(t *testing.T) {
	t.Parallel()
	m := newPairs()
	m.Remove(1)
	if p := m.Find(1); p != nil || m.Len() != 0 {
		t.Errorf("%v of %d", p, m.Len())
	}
	for p := range m.All() {
		t.Errorf("%v is given", p)
	}
}

type large struct {
	key [5]uint64
	_   [3]uint64
}

func keyOfLarge(i int) [5]uint64 { return [5]uint64{uint64(i)} }

// BenchmarkFind looks up values of 64 bytes, half of which aren't there, and tells the bytes that each takes.
func BenchmarkFind(b *testing.B) {
	const n = 150_000
	b.Run("compact", func(b *testing.B) {
		before := live()
		m := New(func(l *large) [5]uint64 { return l.key })
		for i := range n {
			m.Put(large{key: keyOfLarge(i)})
		}
		each := float64(live()-before) / n
		for i := 0; b.Loop(); i++ {
			m.Find(keyOfLarge(i * 7919 % (2 * n)))
		}
		b.ReportMetric(each, "B/value")
	})
	b.Run("Go's", func(b *testing.B) {
		before := live()
		m := map[[5]uint64][3]uint64{}
		for i := range n {
			m[keyOfLarge(i)] = [3]uint64{}
		}
		each := float64(live()-before) / n
		for i := 0; b.Loop(); i++ {
			_ = m[keyOfLarge(i*7919%(2*n))]
		}
		b.ReportMetric(each, "B/value")
	})
}

func live() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
