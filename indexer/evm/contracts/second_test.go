package contracts

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// says are the numbers that a node answers with, the last of which it repeats; 0 is an error of the node. A node that is
// mute answers calls of another contract, and fails those of the first one in a way that may be the contract's or its own.
type says []int

const mute = -1

// sourceSaying is a source of nodes that answer calls with numbers.
func sourceSaying(t *testing.T, nodes []says) *source {
	t.Helper()
	var urls []string
	for _, n := range nodes {
		if n[0] == mute {
			urls = append(urls, spoiling(t, tokenAt(1), `{"code":-32603,"message":"Internal error"}`).URL)
			continue
		}
		asked := 0
		urls = append(urls, nodetest.New(t, func(string, []json.RawMessage) (string, string) {
			v := n[min(asked, len(n)-1)]
			if asked++; v == 0 {
				return "", `{"code":-32005,"message":"limit exceeded"}`
			}
			return fmt.Sprintf(`"0x%064x"`, v), ""
		}).URL)
	}
	s := sourceOf(t, time.Now, urls...)
	s.rereadPause = time.Millisecond
	return s
}

// TestADoubtedSample asks one endpoint and then others for a balance of which 7 is expected.
func TestADoubtedSample(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nodes []says
		want  []uint64 // none: no fact
	}{
		"as expected":                        {[]says{{7}, {9}}, []uint64{7}},
		"two say otherwise":                  {[]says{{8}, {8}}, []uint64{8}},
		"the second says what was expected":  {[]says{{8}, {7}}, []uint64{7}},
		"the third decides":                  {[]says{{8}, {7}, {8}}, []uint64{8}},
		"the third decides otherwise":        {[]says{{8}, {9}, {7}}, []uint64{7}},
		"no two agree":                       {[]says{{8}, {9}}, nil},
		"the second fails":                   {[]says{{8}, {0}}, []uint64{8}},
		"the second fails, the first hedges": {[]says{{8, 9}, {0}}, nil},
		"alone, twice":                       {[]says{{8}}, []uint64{8}},
		"alone, and takes it back":           {[]says{{8, 7}}, []uint64{7}},
		"alone, and then fails":              {[]says{{8, 0}}, nil},
	} {
		s := sourceSaying(t, tt.nodes)
		facts, err := s.Contracts().Balances(t.Context(), chain.Ref{Number: 5}, []market.BalanceKey{{Token: tokenAt(1), Account: tokenAt(2)}},
			func(f market.Fact) bool {
				b, ok := f.(market.BalanceFact)
				return !ok || b.Amount != *uint256.NewInt(7)
			})
		if err != nil || len(facts) != len(tt.want) || len(facts) == 1 && facts[0].Amount != *uint256.NewInt(tt.want[0]) {
			t.Errorf("%s: %+v, %v; want %v", name, facts, err, tt.want)
		}
	}
}

// TestAnUntoldSupply asks one endpoint and then others for a supply of which nothing is known.
func TestAnUntoldSupply(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nodes  []says
		want   []uint64 // none: no fact
		asides int
	}{
		"two say the same":          {[]says{{8}, {8}}, []uint64{8}, 0},
		"two differ":                {[]says{{8}, {9}}, nil, 1},
		"the third decides":         {[]says{{8}, {9}, {9}}, []uint64{9}, 1},
		"three differ":              {[]says{{8}, {9}, {7}}, nil, 1},
		"two differ, a third fails": {[]says{{8}, {9}, {0}}, nil, 1},
		"the second fails":          {[]says{{8}, {0}}, []uint64{8}, 0},
		"the second can't tell":     {[]says{{8}, {mute}}, []uint64{8}, 0},
		"but the third can":         {[]says{{8}, {mute}, {8}}, []uint64{8}, 1},
		"and the third differs":     {[]says{{8}, {mute}, {9}}, nil, 1},
		"two can't tell":            {[]says{{8}, {mute}, {mute}}, nil, 2},
		"alone, and asked once":     {[]says{{8, 7}}, []uint64{8}, 0},
	} {
		s, asides := sourceSaying(t, tt.nodes), 0
		s.aside = func(chain.Aside) { asides++ }
		facts, err := s.Contracts().Supplies(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)}, func(market.SupplyFact) chain.Doubt { return chain.Untold })
		if err != nil || len(facts) != len(tt.want) || len(facts) == 1 && facts[0].Supply != *uint256.NewInt(tt.want[0]) {
			t.Errorf("%s: %+v, %v; want %v", name, facts, err, tt.want)
		}
		if asides != tt.asides {
			t.Errorf("%s: %d answers are set aside, want %d", name, asides, tt.asides)
		}
	}
}
