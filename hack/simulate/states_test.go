package main

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestStatesAreGoneBesideNoLiar: states are gone at every endpoint under some seeds and at the first under others, on either database, for a while that ends with the faults, and never
// beside a lie.
func TestStatesAreGoneBesideNoLiar(t *testing.T) {
	t.Parallel()
	isGone := func(f NodeFault) bool { return f.Fault == statePruned }
	everywhere, first := map[string]int{}, 0
	for seed := uint64(1); seed < 1000; seed++ {
		p := draw(seed, familyEVM)
		with := 0
		for _, n := range p.Nodes {
			i := slices.IndexFunc(n.Faults, isGone)
			if i < 0 {
				continue
			}
			with++
			if f := n.Faults[i]; f.From >= f.To || f.To > p.Blocks || f.Ever || p.hasLiar() {
				t.Errorf("seed %d: states are gone in %d blocks as %+v says, and a liar is there: %t", seed, p.Blocks, f, p.hasLiar())
			}
		}
		switch with {
		case 0:
		case len(p.Nodes):
			everywhere[p.Database]++
		case 1:
			first++
		default:
			t.Errorf("seed %d: states are gone at %d of %d endpoints", seed, with, len(p.Nodes))
		}
	}
	if everywhere["sqlite"] < 20 || everywhere["postgres"] < 20 || first < 5 {
		t.Errorf("of 999 seeds, states are gone everywhere in %v, and at the first endpoint alone in %d", everywhere, first)
	}
}

// TestRefusedStatesAreRemembered by the number or the hash by which a call names the block, and calls for other things aren't.
func TestRefusedStatesAreRemembered(t *testing.T) {
	t.Parallel()
	n := &node{refused: &refusals{}}
	for _, text := range []string{
		`{"method":"eth_call","params":[{},"latest"]}`,
		`{"method":"eth_getCode","params":["0x01","0x7"]}`,
		`{"method":"eth_getBlockByNumber","params":["0x7",false]}`,
	} {
		c := &call{}
		if err := json.Unmarshal([]byte(text), c); err != nil {
			t.Fatal(err)
		}
		if pruned(n, c); n.refused.any() {
			t.Fatalf("%s is remembered: %v", text, n.refused.blocks)
		}
	}
	for _, text := range []string{
		`{"method":"eth_call","params":[{},"0x1f"]}`,
		`{"method":"eth_call","params":[{},{"blockHash":"0xab","requireCanonical":true}]}`,
	} {
		c := &call{}
		if err := json.Unmarshal([]byte(text), c); err != nil {
			t.Fatal(err)
		}
		pruned(n, c)
	}
	if !n.refused.any() || !n.refused.has(31, "0xcd") || !n.refused.has(40, "0xab") || n.refused.has(40, "0xcd") {
		t.Errorf("%v are remembered", n.refused.blocks)
	}
}
