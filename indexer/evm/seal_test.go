package evm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// TestHeadersOfAnotherHash reads a header, from a node whose others follow Ethereum's rules, that has a field of another value than its hash
// proves, or one that can't be hashed. Where no header follows the rules, nothing is concluded.
func TestHeadersOfAnotherHash(t *testing.T) {
	t.Parallel()
	sealed := func(number uint64) string {
		header := strings.Replace(blocktest.Genesis, `"number":"0x0"`, fmt.Sprintf(`"number":"0x%x"`, number), 1)
		sum, err := block.HeaderHash(json.RawMessage(header))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(header, "}") + `,"hash":"` + sum.String() + `"}`
	}
	const asked = 50
	for name, tt := range map[string]struct {
		old, by  string
		ofOthers string // all other headers have it
		says     string // what the error says; none where the header is read
	}{
		"its own hash":                     {},
		"another time":                     {old: `"timestamp":"0x0"`, by: `"timestamp":"0x1"`, says: "hasn't the hash"},
		"another miner":                    {old: `"miner":"0x00`, by: `"miner":"0x01`, says: "hasn't the hash"},
		"one field more":                   {old: `"difficulty"`, by: `"baseFeePerGas":"0x1","difficulty"`, says: "hasn't the hash"},
		"a field that is no hex":           {old: `"extraData":"0x11`, by: `"extraData":"0x1g`, says: "is no hex"},
		"another time, by rules of others": {old: `"timestamp":"0x0"`, by: `"timestamp":"0x1"`, ofOthers: `"extraData":"0x12`},
	} {
		node := nodetest.New(t, func(_ string, params []json.RawMessage) (string, string) {
			number, err := rpc.ParseQuantity(params[0])
			if err != nil {
				t.Error(err)
			}
			if number != asked {
				return strings.Replace(sealed(number), `"extraData":"0x11`, cmp.Or(tt.ofOthers, `"extraData":"0x11`), 1), ""
			}
			return strings.Replace(sealed(number), tt.old, tt.by, 1), ""
		})
		h, err := sourceOf(t, time.Now, node.URL).Header(t.Context(), asked)
		if tt.says == "" {
			if err != nil || h.Number != asked {
				t.Errorf("%s: block %d, %v; want block %d", name, h.Number, err, asked)
			}
		} else if !errors.Is(err, rpc.ErrGarbage) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v; want an error that says %q", name, err, tt.says)
		}
	}
}
