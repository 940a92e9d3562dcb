package evm

import (
	"encoding/json"
	"fmt"
	"testing"
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
