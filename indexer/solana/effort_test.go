package solana

import (
	"fmt"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// TestPastTakesWhatPeopleAreTold counts the calls for a past of more than one list of slots: people are told before they have a chain indexed anew.
func TestPastTakesWhatPeopleAreTold(t *testing.T) {
	w := newWorld(600)
	parent, last := w.Blocks[0].Header, w.Blocks[len(w.Blocks)-1].Number
	slots, blocks, drawn := last-parent.Number, len(w.Blocks)-1, 0
	for i := range w.Blocks[1:] {
		if chain.Drawn(w.Blocks[1+i].Hash) {
			drawn++
		}
	}
	if int(slots) == blocks || slots < 2*chainconfig.PastSlots || drawn < blocks/20 || drawn > blocks/5 {
		t.Fatalf("%d slots with %d blocks, of which %d are drawn", slots, blocks, drawn)
	}
	told := chainconfig.EffortOf(chainconfig.Solana, parent.Number+1, last, 0)
	for name, x := range map[string]struct{ endpoints, more int }{"one endpoint": {1, 0}, "two endpoints": {2, drawn}} {
		t.Run(name, func(t *testing.T) {
			nodes := nodesOf(t, w, make([]lie, x.endpoints)...)
			s, _ := sourceOf(t, nodes...)
			for _, err := range s.Backfill(t.Context(), parent, parent.Number+1, last) {
				if err != nil {
					t.Fatal(err)
				}
			}
			asked := map[string]int{}
			for _, n := range nodes {
				for _, method := range []string{"getBlocks", "getBlock", "getSlot", "getMultipleAccounts"} {
					asked[method] += n.Asked(method)
				}
			}
			// A slot without a block is reckoned with, and takes no call.
			empty := int(slots) - blocks
			want := map[string]int{"getBlocks": int(told.Calls - told.Blocks), "getBlock": int(told.Blocks) - empty + x.more, "getSlot": 0, "getMultipleAccounts": 0}
			if fmt.Sprint(asked) != fmt.Sprint(want) {
				t.Errorf("it takes %v, want %v", asked, want)
			}
		})
	}
}
