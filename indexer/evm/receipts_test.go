package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block/blocktest"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node/nodetest"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// TestReceiptsAreProvenByTheHashedRoot reads a block without receipts from a node whose header has their root, or another root: in the field
// that is hashed, or beside it under a name that differs in its case alone.
func TestReceiptsAreProvenByTheHashedRoot(t *testing.T) {
	t.Parallel()
	another := strings.Replace(blocktest.Genesis, `"receiptsRoot":`+blocktest.EmptyRoot, fmt.Sprintf(`"receiptsRoot":"0x%064x"`, 5), 1)
	for name, tt := range map[string]struct {
		header string
		proven bool
	}{
		"their root":                        {blocktest.Genesis, true},
		"another":                           {another, false},
		"another, and theirs in capitals":   {strings.TrimSuffix(another, "}") + `,"RECEIPTSROOT":` + blocktest.EmptyRoot + `}`, false},
		"theirs, and another in capitals":   {strings.TrimSuffix(blocktest.Genesis, "}") + `,"RECEIPTSROOT":"0x5"}`, true},
		"another, and then theirs":          {strings.TrimSuffix(another, "}") + `,"receiptsRoot":` + blocktest.EmptyRoot + `}`, false},
		"a header that has no such field":   {strings.Replace(blocktest.Genesis, "receiptsRoot", "receipts", 1), false},
		"null, since the node has no block": {`null`, false},
	} {
		hash, err := block.HeaderHash(json.RawMessage(strings.Replace(tt.header, `,"receiptsRoot":`+blocktest.EmptyRoot+`}`, `}`, 1)))
		if (err != nil) != (tt.header == "null") {
			t.Fatalf("%s: %v", name, err)
		}
		node := nodetest.New(t, func(method string, _ []json.RawMessage) (string, string) {
			if method == "eth_getBlockReceipts" {
				return "[]", ""
			}
			return tt.header, ""
		})
		s := sourceOf(t, time.Now, node.URL)
		h := chain.Header{}
		h.Hash = hash
		_, err = s.provenContent(t.Context(), s.pool.List[0], &h)
		if tt.proven != (err == nil) || err != nil && !errors.Is(err, rpc.ErrGarbage) {
			t.Errorf("%s: %v; want it proven: %v", name, err, tt.proven)
		}
	}
}
