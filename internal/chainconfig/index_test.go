package chainconfig_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

func TestIndexID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chain      string
		generation int64
		want       string
	}{{"base", 1, "base"}, {"base", 2, "base~2"}, {"base-sepolia", 17, "base-sepolia~17"}} {
		id := chainconfig.IndexID(c.chain, c.generation)
		chain, generation := chainconfig.ChainOfIndex(id)
		if id != c.want || chain != c.chain || generation != c.generation {
			t.Errorf("generation %d of %s is %q, and that is generation %d of %q", c.generation, c.chain, id, generation, chain)
		}
	}
	if id := chainconfig.IndexID("base", 0); id != "base" {
		t.Errorf("without a generation the index is %q", id)
	}
	for _, none := range []string{"base~", "base~1", "base~0", "base~x", "base~-2"} {
		if chain, generation := chainconfig.ChainOfIndex(none); chain != none || generation != 1 {
			t.Errorf("%q is generation %d of %q", none, generation, chain)
		}
	}
}
