package social

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/rich"
)

// richTexts find the names in members' texts. The names that were found are remembered; their meaning is looked up each time.
type richTexts struct {
	pairs read.Pairs
	found *recent.Cache[textKey, rich.Found]
}

// textKey names a text, as it was at a time, by the number of its call or its post.
type textKey struct{ call, post, updatedAt int64 }

// keptTexts is how many texts' names are remembered.
const keptTexts = 1_024

func newRichTexts(pairs read.Pairs) *richTexts {
	return &richTexts{pairs, recent.New[textKey, rich.Found](keptTexts)}
}

func (x *richTexts) find(key textKey, text string) rich.Found {
	found, ok := x.found.Get(key)
	if !ok {
		found = rich.Find(text)
		x.found.Put(key, found)
	}
	return found
}

// names says what names mean by a snapshot.
type names struct {
	pairs read.Pairs
	seen  *read.Snapshot
}

func (n names) HasMember(handle string) bool { return n.seen.Members.Has(handle) }

func (n names) HasChain(chain string) bool { return n.seen.Catalog.Chain(chain) != nil }

func (n names) Chains(a market.Address) []string { return n.pairs.ChainsOf(n.seen.Catalog, a) }

func (n names) Token(symbol string) (rich.Token, bool) {
	at, ok := n.pairs.Ticker(n.seen.Catalog, symbol)
	return rich.Token{Chain: at.Chain, Mint: at.Mint}, ok
}

// ofCall is what the text of a call names, and ofPost that of a post.
func (x *richTexts) ofCall(seen *read.Snapshot, c *member.Call) *contract.Rich {
	return x.show(seen, textKey{call: c.Number, updatedAt: c.UpdatedAt}, c.Text, c.Refs)
}

func (x *richTexts) ofPost(seen *read.Snapshot, p *member.Post) *contract.Rich {
	return x.show(seen, textKey{post: p.Number, updatedAt: p.UpdatedAt}, p.Text, p.Refs)
}

func (x *richTexts) show(seen *read.Snapshot, key textKey, text string, refs []member.TokenRef) *contract.Rich {
	found := x.find(key, text)
	means := found.Resolve(names{x.pairs, seen}, func(symbol string) (rich.Token, bool) {
		ref, ok := member.Pinned(refs, symbol)
		return rich.Token{Chain: ref.Chain, Mint: ref.Mint}, ok
	})
	out := &contract.Rich{Mentions: []contract.RichMention{}, Tags: []contract.RichTag{}, Addresses: []contract.RichAddress{}, Links: []contract.RichLink{}}
	for i, m := range found.Mentions {
		out.Mentions = append(out.Mentions, contract.RichMention{Text: m.Text, Handle: m.Handle, Exists: means.Exists[i], Span: spanOf(m.Span)})
	}
	for i, t := range found.Tags {
		tag := contract.RichTag{Text: t.Text, Symbol: t.Symbol, Span: spanOf(t.Span)}
		if token := means.Tokens[i]; token != nil {
			tag.Resolved, tag.Mint, tag.Chain = true, token.Mint.String(), token.Chain
		}
		out.Tags = append(out.Tags, tag)
	}
	for i, a := range found.Addresses {
		address := contract.RichAddress{Text: a.Text, Address: a.Address.String(), Span: spanOf(a.Span), UnknownReasons: contract.UnknownReasons{}}
		switch on := means.Chains[i]; len(on) {
		case 0:
			address.UnknownReasons["chain"] = contract.UnknownReasonUnavailable
		case 1:
			address.Chain = &on[0]
		default:
			address.UnknownReasons["chain"] = contract.UnknownReasonNotApplicable
		}
		out.Addresses = append(out.Addresses, address)
	}
	for _, l := range found.Links {
		out.Links = append(out.Links, contract.RichLink{Text: l.Text, URL: l.URL, Span: spanOf(l.Span)})
	}
	return out
}

func spanOf(s rich.Span) contract.RichSpan { return contract.RichSpan{Start: s.Start, End: s.End} }
