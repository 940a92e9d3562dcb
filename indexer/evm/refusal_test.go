package evm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// refusals are what clients answer calls with, by their sources and by reports of their users.
var refusals = []struct {
	client  string
	code    int
	message string
	want    fault
}{
	{"geth", 3, "execution reverted", faultContract},
	{"geth", 3, "execution reverted: rate limit exceeded", faultContract},
	{"geth", -32000, "execution reverted: missing trie node", faultContract},
	{"geth", -32000, "out of gas", faultContract},
	{"geth", -32000, "contract creation code storage out of gas", faultContract},
	{"geth", -32000, "max call depth exceeded", faultContract},
	{"geth", -32000, "insufficient balance for transfer", faultContract},
	{"geth", -32000, "contract address collision", faultContract},
	{"geth", -32000, "max code size exceeded", faultContract},
	{"geth", -32000, "max initcode size exceeded", faultContract},
	{"geth", -32000, "invalid jump destination", faultContract},
	{"geth", -32000, "write protection", faultContract},
	{"geth", -32000, "return data out of bounds", faultContract},
	{"geth", -32000, "gas uint64 overflow", faultContract},
	{"geth", -32000, "nonce uint64 overflow", faultContract},
	{"geth", -32000, "invalid code: must not begin with 0xef", faultContract},
	{"geth", -32000, "stack underflow (0 <=> 2)", faultContract},
	{"geth", -32000, "stack limit reached 1024 (1023)", faultContract},
	{"geth", -32000, "invalid opcode: SHR", faultContract},
	{"geth", -32000, "invalid opcode: opcode 0xc not defined", faultContract},
	{"geth", -32000, "execution aborted (timeout = 5s)", faultSize},
	{"geth", -32002, "request timed out", faultSize},
	{"geth", -32003, "response too large", faultSize},
	{"geth", -32600, "batch too large", faultSize},
	{"geth", -32000, "missing trie node 0xabc (path 0a) state 0xdef is not available", faultState},
	{"geth", -32000, "header not found", faultState},
	{"geth", -32000, "hash 0xabc is not currently canonical", faultState},
	{"geth", -32000, "historical state 0xabc is not available", faultState},
	{"geth", -32601, "the method eth_call does not exist/is not available", faultNode},
	{"geth", -32602, "invalid argument 0: hex string of odd length", faultNode},
	{"geth", -32700, "parse error", faultNode},
	{"geth", -32603, "method handler crashed", faultUnknown},

	{"reth", 3, "execution reverted: custom", faultContract},
	{"reth", -32003, "EVM error: InvalidJump", faultContract},
	{"reth", -32003, "EVM error: OutOfOffset", faultContract},
	{"reth", -32003, "EVM error: NotActivated", faultContract},
	{"reth", -32003, "EVM error: PrecompileError", faultContract},
	{"reth", -32003, "EVM error: OpcodeNotFound", faultContract},
	{"reth", -32003, "EVM error: StackUnderflow", faultContract},
	{"reth", -32003, "EVM error: CreateContractSizeLimit", faultContract},
	{"reth", -32003, "out of gas: gas required exceeds: 10000000", faultContract},
	{"reth", -32003, "out of gas: gas exhausted during memory expansion: 10000000", faultContract},
	{"reth", -32003, "out of memory: memory limit exceeded during memory expansion", faultContract},
	{"reth", -32003, "out of gas: gas exhausted during precompiled contract execution: 10000000", faultContract},
	{"reth", -32003, "out of gas: invalid operand to an opcode: 10000000", faultContract},
	{"reth", -32000, "execution aborted (timeout = 5s)", faultSize},
	{"reth", -32008, "Response is too big", faultSize},
	{"reth", -32001, "block not found: hash 0xabc", faultState},
	{"reth", 4444, "pruned history unavailable", faultState},
	{"reth", -32603, "no state found for block number 5", faultState},
	{"reth", -32603, "internal blocking task error", faultUnknown},

	{"erigon", -32000, "call returned result on length 200000 exceeding --rpc.returndata.limit 100000", faultContract},
	{"erigon", -32000, "execution aborted (timeout = 5m0s)", faultSize},
	{"erigon", -32000, "batch limit 100 exceeded: 142 requests given", faultSize},
	{"erigon", -32000, "batch limit 1000 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 1062", faultSize},
	{"erigon", -32000, "old data not available due to pruning", faultState},
	{"erigon", -32000, "Unable to complete request at this time.", faultUnknown},

	{"Nethermind", 3, "execution reverted", faultContract},
	{"Nethermind", -32015, "VM execution error.", faultContract},
	{"Nethermind", -32000, "BadJumpDestination", faultContract},
	{"Nethermind", -32000, "InvalidJumpDestination", faultContract},
	{"Nethermind", -32000, "BadInstruction", faultContract},
	{"Nethermind", -32000, "StackUnderflow", faultContract},
	{"Nethermind", -32000, "OutOfGas", faultContract},
	{"Nethermind", -32000, "GasUInt64Overflow", faultContract},
	{"Nethermind", -32000, "AccessViolation", faultContract},
	{"Nethermind", -32000, "StaticCallViolation", faultContract},
	{"Nethermind", -32000, "PrecompileFailure", faultContract},
	{"Nethermind", -32003, "stack underflow", faultContract},
	{"Nethermind", -32003, "Precompile 0x09 failed with error: wrong length", faultContract},
	{"Nethermind", -32002, "No state available for block 0xabc", faultState},
	{"Nethermind", -32016, "eth_call request was canceled due to enabled timeout.", faultSize},
	{"Nethermind", -32005, "Too many requests", faultNode},

	{"Besu", -32000, "Execution reverted", faultContract},
	{"Besu", -32000, "Execution reverted (ERC20: no)", faultContract},
	{"Besu", -32000, "Transaction processing could not be completed due to an exception", faultContract},
	{"Besu", -32000, "Transaction processing could not be completed due to an exception (invalid opcode: 0xaa)", faultContract},
	{"Besu", -32000, "Bad jump destination", faultContract},
	{"Besu", -32000, "Out of bounds", faultContract},
	{"Besu", -32000, "Illegal state change", faultContract},
	{"Besu", -32000, "Block not found", faultState},
	{"Besu", -32000, "World state unavailable", faultState},
	{"Besu", -32603, "Internal error", faultUnknown},

	{"anvil", 3, "execution reverted", faultContract},
	{"anvil", -32603, "EVM error InvalidFEOpcode", faultContract},
	{"anvil", -32603, "EVM error OpcodeNotFound", faultContract},
	{"anvil", -32603, "EVM error InvalidJump", faultContract},
	{"anvil", -32603, "EVM error OutOfOffset", faultContract},
	{"anvil", -32603, "EVM error InvalidOperandOOG", faultContract},
	{"anvil", -32603, "EVM error MemoryLimitOOG", faultContract},
	{"anvil", -32603, "EVM error CreateInitCodeSizeLimit", faultContract},
	{"anvil", -32603, "OutOfGas", faultContract},
	{"anvil", -32603, "InvalidOperandOOG", faultContract},
	{"anvil", -32001, "Resource not found", faultState},
	{"anvil", -32602, "BlockOutOfRangeError: block height is 0 but requested was 2457", faultState},

	{"Hardhat", -32603, "Error: VM Exception while processing transaction: reverted with reason string 'quota'", faultContract},

	{"a provider", 429, "Your app has exceeded its compute units per second capacity.", faultNode},
	{"a provider", -32005, "daily request count exceeded, request rate limited", faultNode},
	{"a provider", -32005, "limit exceeded", faultNode},
	{"a provider", -32000, "daily request limit reached", faultNode},
	{"a provider", -32090, "Too many requests, retry in 10s", faultNode},
	{"a provider", -32000, "upstream connect error or disconnect/reset before headers", faultUnknown},
}

