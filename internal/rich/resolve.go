package rich

import "github.com/boardwalkhq/boardwalk/internal/market"

// Token is a token of a chain.
type Token struct {
	Chain string
	Mint  market.Address
}

// Names says what names mean.
type Names interface {
	// HasMember reports whether a member has a handle, whatever its case.
	HasMember(handle string) bool
	// HasChain reports whether a chain is known.
	HasChain(chain string) bool
	// Token gives the token that a ticker means, if it is one token alone.
	Token(symbol string) (Token, bool)
	// Chains lists the chains on which there is a token at an address.
	Chains(address market.Address) []string
}

// Meanings say what the names of a text mean, each list in the order of that of Found.
type Meanings struct {
	// Exists says which mentions are members.
	Exists []bool
	// Tokens has the token that each tag means, or nil for a tag that means none.
	Tokens []*Token
	// Chains has the chains of each address: none or several if no single token has the address.
	Chains [][]string
}

// Resolve looks up what a text names. pinned gives the token that the author says a ticker means.
func (f *Found) Resolve(names Names, pinned func(symbol string) (t Token, ok bool)) (m Meanings) {
	for i := range f.Mentions {
		m.Exists = append(m.Exists, names.HasMember(f.Mentions[i].Handle))
	}
	for i := range f.Tags {
		m.Tokens = append(m.Tokens, f.Tags[i].token(names, pinned))
	}
	for i := range f.Addresses {
		m.Chains = append(m.Chains, names.Chains(f.Addresses[i].Address))
	}
	return m
}

// token is what the author says, else the only token that has the ticker. One that may look like another ticker means what the author says alone.
func (t *Tag) token(names Names, pinned func(string) (Token, bool)) *Token {
	at, ok := pinned(t.Symbol)
	switch {
	case ok:
		ok = names.HasChain(at.Chain)
	case !t.IsMixed:
		at, ok = names.Token(t.Symbol)
	}
	if !ok {
		return nil
	}
	return &at
}
