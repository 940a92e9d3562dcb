package evm

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
)

// TestListRoots holds the root of an empty list against the one that is published, and wants every other list to have a root of its
// own. Real blocks' roots are in the tests of the indexer.
func TestListRoots(t *testing.T) {
	t.Parallel()
	if got := hash.ListRoot(nil); hex.EncodeToString(got[:]) != strings.Trim(noTransactions, `"`)[2:] {
		t.Errorf("the root of nothing is %x", got)
	}
	// Values are shorter and longer than a hash, and lists of more than 128 have keys of two bytes.
	seen := map[[32]byte]string{}
	for _, n := range []int{1, 2, 16, 17, 127, 128, 129, 300} {
		for changed := -1; changed < n; changed += max(n/3, 1) {
			values := make([][]byte, n)
			for i := range values {
				values[i] = []byte(strings.Repeat(strconv.Itoa(i), 1+i%40))
			}
			name := fmt.Sprintf("%d values, the %d-th changed", n, changed)
			if changed >= 0 {
				values[changed] = append(values[changed], 'x')
			}
			root := hash.ListRoot(values)
			if other, ok := seen[root]; ok {
				t.Errorf("%s have the root of %s", name, other)
			}
			seen[root] = name
		}
	}
}

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
