package holders

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestExactlyTheCapIsFine: a job is beyond a cap with one more than it, and not with as many.
func TestExactlyTheCapIsFine(t *testing.T) {
	t.Parallel()
	h := &Backfill{caps: chainconfig.HolderCaps{Accounts: 5, Transfers: 6}, ranges: 7}
	for want, more := range map[market.HolderCap]market.HolderJob{
		"": {}, market.CapAccounts: {Accounts: 1}, market.CapTransfers: {Transfers: 1}, market.CapRanges: {Ranges: 1},
	} {
		j := market.HolderJob{Accounts: 5 + more.Accounts, Transfers: 6 + more.Transfers, Ranges: 7 + more.Ranges}
		if got := h.beyond(&j); got != want {
			t.Errorf("%+v is beyond %q, want %q", j, got, want)
		}
	}
}

// TestWidthOfAPast: a range begins with the width that the last one ended with; a width that a node refused is tried again after 64 ranges.
func TestWidthOfAPast(t *testing.T) {
	t.Parallel()
	w := &width{blocks: widestRange}
	read := func(answered uint64, transfers int, want uint64) {
		t.Helper()
		if w.learn(w.blocks, min(w.blocks, answered), transfers); w.blocks != want {
			t.Errorf("the next range has %d blocks, want %d", w.blocks, want)
		}
	}
	read(2_000, 10, 2_000) // refused
	for range refusedFor {
		read(2_000, 10, 2_000)
	}
	read(10_000, 10, 4_000) // tried again
	read(2_000, 10, 2_000)  // and refused again
	read(2_000, manyLogs+1, 1_000)
	read(2_000, manyLogs, 1_000)
	read(2_000, fewLogs, 1_000)
	read(2_000, fewLogs-1, 2_000)
	if w.learn(7, 7, 0); w.blocks != 2_000 {
		t.Errorf("the end of a past makes it %d blocks", w.blocks)
	}
}
