package attack

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// HostileCode is what a contract does when it is asked something, as bytecode behind hostilePrologue.
type HostileCode struct{ Name, code string }

// HostileCodes are contracts by what they do when they are asked something. Called without data, each logs a Uniswap V2 Swap and a
// Transfer. They are written for the Cancun rules.
var HostileCodes = []HostileCode{
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

// callLoop repeats code for as long as the gas lasts. Its place in the contract is where hostilePrologue ends.
func callLoop(code string) string {
	return "5b" + code + fmt.Sprintf("61%04x56", len(hostilePrologue())/2)
}

// revertWith reverts with a reason as Solidity encodes it.
func revertWith(reason string) string {
	data := "08c379a0" + fmt.Sprintf("%064x%064x", 32, len(reason)) + hex.EncodeToString([]byte(reason))
	data += strings.Repeat("0", 64-len(hex.EncodeToString([]byte(reason)))%64)
	const own = 13 // bytes of code before the data
	return fmt.Sprintf("61%04x61%04x5f3961%04x5ffd", len(data)/2, len(hostilePrologue())/2+own, len(data)/2) + data
}

// hostilePrologue logs, when the contract is called without data, a Uniswap V2 Swap and a Transfer. With data it goes on
// behind itself.
func hostilePrologue() string {
	logs := "60015f52" + "6001606052" + // amount0In and amount1Out
		"3333" + "7f" + eventTopic("Swap(address,uint256,uint256,uint256,uint256,address)") + "60805fa3" +
		"3033" + "7f" + eventTopic("Transfer(address,address,uint256)") + "60205fa3" + "00"
	return fmt.Sprintf("3661%04x57", len(logs)/2+5) + logs + "5b"
}

// eventTopic is an event's first topic, without the prefix.
func eventTopic(signature string) string { return hex.EncodeToString(anvil.Keccak([]byte(signature))) }

// HostileContracts puts each hostile code at an address, and makes a Uniswap V2 pair of it with the wrapped native coin in a block
// that mine mines. The addresses are in the order of HostileCodes.
func HostileContracts(ctx context.Context, w *world.World, mine func(context.Context) error) (addresses []string, err error) {
	var pairs []anvil.Transaction
	for i, h := range HostileCodes {
		address := fmt.Sprintf("0x%040x", 0xbad<<32+i)
		if err := HostileContract(ctx, w, address, h.code); err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
		pairs = append(pairs, anvil.Transaction{
			From: w.Deployer, To: w.UniswapV2Factory, Gas: 6_000_000, Data: anvil.EncodeCall("createPair(address,address)", address, w.Wrapped),
		})
	}
	if _, err := w.Node.Send(ctx, pairs); err != nil {
		return nil, err
	}
	return addresses, mine(ctx)
}

// HostileContract puts a contract at an address that runs code, in hexadecimal, when it is called with data.
func HostileContract(ctx context.Context, w *world.World, address, code string) error {
	return w.Node.Call(ctx, nil, "anvil_setCode", address, "0x"+hostilePrologue()+code)
}

// Provoke has each contract called without data, in a transaction of its own that waits for the next block.
func Provoke(ctx context.Context, w *world.World, contracts []string) (hashes []string, err error) {
	calls := make([]anvil.Transaction, len(contracts))
	for i, c := range contracts {
		calls[i] = anvil.Transaction{From: w.Deployer, To: c, Gas: 200_000}
	}
	return w.Node.Send(ctx, calls)
}
