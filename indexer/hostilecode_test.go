package indexer_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// hostileCodes are what a contract does when it is asked something, as bytecode. They are written for the Cancun
// rules.
var hostileCodes = []struct{ name, code string }{
	{"halts on the designated invalid opcode", "fe"},
	{"halts on an opcode that is not defined", "0c"},
	{"halts on code of another format", "ef00"},
	{"jumps to no jump destination", "60ff56"},
	{"takes from an empty stack", "5050"},
	{"fills the stack", callLoop("5f")},
	{"reads beyond the data that a call returned", "60205f5f3e"},
	{"writes, which eth_call allows", "60015f55"},
	{"runs until its gas is gone", callLoop("")},
	{"overflows the gas of a memory read", "7f" + strings.Repeat("ff", 32) + "51"},
	{"reads memory beyond 64 bits", "67ffffffffffffffff51"},
	{"creates a contract of 16 MiB", "62ffffff5f5ff0"},
	{"reverts without a reason", "5f5ffd"},
	{"reverts with a reason that reads like a rate limit", revertWith("rate limit exceeded, too many requests")},
	{"reverts with a reason that reads like a missing state", revertWith("missing trie node, header not found")},
	{"answers 2.2 MB", "6221e0005ff3"},
	{"answers a little more than 64 KiB", "620100015ff3"},
	{"destroys itself", "5fff"},
	{"calls itself", "5f5f5f5f5f305af1"},
	{"calls itself again and again", callLoop("5f5f5f5f5f305af150")},
	{"fails in a precompiled contract", "5f5f5f5f5f60095af1155f5ffd"},
	{"answers ones", "7f" + strings.Repeat("ff", 32) + "5f52" + "60205ff3"},
	{"answers ones for a text's offset and length", "7f" + strings.Repeat("ff", 32) + "805f52" + "602052" + "60605ff3"},
	{"answers one byte", "60015ff3"},
	{"answers nothing", "00"},
	{"answers its own address", "305f5260205ff3"},
	{"logs, which eth_call allows", "5f5fa0"},
}

// callLoop repeats code for as long as the gas lasts. Its place in the contract is where prologue ends.
func callLoop(code string) string {
	return "5b" + code + fmt.Sprintf("61%04x56", len(prologue())/2)
}

// revertWith reverts with a reason as Solidity encodes it.
func revertWith(reason string) string {
	data := "08c379a0" + fmt.Sprintf("%064x%064x", 32, len(reason)) + hex.EncodeToString([]byte(reason))
	data += strings.Repeat("0", 64-len(hex.EncodeToString([]byte(reason)))%64)
	const own = 13 // bytes of code before the data
	return fmt.Sprintf("61%04x61%04x5f3961%04x5ffd", len(data)/2, len(prologue())/2+own, len(data)/2) + data
}

// prologue logs, when the contract is called without data, a Uniswap V2 Swap and a Transfer. With data it goes on
// behind itself.
func prologue() string {
	logs := "60015f52" + "6001606052" + // amount0In and amount1Out
		"3333" + "7f" + eventTopic("Swap(address,uint256,uint256,uint256,uint256,address)") + "60805fa3" +
		"3033" + "7f" + eventTopic("Transfer(address,address,uint256)") + "60205fa3" + "00"
	return fmt.Sprintf("3661%04x57", len(logs)/2+5) + logs + "5b"
}

// eventTopic is an event's first topic, without the prefix.
func eventTopic(signature string) string { return hex.EncodeToString(keccak([]byte(signature))) }

// setCode gives an address code.
func (w *world) setCode(t *testing.T, address, code string) {
	t.Helper()
	if err := w.node.Call(t.Context(), nil, "anvil_setCode", address, "0x"+code); err != nil {
		t.Fatal(err)
	}
}

// provoke calls contracts in one block, each in a transaction of its own.
func (w *world) provoke(t *testing.T, contracts []string) {
	t.Helper()
	sent := make([]string, len(contracts))
	for i, c := range contracts {
		if err := w.node.Call(t.Context(), &sent[i], "eth_sendTransaction", map[string]string{
			"from": w.Deployer, "to": c, "gas": "0x30d40", "gasPrice": "0x0",
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	for i, hash := range sent {
		var receipt struct {
			Status string
			Logs   []struct{}
		}
		if err := w.node.Call(t.Context(), &receipt, "eth_getTransactionReceipt", hash); err != nil || receipt.Status != "0x1" ||
			len(receipt.Logs) != 2 {
			t.Fatalf("the call of %s left %+v, %v", contracts[i], receipt, err)
		}
	}
}

// hostiles makes a contract of each hostile code, and a Uniswap V2 pair of each with the wrapped native coin.
func (w *world) hostiles(t *testing.T) (contracts []string) {
	t.Helper()
	factory := w.UniswapV2Factory
	for i, h := range hostileCodes {
		contract := fmt.Sprintf("0x%040x", 0xbad<<32+i)
		w.setCode(t, contract, prologue()+h.code)
		w.transact(t, w.Deployer, factory, selector("createPair(address,address)")+
			fmt.Sprintf("%064s%064s", contract[2:], w.Wrapped[2:]))
		contracts = append(contracts, contract)
	}
	return contracts
}

// sampled is how far apart the blocks are of which the indexer asks tokens for balances and supplies.
const sampled = 32

// mineUntil mines empty blocks until the next one's number is one of those wanted.
func (w *world) mineUntil(t *testing.T, wanted func(next uint64) bool) {
	t.Helper()
	for {
		latest, err := w.node.Latest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if wanted(latest.Number + 1) {
			return
		}
		if err := w.node.Mine(t.Context(), 1, 2*time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoContractKeepsABlockFromBeingCommitted: contracts of every kind of failure log what a pool and a token log, in
// blocks at the head, in blocks that are sampled, and in blocks that are read as the past. Each is asked about, and
// every block is indexed.
func TestNoContractKeepsABlockFromBeingCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20)
	st := storetest.Open(t, "sqlite")
	stop := run(t, w.config(), st, 0)
	w.await(t, st)
	contracts := w.hostiles(t)
	w.provoke(t, contracts)
	w.await(t, st)
	w.mineUntil(t, func(next uint64) bool { return next%sampled == 0 })
	w.provoke(t, contracts)
	w.trade(t, 3)
	w.await(t, st)
	stop()

	facts, err := st.Facts(t.Context(), "base", 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, f := range facts {
		switch f := f.Fact.(type) {
		case market.PoolFact:
			if asked[f.Pool.String()] |= 1; f.Known && slices.Contains(contracts, f.Pool.String()) {
				t.Errorf("%s counts as a pool", f.Pool)
			}
		case market.TokenFact:
			asked[f.Token.String()] |= 2
		}
	}
	for i, c := range contracts {
		if asked[c] != 3 {
			t.Errorf("a contract that %s was asked about %d of 3: as a pool (1), as a token (2)", hostileCodes[i].name, asked[c])
		}
	}
	w.compare(t, st, w.config())
}
