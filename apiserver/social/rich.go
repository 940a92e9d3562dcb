package social

import (
	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/apiserver/read"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/rich"
)

// richTexts find the names in members' texts. The names that were found are remembered; their meaning is looked up each time.
type richTexts struct {
	pairs read.Pairs
	found *recent.Cache[textKey, rich.Found]
}

// textKey names a call's text.
type textKey struct{ call, updatedAt int64 }

// keptTexts is how many texts' names are remembered.
const keptTexts = 1_024

func newRichTexts(pairs read.Pairs) *richTexts {
	return &richTexts{pairs, recent.New[textKey, rich.Found](keptTexts)}
}

func (x *richTexts) find(c *member.Call) rich.Found {
	if c.Text == "" {
		return rich.Found{}
	}
	key := textKey{c.Number, c.UpdatedAt}
	found, ok := x.found.Get(key)
	if !ok {
		found = rich.Find(c.Text)
		x.found.Put(key, found)
	}
	return found
}

// show is what the text of a call names.
func (x *richTexts) show(seen *read.Snapshot, c *member.Call) *contract.Rich {
	found := x.find(c)
	out := &contract.Rich{Mentions: []contract.RichMention{}, Tags: []contract.RichTag{}, Addresses: []contract.RichAddress{}, Links: []contract.RichLink{}}
	for _, m := range found.Mentions {
		out.Mentions = append(out.Mentions, contract.RichMention{Text: m.Text, Handle: m.Handle, Exists: seen.Members.Has(m.Handle), Span: spanOf(m.Span)})
	}
	for i := range found.Tags {
		t := &found.Tags[i]
		tag := contract.RichTag{Text: t.Text, Symbol: t.Symbol, Span: spanOf(t.Span)}
		var at read.TokenAt
		if at, tag.Resolved = x.resolve(seen, t, c.Refs); tag.Resolved {
			tag.Mint, tag.Chain = at.Mint.String(), at.Chain
		}
		out.Tags = append(out.Tags, tag)
	}
	for _, a := range found.Addresses {
		address := contract.RichAddress{Text: a.Text, Address: a.Address.String(), Span: spanOf(a.Span), UnknownReasons: contract.UnknownReasons{}}
		on := x.pairs.ChainsOf(seen.Catalog, a.Address)
		switch len(on) {
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

// resolve finds the token that a ticker means: the token that the author says, else the only token that has the ticker.
func (x *richTexts) resolve(seen *read.Snapshot, t *rich.Tag, refs []member.TokenRef) (at read.TokenAt, ok bool) {
	for _, r := range refs {
		if member.SymbolKey(r.Symbol) == member.SymbolKey(t.Symbol) {
			return read.TokenAt{Chain: r.Chain, Mint: r.Mint}, seen.Catalog.Chain(r.Chain) != nil
		}
	}
	if t.IsMixed {
		return at, false
	}
	return x.pairs.Ticker(seen.Catalog, t.Symbol)
}

func spanOf(s rich.Span) contract.RichSpan { return contract.RichSpan{Start: s.Start, End: s.End} }
