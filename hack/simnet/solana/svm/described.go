package svm

import (
	"context"
	_ "embed"
)

// RaydiumDescriptions are those of Raydium's programs, in JSON: by others than who wrote the index, since Raydium publishes none.
//
//go:embed node/raydium.json
var RaydiumDescriptions []byte

// Described is an instruction as its program's description has it.
type Described struct {
	Program Key `json:"program"`
	// Data is written by Anchor's own coder.
	Data []byte `json:"data"`
	// Accounts are in their order.
	Accounts []DescribedAccount `json:"accounts"`
}

// DescribedAccount is an account of an instruction.
type DescribedAccount struct {
	Name     string `json:"name"`
	Signer   bool   `json:"signer"`
	Writable bool   `json:"writable"`
	Key      Key    `json:"key"`
}

// Fields are what an instruction's data or an event has, by the names of the description. Numbers of 64 bits and more may be texts. What is left out is zero.
type Fields = map[string]any

// DescribedInstruction encodes an instruction by the description of its program (pump, pumpswap, dbc, damm, launchlab, cpmm, ammv4). Accounts are by their names; addresses that are fixed,
// or made of others, need not be given.
func (c *Chain) DescribedInstruction(ctx context.Context, program, name string, args Fields, accounts map[string]Key) (out Described, err error) {
	err = c.Call(ctx, &out, "simnet_instruction", map[string]any{"program": program, "name": name, "args": args, "accounts": accounts})
	return out, err
}

// DescribedEvent encodes an event by the description of its program.
func (c *Chain) DescribedEvent(ctx context.Context, program, name string, fields Fields) ([]byte, error) {
	return c.described(ctx, "simnet_event", program, name, fields)
}

// DescribedContents encodes what an account holds by the description of its program.
func (c *Chain) DescribedContents(ctx context.Context, program, name string, fields Fields) ([]byte, error) {
	return c.described(ctx, "simnet_contents", program, name, fields)
}

func (c *Chain) described(ctx context.Context, method, program, name string, fields Fields) ([]byte, error) {
	var out struct {
		Data []byte `json:"data"`
	}
	err := c.Call(ctx, &out, method, map[string]any{"program": program, "name": name, "fields": fields})
	return out.Data, err
}
