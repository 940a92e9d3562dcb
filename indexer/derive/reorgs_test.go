package derive_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// reorganised applies blocks one by one, and takes some back now and then by the before-images and reads them again.
func reorganised(t *rapid.T, c *chainconfig.Chain, blocks []market.Block, limit int) *indexer {
	x := newIndexer(t, c, limit)
	var commits []market.Changes
	top := 0
	for i := 0; i < len(blocks); {
		commits = append(commits, x.apply(t, blocks[i:i+1], blocks[i].Header))
		i++
		top = max(top, i)
		room := i - max(0, top-reach) // below the horizon of the highest block nothing can be undone
		if room == 0 || rapid.IntRange(0, 5).Draw(t, "reorg") > 0 {
			continue
		}
		depth := rapid.IntRange(1, room).Draw(t, "depth")
		undone := slices.Clone(commits[i-depth:])
		for range depth {
			i--
			x.db.undo(t, &commits[len(commits)-1])
			commits = commits[:len(commits)-1]
		}
		last := genesis
		if i > 0 {
			last = blocks[i-1].Header
		}
		if rapid.Bool().Draw(t, "restart") {
			x.restart(last)
		} else {
			x.rewind(t, last, undone)
		}
	}
	return x
}

// TestReorgs: blocks that were undone by the before-images and read again leave the rows that they would have left the
// first time.
func TestReorgs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		blocks, c := drawStory(t)
		straight := newIndexer(t, c, 100_000)
		batched(t, straight, blocks, func() int { return 1 }, false)
		x := reorganised(t, c, blocks, rapid.SampledFrom([]int{0, 10, 100_000}).Draw(t, "limit"))
		if d := straight.db.differences(x.db); len(d) > 0 {
			t.Fatalf("straight on and after reorgs the rows differ:\n%s", strings.Join(d, "\n"))
		}
	})
}
