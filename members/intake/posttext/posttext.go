// Package posttext says what the texts of posts name, as the intake answers it.
package posttext

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/rich"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Answer is what a text names.
type Answer struct {
	Mentions  []mention `json:"mentions"`
	Tags      []tag     `json:"tags"`
	Addresses []address `json:"addresses"`
	Links     []link    `json:"links"`
}

type span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

type mention struct {
	Text   string `json:"text"`
	Handle string `json:"handle"`
	Exists bool   `json:"exists"`
	Span   span   `json:"span"`
}

type tag struct {
	Text     string `json:"text"`
	Symbol   string `json:"symbol"`
	Resolved bool   `json:"resolved"`
	Mint     string `json:"mint,omitempty"`
	Chain    string `json:"chain,omitempty"`
	Span     span   `json:"span"`
}

type address struct {
	Text    string `json:"text"`
	Address string `json:"address"`
	// Chain is null where no token, or more than one, is at the address.
	Chain *string `json:"chain"`
	Span  span    `json:"span"`
}

type link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
	Span span   `json:"span"`
}

// names are what the names of some texts mean, looked up together.
type names struct {
	chains  map[string]bool
	members map[string]bool
	tickers map[string]*store.TokenAt
	tokens  []store.TokenAt
}

func (n *names) HasMember(handle string) bool { return n.members[member.HandleKey(handle)] }

func (n *names) HasChain(chain string) bool { return n.chains[chain] }

func (n *names) Token(symbol string) (t rich.Token, ok bool) {
	at := n.tickers[member.SymbolKey(symbol)]
	if at == nil || !n.chains[at.Chain] {
		return t, false
	}
	return rich.Token{Chain: at.Chain, Mint: at.Mint}, true
}

func (n *names) Chains(a market.Address) (chains []string) {
	for _, t := range n.tokens {
		if t.Mint == a && n.chains[t.Chain] {
			chains = append(chains, t.Chain)
		}
	}
	return chains
}

// Members tells which of some handles members have.
type Members interface {
	ExistingHandles(ctx context.Context, keys []string) (map[string]bool, error)
}

// Finder looks up what texts name.
type Finder struct {
	// Market goes by chains' ids (store.Served).
	Market  *store.Store
	Members Members
}

// Find gives what the texts of posts name, in the order of the posts.
func (fd *Finder) Find(ctx context.Context, posts []member.Post) ([]Answer, error) {
	found := make([]rich.Found, len(posts))
	n := names{chains: map[string]bool{}, tickers: map[string]*store.TokenAt{}}
	handles, addresses := map[string]bool{}, map[market.Address]bool{}
	for i := range posts {
		found[i] = rich.Find(posts[i].Text)
		for _, m := range found[i].Mentions {
			handles[member.HandleKey(m.Handle)] = true
		}
		for _, t := range found[i].Tags {
			if _, ok := member.Pinned(posts[i].Refs, t.Symbol); !ok && !t.IsMixed {
				n.tickers[member.SymbolKey(t.Symbol)] = nil
			}
		}
		for _, a := range found[i].Addresses {
			addresses[a.Address] = true
		}
	}
	chains, err := fd.Market.Chains(ctx) // first: the reads of tokens go by which indexes it finds served
	if err != nil {
		return nil, err
	}
	for i := range chains {
		n.chains[chains[i].ID] = true
	}
	if n.members, err = fd.Members.ExistingHandles(ctx, slices.Collect(maps.Keys(handles))); err != nil {
		return nil, err
	}
	for ticker := range n.tickers {
		at, ok, err := fd.Market.Tokens.OnlyWithTicker(ctx, ticker)
		if err != nil {
			return nil, err
		}
		if ok {
			n.tickers[ticker] = &at
		}
	}
	if n.tokens, err = fd.Market.Tokens.ListedAt(ctx, slices.Collect(maps.Keys(addresses))); err != nil {
		return nil, err
	}
	out := make([]Answer, len(posts))
	for i := range posts {
		out[i] = answer(&found[i], found[i].Resolve(&n, func(symbol string) (rich.Token, bool) {
			ref, ok := member.Pinned(posts[i].Refs, symbol)
			return rich.Token{Chain: ref.Chain, Mint: ref.Mint}, ok
		}))
	}
	return out, nil
}

func answer(f *rich.Found, means rich.Meanings) Answer {
	out := Answer{Mentions: []mention{}, Tags: []tag{}, Addresses: []address{}, Links: []link{}}
	for i, m := range f.Mentions {
		out.Mentions = append(out.Mentions, mention{m.Text, m.Handle, means.Exists[i], span(m.Span)})
	}
	for i, t := range f.Tags {
		of := tag{Text: t.Text, Symbol: t.Symbol, Span: span(t.Span)}
		if token := means.Tokens[i]; token != nil {
			of.Resolved, of.Mint, of.Chain = true, token.Mint.String(), token.Chain
		}
		out.Tags = append(out.Tags, of)
	}
	for i, a := range f.Addresses {
		at := address{Text: a.Text, Address: a.Address.String(), Span: span(a.Span)}
		if on := means.Chains[i]; len(on) == 1 {
			at.Chain = &on[0]
		}
		out.Addresses = append(out.Addresses, at)
	}
	for _, l := range f.Links {
		out.Links = append(out.Links, link{l.Text, l.URL, span(l.Span)})
	}
	return out
}
