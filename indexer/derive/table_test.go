package derive

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// wantCached compares the rows and absences that a table caches with the wanted keys, which are in alphabetical order.
func wantCached(t *testing.T, when string, cache *table[string, int], want ...string) {
	t.Helper()
	if got := slices.Sorted(slices.Values(cache.keys())); !slices.Equal(got, want) {
		t.Errorf("%s the table caches %q, want %q", when, got, want)
	}
}

// TestTrimDropsWhatTheLastCommitDidNotUse caches a row and an absence in each of two commits. An absence takes a place like a row.
func TestTrimDropsWhatTheLastCommitDidNotUse(t *testing.T) {
	t.Parallel()
	cache, one := newTable[string](same[int]), 1
	cache.put("older row", &one)
	cache.put("older absence", nil)
	cache.flush()
	cache.put("newer row", &one)
	cache.put("newer absence", nil)
	cache.flush()

	dropped := map[string]int{}
	drop := func(k string, v *int) { dropped[k] = *v }
	cache.trim(4, drop)
	wantCached(t, "at its limit", cache, "newer absence", "newer row", "older absence", "older row")
	cache.trim(3, drop)
	wantCached(t, "above its limit", cache, "newer absence", "newer row")
	if want := map[string]int{"older row": 1}; !maps.Equal(dropped, want) {
		t.Errorf("the dropped rows are %v, want %v", dropped, want)
	}
}

// TestAskingKeepsARowCached asks for a row and an absence of an earlier commit again, which marks both as used.
func TestAskingKeepsARowCached(t *testing.T) {
	t.Parallel()
	cache, one := newTable[string](same[int]), 1
	for _, row := range []string{"asked row", "other row"} {
		cache.put(row, &one)
	}
	for _, absence := range []string{"asked absence", "other absence"} {
		cache.put(absence, nil)
	}
	cache.flush()
	for _, k := range []string{"asked row", "asked absence"} {
		if !cache.cached(k) {
			t.Errorf("the table doesn't know %q", k)
		}
	}
	cache.flush()
	cache.trim(0, nil)
	wantCached(t, "after the next commit", cache, "asked absence", "asked row")
}

// TestATableIsAMap does random things to a table and to a map, and holds the one against the other. Few keys are in use, so that the key of one step is often that of the one
// before.
func TestATableIsAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	cache, want := newTable[int](same[int]), map[int]int{}
	for step := range 20_000 {
		k := random.IntN(3)
		switch what := random.IntN(8); {
		case what < 3:
			if !cache.cached(k) { // it was dropped
				delete(want, k)
				cache.put(k, nil)
			}
		case what == 3:
			*cache.edit(k) = step
			want[k] = step
		case what == 4:
			cache.remove(k)
			delete(want, k)
		case what == 5:
			cache.flush()
		case what == 6:
			cache.flush()
			cache.get(k)
			cache.drop(k)
			delete(want, k)
		default:
			cache.flush()
			cache.flush()
			if want[k] != 0 {
				cache.put(k, &step) // it is there already
			}
			cache.trim(0, nil)
			clear(want)
		}
		for k := range 3 {
			got, v := cache.get(k), 0
			if got != nil {
				v = *got
			}
			if known, ok := want[k]; ok != (got != nil) || known != v {
				t.Fatalf("after step %d row %d is %d (%t), want %d (%t)", step, k, v, got != nil, known, ok)
			}
		}
	}
}
