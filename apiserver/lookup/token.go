// Package lookup finds the token that a request is about.
package lookup

import (
	"context"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/apiserver/read/declared"
	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/serve"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Token is the token that a request is about.
type Token struct {
	figures.Token
	// Candidates are the chains that have a token at the address, when none was asked for and there are several.
	Candidates []string
}

// Named finds the token that a parameter of the path names, on the chain of the query, or else where it was
// launched, or else where its liquidity is deepest.
func Named(r *serve.Request, tokens read.Tokens, param string) (*Token, error) {
	n, err := r.Named(param)
	if err != nil {
		return nil, err
	}
	if !n.IsAddress() {
		return nil, NotFound(n.Text, n.Chain)
	}
	return Find(r.Context(), tokens, r.Seen.Catalog, n.Address, n.Chain)
}

// list reads the tokens that a list of the query names; each may have its chain before it.
func list(r *serve.Request, param string) ([]serve.Named, error) {
	items := r.List(param)
	out := make([]serve.Named, 0, len(items))
	for _, item := range items {
		n, err := named(r, param, item)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// named reads an address of the query that may have its chain before it.
func named(r *serve.Request, param, text string) (serve.Named, error) {
	address, chain := text, ""
	if before, rest, ok := strings.Cut(text, ":"); ok {
		chain, address = before, rest
	}
	n, err := r.NamedIn(contract.ParameterErrorInQuery, param, address, param, chain)
	n.Text = text
	return n, err
}

// Query reads the address in a parameter of the query, which may have its chain before it; given is false where it was left out.
func Query(r *serve.Request, param string) (n serve.Named, given bool, err error) {
	text := r.Text(param)
	if text == "" {
		return n, false, nil
	}
	n, err = named(r, param, text)
	return n, true, err
}

// Item is an item of a list of tokens, with the token that it names.
type Item struct {
	serve.Named
	// Found is nil where no declared chain has the token.
	Found *Token
}

// Tokens reads and finds the tokens that a list of the query names.
func Tokens(r *serve.Request, tokens read.Tokens, param string) ([]Item, error) {
	items, err := list(r, param)
	if err != nil {
		return nil, err
	}
	var mints []market.Address
	for i := range items {
		if items[i].IsAddress() {
			mints = append(mints, items[i].Address)
		}
	}
	found, err := tokens.TokensAt(r.Context(), mints)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	out := make([]Item, len(items))
	for i := range items {
		out[i] = Item{items[i], Choose(r.Seen.Catalog, found[items[i].Address], items[i].Chain)}
	}
	return out, nil
}

// Find finds the token at an address on a chain. Without a chain it picks one as Choose does.
func Find(ctx context.Context, tokens read.Tokens, in *declared.Catalog, mint market.Address, chain string) (*Token, error) {
	list, err := tokens.Tokens(ctx, mint)
	if err != nil {
		return nil, serve.Unavailable(err)
	}
	if s := Choose(in, list, chain); s != nil {
		return s, nil
	}
	return nil, NotFound(mint.String(), chain)
}

// Choose picks the token of a chain, or without one the first of a declared chain: where it was launched, else where its
// liquidity is deepest. It is nil where there is none.
func Choose(in *declared.Catalog, tokens []figures.Token, chain string) *Token {
	gone := func(t figures.Token) bool { return in.Chain(t.Chain) == nil }
	if slices.ContainsFunc(tokens, gone) {
		tokens = slices.DeleteFunc(slices.Clone(tokens), gone)
	}
	if chain != "" {
		i := slices.IndexFunc(tokens, func(t figures.Token) bool { return t.Chain == chain })
		if i < 0 {
			return nil
		}
		return &Token{Token: tokens[i]}
	}
	if len(tokens) == 0 {
		return nil
	}
	s := &Token{Token: tokens[0]}
	if len(tokens) > 1 {
		for i := range tokens {
			s.Candidates = append(s.Candidates, tokens[i].Chain)
		}
	}
	return s
}

// NotFound says that there is no such token.
func NotFound(mint, chain string) error {
	p := serve.NewProblem("token-not-found", "No indexed chain that was looked at has this token.")
	p.Mint, p.Chain = mint, chain
	return p
}
