package serve

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Named is an address as a caller names it, on a chain where one is named. That chain is served, and the address is one of its family's.
type Named struct {
	Text, Chain string
	// Address is none where no chain of the address's family is indexed.
	Address market.Address
}

// IsIndexed reports whether anything can be indexed at the address. No other family than EVM is indexed yet.
func (n *Named) IsIndexed() bool { return !n.Address.IsNone() }

// Named reads the address in a parameter of the path, and the chain beside it. The document's pattern was checked.
func (r *Request) Named(param string) (Named, error) {
	return r.NamedIn(contract.ParameterErrorInPath, param, r.Text(param), "chain", r.Text("chain"))
}

// NamedIn reads an address that stands in one parameter, and its chain that stands in another; chain is empty where none is named.
func (r *Request) NamedIn(in contract.ParameterErrorIn, param, text, chainParam, chain string) (Named, error) {
	out := Named{Text: text, Chain: chain}
	evm := IsEVM(text)
	if chain != "" {
		switch on := r.Seen.Catalog.Chain(chain); {
		case on == nil:
			return out, r.UnsupportedChain(chainParam, chain)
		case on.EVM != evm:
			return out, r.UnsupportedAddress(in, param, "is no address of chain "+chain, func(c *declared.Chain) bool { return c.EVM == evm })
		}
	}
	if !evm {
		return out, nil
	}
	var err error
	out.Address, err = market.ParseEVMAddress(text)
	return out, err
}

// IsEVM reports whether an address that passed the document's pattern is written as those of EVM chains are.
func IsEVM(address string) bool { return strings.HasPrefix(address, "0x") }
