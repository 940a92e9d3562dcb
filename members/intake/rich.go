package intake

import (
	"context"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/rich"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// richAnswer is what a text names.
type richAnswer struct {
	Mentions  []mentionAnswer `json:"mentions"`
	Tags      []tagAnswer     `json:"tags"`
	Addresses []addressAnswer `json:"addresses"`
	Links     []linkAnswer    `json:"links"`
}

type spanAnswer struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

type mentionAnswer struct {
	Text   string     `json:"text"`
	Handle string     `json:"handle"`
	Exists bool       `json:"exists"`
	Span   spanAnswer `json:"span"`
}

type tagAnswer struct {
	Text     string     `json:"text"`
	Symbol   string     `json:"symbol"`
	Resolved bool       `json:"resolved"`
	Mint     string     `json:"mint,omitempty"`
	Chain    string     `json:"chain,omitempty"`
	Span     spanAnswer `json:"span"`
}

type addressAnswer struct {
	Text    string `json:"text"`
	Address string `json:"address"`
	// Chain is null where no token, or more than one, is at the address.
	Chain *string    `json:"chain"`
	Span  spanAnswer `json:"span"`
}

type linkAnswer struct {
	Text string     `json:"text"`
	URL  string     `json:"url"`
	Span spanAnswer `json:"span"`
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

// lookUp gives what the texts of posts name, in the order of the posts.
func (h *handler) lookUp(ctx context.Context, posts []member.Post) ([]richAnswer, error) {
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
	chains, err := h.Market.Chains(ctx) // first: the reads of tokens go by which indexes it finds served
	if err != nil {
		return nil, err
	}
	for i := range chains {
		n.chains[chains[i].ID] = true
	}
	if n.members, err = h.Registry.ExistingHandles(ctx, slices.Collect(maps.Keys(handles))); err != nil {
		return nil, err
	}
	for ticker := range n.tickers {
		at, ok, err := h.Market.Tokens.OnlyWithTicker(ctx, ticker)
		if err != nil {
			return nil, err
		}
		if ok {
			n.tickers[ticker] = &at
		}
	}
	if n.tokens, err = h.Market.Tokens.ListedAt(ctx, slices.Collect(maps.Keys(addresses))); err != nil {
		return nil, err
	}
	out := make([]richAnswer, len(posts))
	for i := range posts {
		out[i] = answerRich(&found[i], found[i].Resolve(&n, func(symbol string) (rich.Token, bool) {
			ref, ok := member.Pinned(posts[i].Refs, symbol)
			return rich.Token{Chain: ref.Chain, Mint: ref.Mint}, ok
		}))
	}
	return out, nil
}

func answerRich(f *rich.Found, means rich.Meanings) richAnswer {
	out := richAnswer{Mentions: []mentionAnswer{}, Tags: []tagAnswer{}, Addresses: []addressAnswer{}, Links: []linkAnswer{}}
	for i, m := range f.Mentions {
		out.Mentions = append(out.Mentions, mentionAnswer{m.Text, m.Handle, means.Exists[i], spanAnswer(m.Span)})
	}
	for i, t := range f.Tags {
		tag := tagAnswer{Text: t.Text, Symbol: t.Symbol, Span: spanAnswer(t.Span)}
		if token := means.Tokens[i]; token != nil {
			tag.Resolved, tag.Mint, tag.Chain = true, addressText(token.Mint), token.Chain
		}
		out.Tags = append(out.Tags, tag)
	}
	for i, a := range f.Addresses {
		address := addressAnswer{Text: a.Text, Address: addressText(a.Address), Span: spanAnswer(a.Span)}
		if on := means.Chains[i]; len(on) == 1 {
			address.Chain = &on[0]
		}
		out.Addresses = append(out.Addresses, address)
	}
	for _, l := range f.Links {
		out.Links = append(out.Links, linkAnswer{l.Text, l.URL, spanAnswer(l.Span)})
	}
	return out
}
