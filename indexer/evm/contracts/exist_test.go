package contracts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestAllExist asks for more contracts than fit one batch, of a block whose state is there and of one whose state is gone.
func TestAllExist(t *testing.T) {
	t.Parallel()
	var contracts []market.Address
	var want []bool
	for i := range rpc.CallsAtOnce + 3 {
		contracts = append(contracts, market.EVMAddress([32]byte{31: byte(i)}))
		want = append(want, i%3 == 0)
	}
	node := nodetest.New(t, func(_ string, params []json.RawMessage) (result, refusal string) {
		if string(params[1]) != `"0x5"` {
			return "", `{"code":-32000,"message":"missing trie node"}`
		}
		for i, c := range contracts {
			if strings.Contains(string(params[0]), c.String()) && want[i] {
				return `"0x60"`, ""
			}
		}
		return `"0x"`, ""
	})
	s := sourceOf(t, time.Now, node.URL)
	if got, known, err := s.Contracts().AllExist(t.Context(), contracts, 5); err != nil || !known || !slices.Equal(got, want) {
		t.Errorf("%v, known: %v, %v; want %v", got, known, err, want)
	}
	if got, known, err := s.Contracts().AllExist(t.Context(), contracts, 4); err != nil || known || got != nil {
		t.Errorf("without the state: %v, known: %v, %v", got, known, err)
	}
	if exists, known, err := s.Contracts().Exists(t.Context(), contracts[0], 5); err != nil || !known || !exists {
		t.Errorf("of one: %v, known: %v, %v", exists, known, err)
	}
	if exists, known, err := s.Contracts().Exists(t.Context(), contracts[0], 4); err != nil || known || exists {
		t.Errorf("of one without the state: %v, known: %v, %v", exists, known, err)
	}
}
