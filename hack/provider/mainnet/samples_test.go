package mainnet

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/api/v1alpha1"
	"github.com/boardwalkhq/boardwalk/internal/catalog/files"
)

// TestEverySampleHasAStandIn starts a stand-in of each EVM chain of the samples, and asks whether each declared address has a contract and
// each exchange a pool.
func TestEverySampleHasAStandIn(t *testing.T) {
	t.Parallel()
	all, err := files.Load(samples)
	if err != nil {
		t.Fatal(err)
	}
	chains := 0
	for _, m := range all.Chains {
		spec := m.Resource.Spec
		if spec.Family != v1alpha1.FamilyEVM {
			continue
		}
		chains++
		t.Run(spec.ID, func(t *testing.T) {
			t.Parallel()
			m, err := Start(t.Context(), Options{Samples: samples, Chain: spec.ID, Seed: 1, Txs: 2, Logs: 5, VolumeV2: 2, VolumeV3: 1, Before: 3, Past: 2})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { m.Close() })
			declared := map[string]string{"multicall": multicall3}
			for _, q := range spec.QuoteAssets {
				declared[string(q.Symbol)] = string(q.Address)
			}
			pools := map[string]int{}
			for _, p := range m.World.Pools {
				pools[p.Factory]++
			}
			for _, e := range spec.Exchanges {
				declared[e.Name] = string(e.Factory)
				if pools[strings.ToLower(string(e.Factory))] == 0 {
					t.Errorf("%s has no pool", e.Name)
				}
			}
			for name, address := range declared {
				var code string
				if err := m.World.Node.Call(t.Context(), &code, "eth_getCode", address, "latest"); err != nil || len(code) < 100 {
					t.Errorf("%s at %s has the code %q (%v)", name, address, code, err)
				}
			}
			if head := m.Chain.Head(); head.Count < 2 || head.Logs == 0 {
				t.Errorf("the newest block has %d transactions and %d logs", head.Count, head.Logs)
			}
		})
	}
	if chains != 8 {
		t.Errorf("the samples have %d EVM chains", chains)
	}
}
