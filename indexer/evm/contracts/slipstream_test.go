package contracts

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestSlipstreamPoolsAreProvenByTheirSpacing asks contracts that say that they are Slipstream pools, and the factory that they name.
func TestSlipstreamPoolsAreProvenByTheirSpacing(t *testing.T) {
	t.Parallel()
	pool, factory, a, b := tokenAt(1), tokenAt(2), tokenAt(3), tokenAt(4)
	known := func(spacing int32) market.PoolFact {
		return market.PoolFact{Pool: pool, Known: true, Info: market.PoolCreated{
			Protocol: market.Slipstream, Factory: factory, Pool: pool, Token0: a, Token1: b, TickSpacing: spacing,
		}}
	}
	refused := func(reason string) market.PoolFact { return market.PoolFact{Pool: pool, Reason: reason} }
	const noSpacing = "it answers no tick spacing"
	for name, tt := range map[string]struct {
		says, is uint64 // the tick spacing that the pool answers, and that under which its factory has it
		fees     []uint64
		want     market.PoolFact
	}{
		"one of the usual":                {200, 200, []uint64{3000, 3000}, known(200)},
		"a fee that changed meanwhile":    {200, 200, []uint64{3000, 3017}, known(200)},
		"a fee beyond 24 bits":            {200, 200, []uint64{1 << 24, 1 << 24}, known(200)},
		"no fee":                          {200, 200, []uint64{0, 0}, known(200)},
		"the narrowest":                   {1, 1, []uint64{100, 100}, known(1)},
		"the widest that an int24 holds":  {1<<23 - 1, 1<<23 - 1, []uint64{100, 100}, known(1<<23 - 1)},
		"no spacing":                      {0, 0, []uint64{100, 100}, refused(noSpacing)},
		"a spacing beyond an int24":       {1 << 23, 1 << 23, []uint64{100, 100}, refused(noSpacing)},
		"a pool of another spacing":       {100, 200, []uint64{500, 500}, refused("its factory does not know it")},
		"a contract that is nobody's own": {200, 1 << 23, []uint64{500, 500}, refused("its factory does not know it")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var urls []string
			for _, fee := range tt.fees {
				answers := map[string]string{
					pool.String() + callFactory: word(factory), pool.String() + callToken0: word(a), pool.String() + callToken1: word(b),
					pool.String() + callFee: fmt.Sprintf("%064x", fee), pool.String() + callTickSpacing: fmt.Sprintf("%064x", tt.says),
				}
				for _, spacing := range []uint64{tt.says, tt.is} {
					of := market.Native
					if spacing == tt.is {
						of = pool
					}
					answers[factory.String()+hash.SelectorHex("getPool(address,address,int24)")+word(a)+word(b)+fmt.Sprintf("%064x", spacing)] = word(of)
				}
				urls = append(urls, nodetest.New(t, func(_ string, params []json.RawMessage) (result, refusal string) {
					var asked struct{ To, Data string }
					if err := json.Unmarshal(params[0], &asked); err != nil {
						t.Error(err)
					}
					if said, ok := answers[asked.To+asked.Data]; ok {
						return `"0x` + said + `"`, ""
					}
					return "", `{"code":3,"message":"execution reverted"}`
				}).URL)
			}
			s := sourceOf(t, time.Now, urls...)
			exchanges := []chainconfig.Exchange{{Name: "X", Protocol: market.Slipstream, Factory: factory}}
			facts, unsure, err := s.Contracts().PoolFacts(t.Context(), chain.Ref{Number: 5}, exchanges, []market.Address{pool}, func(f market.PoolFact) bool { return f.Known })
			if err != nil || facts[0] != tt.want || unsure[0] {
				t.Errorf("%+v, unsure %v, %v; want %+v", facts, unsure, err, tt.want)
			}
		})
	}
}
