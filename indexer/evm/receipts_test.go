package evm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
)

// genesis is Ethereum's first block.
var genesis = fmt.Sprintf(`{"parentHash":"0x%064x","sha3Uncles":"0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
"miner":"0x%040x","stateRoot":"0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544","transactionsRoot":%s,"receiptsRoot":%s,
"logsBloom":"0x%0512x","difficulty":"0x400000000","number":"0x0","gasLimit":"0x1388","gasUsed":"0x0","timestamp":"0x0",
"extraData":"0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa","mixHash":"0x%064x","nonce":"0x0000000000000042"}`,
	0, 0, noTransactions, noTransactions, 0, 0)

func TestHeaderHash(t *testing.T) {
	t.Parallel()
	sum, err := HeaderHash(json.RawMessage(genesis))
	if want := "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"; err != nil || sum.String() != want {
		t.Errorf("the hash is %s, %v; want %s", sum, err, want)
	}
}

// TestReceiptsAreProvenByTheHashedRoot reads a block without receipts from a node whose header has their root, or another root: in the field
// that is hashed, or beside it under a name that differs in its case alone.
func TestReceiptsAreProvenByTheHashedRoot(t *testing.T) {
	t.Parallel()
	another := strings.Replace(genesis, `"receiptsRoot":`+noTransactions, fmt.Sprintf(`"receiptsRoot":"0x%064x"`, 5), 1)
	for name, tt := range map[string]struct {
		header string
		proven bool
	}{
		"their root":                        {genesis, true},
		"another":                           {another, false},
		"another, and theirs in capitals":   {strings.TrimSuffix(another, "}") + `,"RECEIPTSROOT":` + noTransactions + `}`, false},
		"theirs, and another in capitals":   {strings.TrimSuffix(genesis, "}") + `,"RECEIPTSROOT":"0x5"}`, true},
		"another, and then theirs":          {strings.TrimSuffix(another, "}") + `,"receiptsRoot":` + noTransactions + `}`, false},
		"a header that has no such field":   {strings.Replace(genesis, "receiptsRoot", "receipts", 1), false},
		"null, since the node has no block": {`null`, false},
	} {
		hash, err := HeaderHash(json.RawMessage(strings.Replace(tt.header, `,"receiptsRoot":`+noTransactions+`}`, `}`, 1)))
		if (err != nil) != (tt.header == "null") {
			t.Fatalf("%s: %v", name, err)
		}
		node := newFakeNode(t, func(method string, _ []json.RawMessage) (string, string) {
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
