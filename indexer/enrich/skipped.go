package enrich

import (
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Of the past, blocks without events don't come, and an index that followed the chain may have kept a state or a supply of such a block. Nothing of ours happened
// between it and the next block that comes, so that they hold before that one, too.

// firstUnseen is the first block of which nothing was taken in: a batch may have ended with blocks that didn't come.
func (e *enrichment) firstUnseen() uint64 {
	first, last := e.blocks[0].Number, e.state.Last()
	if last.Hash.IsZero() {
		return first
	}
	next := last.Number + 1
	if e.lastSeen > 0 && e.lastSeen < next {
		next = e.lastSeen + 1
	}
	return min(next, first)
}

// skip hands the kept states and supplies of blocks that don't come to the next block that does. Of several about one pool or token the newest counts.
func (e *enrichment) skip() {
	e.skipped = map[uint64][]market.Fact{}
	i := 0
	for _, number := range slices.Sorted(maps.Keys(e.kept)) {
		for i < len(e.blocks) && e.blocks[i].Number < number {
			i++
		}
		if i == len(e.blocks) {
			return
		}
		if next := e.blocks[i].Number; next != number {
			e.skipped[next] = handOn(e.skipped[next], e.kept[number])
		}
	}
}

// handOn adds a block's states, with what their pools are, and supplies to those of the blocks before it.
func handOn(list []market.Fact, facts []store.StoredFact) []market.Fact {
	for _, f := range facts {
		var same func(market.Fact) bool
		switch f := f.Fact.(type) {
		case market.PoolStateFact:
			same = isStateOf(f.Pool)
		case market.PoolFact:
			if !slices.ContainsFunc(facts, func(of store.StoredFact) bool { return isStateOf(f.Pool)(of.Fact) }) {
				continue
			}
			same = isPoolFactOf(f.Pool)
		case market.SupplyFact:
			same = isSupplyOf(f.Token)
		default:
			continue
		}
		list = append(slices.DeleteFunc(list, same), f.Fact)
	}
	return list
}
