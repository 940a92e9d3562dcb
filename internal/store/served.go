package store

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// served says which index of each chain is read. It changes with Chains alone, so that whatever is read between two calls is of the same indexes:
// the rows of one that was replaced stay for longer than that.
type served struct {
	// later has the index of each chain whose first one isn't served.
	later atomic.Pointer[map[string]string]
}

// Served is the same store for who serves answers: chains go by their ids, and of each the index is read that is served. Chains has to be called
// now and then. It is closed with the store.
func (s *Store) Served() *Store {
	later := &served{}
	later.later.Store(&map[string]string{})
	out := newStore(s.db, later)
	out.Social = s.Social // which knows the numbers that this process has taken
	return out
}

// take goes by the indexes that are served, and gives their rows.
func (v *served) take(rows []chainRow) []chainRow {
	if v == nil {
		return rows
	}
	later := map[string]string{}
	rows = slices.DeleteFunc(rows, func(r chainRow) bool { return !r.Served })
	for i := range rows {
		if chain, generation := chainconfig.ChainOfIndex(rows[i].ID); generation > 1 {
			later[chain] = rows[i].ID
		}
	}
	v.later.Store(&later)
	return rows
}

// indexOf is the index of a chain that is read.
func (v *served) indexOf(chain string) string {
	if v == nil {
		return chain
	}
	if index, ok := (*v.later.Load())[chain]; ok {
		return index
	}
	return chain
}

// indexesOf gives the indexes that are served of some chains.
func (v *served) indexesOf(chains []string) []any {
	out := make([]any, len(chains))
	for i, c := range chains {
		out[i] = v.indexOf(c)
	}
	return out
}

// chainOf is the chain of an index; ok is false where the index isn't read.
func (v *served) chainOf(index string) (chain string, ok bool) {
	if v == nil {
		return index, true
	}
	chain, _ = chainconfig.ChainOfIndex(index)
	return chain, v.indexOf(chain) == index
}

// onlyServed leaves out what isn't of an index that is read, and puts the chains' ids in the place of the indexes'. The rest is in the order of
// the chains.
func onlyServed[V any](v *served, rows []V, chain func(*V) *string) []V {
	if v == nil {
		return rows
	}
	kept, sorted := 0, true
	for i := range rows { // by their places, as rows are large
		id := chain(&rows[i])
		served, ok := v.chainOf(*id)
		if !ok {
			continue
		}
		*id = served
		if kept > 0 && *chain(&rows[kept-1]) > served {
			sorted = false
		}
		if kept < i {
			rows[kept] = rows[i]
		}
		kept++
	}
	clear(rows[kept:])
	rows = rows[:kept]
	if !sorted {
		slices.SortStableFunc(rows, func(a, b V) int { return strings.Compare(*chain(&a), *chain(&b)) })
	}
	return rows
}
