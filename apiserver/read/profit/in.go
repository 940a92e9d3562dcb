package profit

import (
	"context"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Token names a token of a chain.
type Token struct {
	Chain  string
	Family chainconfig.Family
	Mint   market.Address
}

func (t *Token) place() store.TokenAt { return store.TokenAt{Chain: t.Chain, Mint: t.Mint} }

func placesOf(tokens []Token) []store.TokenAt {
	out := make([]store.TokenAt, len(tokens))
	for i := range tokens {
		out[i] = tokens[i].place()
	}
	return out
}

// In lists the members who are in some tokens, by token, in the order of their handles: they hold some that they bought in a trade that counts.
// stale says that it is an old answer, since there is no new one for now. The lists are shared and must not be changed.
func (r *Reader) In(ctx context.Context, tokens []Token) (in map[Token][]members.Member, stale bool, err error) {
	var unread []Token
	known := make(map[store.TokenAt]*members.Group, len(tokens))
	hasAll := true
	for _, t := range tokens {
		at := t.place()
		hit, ok := r.in.Get(at)
		known[at] = hit.Value
		if !ok || r.now().Sub(hit.At) >= inAgain {
			unread, hasAll = append(unread, t), hasAll && ok
		}
	}
	if len(unread) > 0 {
		at := r.now()
		found, err := r.wallets.In(ctx, placesOf(unread))
		if stale = err != nil; stale && !hasAll {
			return nil, false, err
		}
		for _, t := range unread {
			if place := t.place(); !stale {
				known[place] = members.NewGroup(t.Family, t.Chain, found[place])
				r.in.Put(place, recent.Dated[*members.Group]{Value: known[place], At: at})
			}
		}
	}
	in = make(map[Token][]members.Member, len(tokens))
	for _, t := range tokens {
		in[t] = known[t.place()].Members(r.directory)
	}
	return in, stale, nil
}
