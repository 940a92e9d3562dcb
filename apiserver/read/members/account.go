package members

import (
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Account names a wallet in few bytes and without a pointer: there are very many. Its address tells the family.
type Account struct {
	Address market.Address
	// chain is the number of the chain of a wallet that is one on that chain alone; else 0.
	chain uint32
}

// ChainNumbers give chains numbers from 1 on, which they keep. Known and Name may be called at the same time, Account may not.
type ChainNumbers struct {
	numbers map[string]uint32
	names   []string
}

// NewChainNumbers knows no chain yet.
func NewChainNumbers() *ChainNumbers { return &ChainNumbers{numbers: map[string]uint32{}} }

// Known is Account for a chain that has a number; ok is false for another one.
func (n *ChainNumbers) Known(address market.Address, chain string) (a Account, ok bool) {
	number, ok := n.numbers[chain]
	return Account{address, number}, ok
}

// Account is the account of a wallet on a chain alone, or with an empty chain on all chains of its family.
func (n *ChainNumbers) Account(address market.Address, chain string) Account {
	if chain == "" {
		return Account{Address: address}
	}
	number, ok := n.numbers[chain]
	if !ok {
		n.names = append(n.names, chain)
		number = uint32(len(n.names))
		n.numbers[chain] = number
	}
	return Account{address, number}
}

// Name is the chain of an account's wallet; empty of one on all chains of its family.
func (n *ChainNumbers) Name(a Account) string {
	if a.chain == 0 {
		return ""
	}
	return n.names[a.chain-1]
}
