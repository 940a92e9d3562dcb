// Package blocktest writes blocks for tests, as a node answers them.
package blocktest

import (
	"fmt"
	"strings"
)

// EmptyRoot is the JSON of the root of an empty trie: of a block without transactions, and of one without receipts.
const EmptyRoot = `"0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"`

// Genesis is the header of Ethereum's first block without its hash, which is 0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3.
var Genesis = fmt.Sprintf(`{"parentHash":"0x%064x","sha3Uncles":"0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
"miner":"0x%040x","stateRoot":"0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544","transactionsRoot":%s,"receiptsRoot":%s,
"logsBloom":"0x%0512x","difficulty":"0x400000000","number":"0x0","gasLimit":"0x1388","gasUsed":"0x0","timestamp":"0x0",
"extraData":"0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa","mixHash":"0x%064x","nonce":"0x0000000000000042"}`,
	0, 0, EmptyRoot, EmptyRoot, 0, 0)

// Header is a node's answer about a block whose bloom allows everything or nothing; its hash is its number.
func Header(number uint64, full bool, gas string) string {
	bloom := strings.Repeat("00", 256)
	if full {
		bloom = strings.Repeat("ff", 256)
	}
	return fmt.Sprintf(`{"number":"0x%x","hash":"0x%064x","parentHash":"0x%064x","timestamp":"0x65000000",`+
		`"logsBloom":"0x%s","gasUsed":"0x%s"}`, number, number, number-1, bloom, gas)
}

// Block is a node's answer about a block with transactions, which are separated by commas.
func Block(number uint64, hash, transactions string) string {
	return fmt.Sprintf(`{"number":"0x%x","hash":%q,"parentHash":"0x%064x","timestamp":"0x65000000","transactions":[%s]}`, number, hash, number-1, transactions)
}

// Transaction is a transaction that pays 5 from the address 1 to the address 2, and other fields after these, each with a comma before it.
func Transaction(hash int, more string) string {
	return fmt.Sprintf(`{"hash":%q,"from":%q,"to":%q,"value":"0x5","nonce":"0x7","type":"0x2"%s}`, Hash(hash), Address(1), Address(2), more)
}

// Hash is a hash of 32 bytes with a number.
func Hash(n int) string { return fmt.Sprintf("0x%064x", n) }

// Address is an address with a number.
func Address(n int) string { return fmt.Sprintf("0x%040x", n) }
