package serve

import (
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Named is an address as a caller names it, on a chain where one is named. That chain is served, and the address is one of its family's.
type Named struct {
	Text, Chain string
	// Family is the family of chains that writes its addresses as Text is written.
	Family chainconfig.Family
	// Address is none for a text that passes the document's pattern and is no address: base58 of fewer or more than 32 bytes.
	Address market.Address
}

// IsAddress reports whether Text is an address.
func (n *Named) IsAddress() bool { return !n.Address.IsNone() }

// Named reads the address in a parameter of the path, and the chain beside it. The document's pattern was checked.
func (r *Request) Named(param string) (Named, error) {
	return r.NamedIn(contract.ParameterErrorInPath, param, r.Text(param), "chain", r.Text("chain"))
}

// NamedIn reads an address that stands in one parameter, and its chain that stands in another; chain is empty where none is named.
func (r *Request) NamedIn(in contract.ParameterErrorIn, param, text, chainParam, chain string) (Named, error) {
	out := Named{Text: text, Chain: chain, Family: FamilyOf(text)}
	if chain != "" {
		switch on := r.Seen.Catalog.Chain(chain); {
		case on == nil:
			return out, r.UnsupportedChain(chainParam, chain)
		case on.Family != out.Family:
			return out, r.UnsupportedAddress(in, param, "is no address of chain "+chain, declared.OfFamily(out.Family))
		}
	}
	if out.Family == chainconfig.Solana {
		if key, err := market.ParseSolanaAddress(text); err == nil {
			out.Address = key
		}
		return out, nil
	}
	var err error
	out.Address, err = market.ParseEVMAddress(text)
	return out, err
}

// FamilyOf is the family of chains whose address a text is. The text passed the document's pattern.
func FamilyOf(address string) chainconfig.Family {
	if strings.HasPrefix(address, "0x") {
		return chainconfig.EVM
	}
	return chainconfig.Solana
}
