package httpapi

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// subject is the token that a request is about.
type subject struct {
	figures.Token
	// candidates are the chains that have a token at the address, when none was asked for and there are several.
	candidates []string
}

// namedSubject finds the token that a parameter of the path names, on the chain of the query, or else where it was
// launched, or else where its liquidity is deepest.
func namedSubject(r *request, tokens read.Tokens, param string) (*subject, error) {
	n, err := r.Named(param)
	if err != nil {
		return nil, err
	}
	if !n.IsIndexed() {
		return nil, tokenNotFound(n.Text, n.Chain)
	}
	return findSubject(r.Context(), tokens, r.seen.Catalog, n.Address, n.Chain)
}

// findSubject finds the token at an address, on a chain or else as chooseSubject does.
func findSubject(ctx context.Context, tokens read.Tokens, in *declared.Catalog, mint market.Address, chain string) (*subject, error) {
	list, err := tokens.Tokens(ctx, mint)
	if err != nil {
		return nil, unavailable(err)
	}
	if s := chooseSubject(in, list, chain); s != nil {
		return s, nil
	}
	return nil, tokenNotFound(mint.String(), chain)
}

// chooseSubject picks the token of a chain, or without one the first of a declared chain: where it was launched, else where its
// liquidity is deepest. It is nil where there is none.
func chooseSubject(in *declared.Catalog, tokens []figures.Token, chain string) *subject {
	gone := func(t figures.Token) bool { return in.Chain(t.Chain) == nil }
	if slices.ContainsFunc(tokens, gone) {
		tokens = slices.DeleteFunc(slices.Clone(tokens), gone)
	}
	if chain != "" {
		i := slices.IndexFunc(tokens, func(t figures.Token) bool { return t.Chain == chain })
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

func tokenNotFound(mint, chain string) error {
	p := newProblem("token-not-found", "No indexed chain that was looked at has this token.")
	p.Mint, p.Chain = mint, chain
	return p
}
