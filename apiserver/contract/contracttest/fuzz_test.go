package contracttest

import (
	"net/http"
	"testing"
)

func worldSeeds() Seeds {
	return Seeds{
		Values: map[string][]string{
			"mint": {"0x4ed4e862860bed51a9570b96d89af5e1b0efefed"}, "mint_address": {"So11111111111111111111111111111111111111112"}, "chain": {"base", "bsc"},
		},
		Moving: []string{"getHeartbeat"},
	}
}

// A server that keeps the contract passes.
func TestFuzzPasses(t *testing.T) {
	t.Parallel()
	kit := fresh(t)
	kit.Fuzz(t, newFake(t, kit, fault{}).do, worldSeeds())
}

var _ = http.MethodGet