func TestFaultsByClient(t *testing.T) {
	t.Parallel()
	for _, r := range refusals {
		if got := faultOf(&rpc.NodeError{Code: r.code, Message: r.message}); got != r.want {
			t.Errorf("%s's %d %q is the fault %d, want %d", r.client, r.code, r.message, got, r.want)
		}
	}
}

// tokenAt is the i-th token of a test.
func tokenAt(i int) market.Address { return market.EVMAddress([32]byte{30: 1, 31: byte(i)}) }

// eighteen answers every call with the number 18.
const eighteen = `"0x0000000000000000000000000000000000000000000000000000000000000012"`

// spoiling is a node that answers every call with 18, but those of a token with a refusal.
func spoiling(t *testing.T, token market.Address, refusal string) *fakeNode {
	t.Helper()
	return newFakeNode(t, func(_ string, params []json.RawMessage) (string, string) {
		if strings.Contains(string(params[0]), token.String()) {
			return "", refusal
		}
		return eighteen, ""
	})
}

// TestAFailingContractHasNoAnswer asks three tokens, of which one fails in each way that may be the contract's: the
// others' answers count.
func TestAFailingContractHasNoAnswer(t *testing.T) {
	t.Parallel()
	tokens := []market.Address{tokenAt(1), tokenAt(2), tokenAt(3)}
	for _, r := range refusals {
		if r.want == faultNode || r.want == faultState {
			continue
		}
		refusal, err := json.Marshal(rpc.NodeError{Code: r.code, Message: r.message, Data: json.RawMessage(`"0x"`)})
		if err != nil {
			t.Fatal(err)
		}
		node := spoiling(t, tokens[1], string(refusal))
		facts, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, tokens)
		if err != nil {
			t.Errorf("%s's %d %q keeps a block from being indexed: %v", r.client, r.code, r.message, err)
			continue
		}
		for i, f := range facts {
			if want := i != 1; f.HasDecimals != want || f.HasSupply != want {
				t.Errorf("%s's %d %q: token %d has decimals %v, want %v", r.client, r.code, r.message, i, f.HasDecimals, want)
			}
		}
	}
}

