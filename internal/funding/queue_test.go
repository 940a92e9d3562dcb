package funding_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/funding"
)

// TestQueueDropsItsFront: what was dropped takes up to an eighth of the memory, and goes with the next drop. What stays is in order.
func TestQueueDropsItsFront(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		drops       []int
		first, gone int
	}{
		{nil, 0, 0}, {[]int{1}, 1, 1}, {[]int{2}, 2, 2}, {[]int{3}, 3, 0}, {[]int{2, 1}, 3, 0}, {[]int{3, 1}, 4, 1},
	} {
		list, gone := funding.Queued(16, tt.drops...)
		if len(list) != 16-tt.first || list[0] != tt.first || list[len(list)-1] != 15 || gone != tt.gone {
			t.Errorf("after the drops %v there are %v, and %d dropped ones; want those from %d on, and %d", tt.drops, list, gone, tt.first, tt.gone)
		}
	}
}
