package replay

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Meta is an account of an instruction.
type Meta struct {
	Key      market.Address
	Writable bool
}

// Instruction is a call of a program.
type Instruction struct {
	Program  market.Address
	Accounts []Meta
	Data     []byte
}

// longest is how many bytes a transaction has at most: nodes take no longer one.
const longest = 1232

// systemProgram makes accounts.
var systemProgram = market.SolanaAddress([32]byte{})

// opening makes the holder's usual account of a token, unless the account exists (CreateIdempotent of the program of such accounts).
func opening(holder, account, token, tokenProgram market.Address) Instruction {
	return Instruction{Program: layout.AccountsProgram, Data: []byte{1}, Accounts: []Meta{
		{holder, true}, {account, true}, {holder, false}, {token, false}, {systemProgram, false}, {tokenProgram, false},
	}}
}

// Transaction writes a transaction that one account signs and pays for, in Solana's first format: one signature, which isn't made; then the keys, each once, the one
// that signs before those that are written, and these before those that are read; a hash, which the node replaces; and the instructions.
// https://solana.com/docs/core/transactions has it. ok is false where no node would take it: it has too many accounts, or is too long.
func Transaction(payer market.Address, instructions ...Instruction) (out []byte, ok bool) {
	const signatures, signers, signersRead = 1, 1, 0
	keys := []market.Address{payer}
	note := func(k market.Address) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, in := range instructions {
		for _, a := range in.Accounts {
			if a.Writable {
				note(a.Key)
			}
		}
	}
	written := len(keys)
	for _, in := range instructions {
		for _, a := range in.Accounts {
			note(a.Key)
		}
		note(in.Program)
	}
	if len(keys) > mostAccounts || slices.ContainsFunc(keys, market.Address.IsNone) {
		return nil, false
	}
	out = append([]byte{signatures}, make([]byte, 64)...)
	out = append(out, signers, signersRead, byte(len(keys)-written), byte(len(keys)))
	for _, k := range keys {
		out = append(out, layout.KeyOf(k)...)
	}
	out = append(out, make([]byte, 32)...)
	out = short(out, len(instructions))
	for _, in := range instructions {
		out = append(out, byte(slices.Index(keys, in.Program)))
		out = short(out, len(in.Accounts))
		for _, a := range in.Accounts {
			out = append(out, byte(slices.Index(keys, a.Key)))
		}
		out = append(short(out, len(in.Data)), in.Data...)
	}
	return out, len(out) <= longest
}

// short writes a length as Solana does: seven bits a byte, the lowest first.
func short(out []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}