// TestAFailingNodeIsNotBelieved has nodes that refuse calls for reasons of their own: nothing may be taken for a fact.
func TestAFailingNodeIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"a rate limit":              `{"code":-32005,"message":"limit exceeded"}`,
		"an unknown reason":         `{"code":-32603,"message":"Internal error"}`,
		"another":                   `{"code":-32000,"message":"upstream connect error"}`,
		"time":                      `{"code":-32000,"message":"execution aborted (timeout = 5s)"}`,
		"answers that are too long": `{"code":-32003,"message":"response too large"}`,
	} {
		everything := newFakeNode(t, func(string, []json.RawMessage) (string, string) { return "", refusal })
		facts, _, err := sourceOf(t, time.Now, everything.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
		if err == nil {
			t.Errorf("%s: a node that refuses everything is believed: %+v", name, facts)
		}
	}
}

// TestADoubtfulCallIsAskedElsewhere has a first node that fails a token for a reason that may be its own, and others
// beside it.
func TestADoubtfulCallIsAskedElsewhere(t *testing.T) {
	t.Parallel()
	const unknown = `{"code":-32603,"message":"Internal error"}`
	healthy := newFakeNode(t, func(string, []json.RawMessage) (string, string) { return eighteen, "" })
	limited := newFakeNode(t, func(string, []json.RawMessage) (string, string) { return "", `{"code":429,"message":"slow down"}` })
	pruned := newFakeNode(t, func(string, []json.RawMessage) (string, string) {
		return "", `{"code":-32000,"message":"missing trie node"}`
	})
	for name, tt := range map[string]struct {
		second string
		want   bool
	}{
		"another node answers":              {healthy.URL, true},
		"another node fails it too":         {spoiling(t, tokenAt(1), unknown).URL, false},
		"another node is asked too often":   {limited.URL, false},
		"another node has lost the state":   {pruned.URL, false},
		"another node can't be reached":     {"http://127.0.0.1:1", false},
		"another node says that it reverts": {spoiling(t, tokenAt(1), `{"code":3,"message":"execution reverted"}`).URL, false},
	} {
		first := spoiling(t, tokenAt(1), unknown)
		s := sourceOf(t, time.Now, first.URL, tt.second)
		facts, _, err := s.Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1), tokenAt(2)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if facts[0].HasDecimals != tt.want || !facts[1].HasDecimals {
			t.Errorf("%s: the facts are %+v; want decimals of the doubtful token: %v", name, facts, tt.want)
		}
	}
}

// TestANodeThatFailsWhileItIsAskedAgain: a call fails once for a reason of the node, and is answered when it is asked
// again.
func TestANodeThatFailsWhileItIsAskedAgain(t *testing.T) {
	t.Parallel()
	left := 1
	node := newFakeNode(t, func(_ string, params []json.RawMessage) (string, string) {
		if strings.Contains(string(params[0]), callDecimals) && left > 0 {
			left--
			return "", `{"code":-32000,"message":"Unable to complete request at this time."}`
		}
		return eighteen, ""
	})
	facts, _, err := sourceOf(t, time.Now, node.URL).Contracts().TokenFacts(t.Context(), chain.Ref{Number: 5}, []market.Address{tokenAt(1)})
	if err != nil || !facts[0].HasDecimals {
		t.Errorf("%+v, %v", facts, err)
	}
}

func TestOverwhelmed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{rpc.StatusError{Code: http.StatusRequestEntityTooLarge}, true},
		{rpc.StatusError{Code: http.StatusGatewayTimeout}, true},
		{rpc.StatusError{Code: 524}, true},
		{rpc.StatusError{Code: http.StatusTooManyRequests}, false},
		{rpc.StatusError{Code: http.StatusUnauthorized}, false},
		{fmt.Errorf("read: %w", rpc.ErrTooLong), true},
		{fmt.Errorf("read: %w", rpc.ErrGarbage), false},
		{&rpc.NodeError{Code: -32003, Message: "response too large"}, true},
		{&rpc.NodeError{Code: -32003, Message: "EVM error: InvalidJump"}, false},
	} {
		if got := overwhelmed(tt.err); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.err, got, tt.want)
		}
	}
}
