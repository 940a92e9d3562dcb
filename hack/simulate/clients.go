package main

import "strings"

// clients are the node programs whose error texts an endpoint can have.
var clients = []string{"anvil", "geth", "reth", "erigon", "nethermind", "besu"}

// clientTexts say what other clients answer where anvil says the text on the left. A pattern of anvil's is a part of its text. The
// sources of the texts are in indexer/evm/node/nodetest/refusals.go.
var clientTexts = map[string][][2]string{
	"geth": {
		{"InvalidFEOpcode", "invalid opcode: INVALID"},
		{"OpcodeNotFound", "invalid opcode: opcode 0xc not defined"},
		{"InvalidJump", "invalid jump destination"},
		{"StackUnderflow", "stack underflow (0 <=> 1)"},
		{"StackOverflow", "stack limit reached 1024 (1023)"},
		{"OutOfOffset", "return data out of bounds"},
		{"StateChangeDuringStaticCall", "write protection"},
		{"OutOfGas", "out of gas"},
		{"InvalidOperandOOG", "gas uint64 overflow"},
	},
	"reth": {
		{"InvalidFEOpcode", "EVM error: InvalidFEOpcode"},
		{"OpcodeNotFound", "EVM error: OpcodeNotFound"},
		{"InvalidJump", "EVM error: InvalidJump"},
		{"StackUnderflow", "EVM error: StackUnderflow"},
		{"StackOverflow", "EVM error: StackOverflow"},
		{"OutOfOffset", "EVM error: OutOfOffset"},
		{"OutOfGas", "out of gas: gas required exceeds: 50000000"},
		{"InvalidOperandOOG", "EVM error: PrecompileError"},
	},
	"erigon": {
		{"InvalidFEOpcode", "invalid opcode: INVALID"},
		{"InvalidJump", "invalid jump destination"},
		{"OutOfGas", "out of gas"},
		{"OutOfOffset", "evm: return data out of bounds"},
		{"StackUnderflow", "stack underflow (0 <=> 1)"},
	},
	"nethermind": {
		{"InvalidFEOpcode", "VM execution error."},
		{"OpcodeNotFound", "BadInstruction"},
		{"InvalidJump", "BadJumpDestination"},
		{"StackUnderflow", "StackUnderflow"},
		{"OutOfGas", "OutOfGas"},
		{"OutOfOffset", "AccessViolation"},
	},
	"besu": {
		{"InvalidFEOpcode", "Invalid opcode: 0xfe"},
		{"InvalidJump", "Bad jump destination"},
		{"OutOfGas", "Out of gas"},
		{"StackUnderflow", "Stack underflow"},
		{"OutOfOffset", "Out of bounds"},
	},
}

// inWordsOf says an error of anvil's as another client does.
func inWordsOf(client string, e *rpcError) *rpcError {
	for _, t := range clientTexts[client] {
		if strings.Contains(e.Message, t[0]) {
			code := -32000
			if client == "nethermind" {
				code = -32015
			}
			return &rpcError{Code: code, Message: t[1]}
		}
	}
	return e
}
