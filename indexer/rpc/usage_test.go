package rpc

import (
	"testing"
)

// TestUnitsOfCalls adds up what calls count by the usual units and by declared ones.
func TestUnitsOfCalls(t *testing.T) {
	t.Parallel()
	usual := Units{"eth_call": 26, "eth_getLogs": 60, "other": 20}
	all := []string{"eth_call", "eth_getLogs", "eth_getBlockByNumber", "eth_getBlockReceipts", "eth_getCode"}
	for name, c := range map[string]struct {
		declared map[string]int64
		want     []int64
	}{
		"usual":       {nil, []int64{26, 60, 20, 20, 20}},
		"one":         {map[string]int64{"eth_getLogs": 75}, []int64{26, 75, 20, 20, 20}},
		"others":      {map[string]int64{"other": 80}, []int64{26, 60, 80, 80, 80}},
		"all of them": {map[string]int64{"eth_call": 1, "eth_getLogs": 2, "eth_getBlockByNumber": 3, "eth_getBlockReceipts": 0, "other": 5}, []int64{1, 2, 3, 0, 5}},
	} {
		sum := int64(0)
		for i, m := range all {
			if got := usual.of(c.declared, m); got != c.want[i] {
				t.Errorf("%s: %s counts %d, want %d", name, m, got, c.want[i])
			}
			sum += c.want[i]
		}
		if got := usual.of(c.declared, all...); got != sum {
			t.Errorf("%s: together they count %d, want %d", name, got, sum)
		}
	}
}
