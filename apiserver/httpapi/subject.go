package httpapi

import (
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/view"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

func isEVM(address string) bool { return strings.HasPrefix(address, "0x") }

func onEVM(c *view.Chain) bool { return c.EVM }

// chainOf checks a chain that a parameter names, and that an address is one of its addresses.
func (r *request) chainOf(in contract.ParameterErrorIn, param, address, chainParam, id string) error {
	chain := r.seen.Catalog.Chain(id)
	if chain == nil {
		return r.unsupportedChain(chainParam, id)
	}
	if chain.EVM != isEVM(address) {
		return r.unsupportedAddress(in, param, "is no address of chain "+id, func(c *view.Chain) bool { return c.EVM == isEVM(address) })
	}
	return nil
}

// subject is the token that a request is about.
type subject struct {
	view.Token
	// candidates are the chains that have a token at the address, when none was asked for and there are several.
	candidates []string
}

// subject finds the token that a path parameter names, on the chain of the query, or else where it was
// launched, or else where its liquidity is deepest.
func (a *API) subject(r *request, param string) (*subject, error) {
	mint, chain := r.text(param), r.text("chain")
	if chain != "" {
		if err := r.chainOf(contract.ParameterErrorInPath, param, mint, "chain", chain); err != nil {
			return nil, err
		}
	}
	if !isEVM(mint) {
		return nil, tokenNotFound(mint, chain) // no Solana chain is indexed yet
	}
	address, err := market.ParseEVMAddress(mint)
	if err != nil {
		return nil, err // the pattern was checked
	}
	return a.find(r, address, chain)
}

func (a *API) find(r *request, mint market.Address, chain string) (*subject, error) {
	tokens, err := a.Tokens.Tokens(r.Context(), mint)
	if err != nil {
		return nil, unavailable(err)
	}
	if s := r.choose(tokens, chain); s != nil {
		return s, nil
	}
	return nil, tokenNotFound(mint.String(), chain)
}

// choose picks the token of a chain, or without one the first of a declared chain: where it was launched, else where its
// liquidity is deepest.
func (r *request) choose(tokens []view.Token, chain string) *subject {
	gone := func(t view.Token) bool { return r.seen.Catalog.Chain(t.Chain) == nil }
	if slices.ContainsFunc(tokens, gone) {
		tokens = slices.DeleteFunc(slices.Clone(tokens), gone)
	}
	if chain != "" {
		i := slices.IndexFunc(tokens, func(t view.Token) bool { return t.Chain == chain })
		if i < 0 {
			return nil
		}
		return &subject{Token: tokens[i]}
	}
	if len(tokens) == 0 {
		return nil
	}
	s := &subject{Token: tokens[0]}
	if len(tokens) > 1 {
		for i := range tokens {
			s.candidates = append(s.candidates, tokens[i].Chain)
		}
	}
	return s
}

// blocks names the block in which a token last changed.
func blocks(t *view.Token) contract.Blocks {
	out := contract.Blocks{}
	noteBlock(out, t.Chain, t.Changed.Block)
	return out
}

// noteBlock names a block of a chain unless a newer one is named. Nothing says that it stays. 0 is none: of what has not changed since
// before blocks were noted, none is known.
func noteBlock(in contract.Blocks, chain string, number uint64) {
	if int64(number) > in[chain].Number {
		in[chain] = contract.BlockRef{Number: int64(number), Finality: contract.FinalityLatest}
	}
}

// asOf is when the newest data of an answer is of; of an answer without any, the newest indexed block of all chains; before
// there is one, it is when the program began.
func (a *API) asOf(r *request, unix int64) contract.Timestamp {
	if unix == 0 {
		unix = r.seen.Newest()
	}
	if unix == 0 {
		return contract.At(a.started)
	}
	return timestamp(unix)
}
