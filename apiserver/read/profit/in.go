package profit

import (
	"cmp"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/recent"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Token names a token of a chain.
type Token struct {
	Chain  string
	Family chainconfig.Family
	Mint   market.Address
}

// In lists the members who are in some tokens, by token, in the order of their handles: they hold some that they bought in a trade that counts.
// stale says that it is an old answer, since there is no new one for now.
func (r *Reader) In(ctx context.Context, tokens []Token) (in map[Token][]members.Member, stale bool, err error) {
	out := make(map[Token][]members.Member, len(tokens))
	var unread []store.TokenAt
	hasAll := true
	wallets := make(map[store.TokenAt][]market.Address, len(tokens))
	for _, t := range tokens {
		at := store.TokenAt{Chain: t.Chain, Mint: t.Mint}
		hit, ok := r.in.Get(at)
		wallets[at] = hit.Value
		if !ok || r.now().Sub(hit.At) >= inAgain {
			unread, hasAll = append(unread, at), hasAll && ok
		}
	}
	if len(unread) > 0 {
		at := r.now()
		found, err := r.wallets.In(ctx, unread)
		if stale = err != nil; stale && !hasAll {
			return nil, false, err
		}
		for _, t := range unread {
			if !stale {
				wallets[t] = found[t]
				r.in.Put(t, recent.Dated[[]market.Address]{Value: found[t], At: at})
			}
		}
	}
	for _, t := range tokens {
		out[t] = r.owners(t, wallets[store.TokenAt{Chain: t.Chain, Mint: t.Mint}])
	}
	return out, stale, nil
}

// owners are the members whose some wallets are by now, each once.
func (r *Reader) owners(t Token, wallets []market.Address) []members.Member {
	list := make([]members.Member, 0, len(wallets))
	seen := make(map[member.Number]bool, len(wallets))
	for _, w := range wallets {
		if owner, ok := r.directory.Owner(t.Family, w, t.Chain); ok && !seen[owner.Number] {
			seen[owner.Number] = true
			list = append(list, owner.Member)
		}
	}
	slices.SortFunc(list, func(a, b members.Member) int {
		return cmp.Compare(member.HandleKey(a.Handle), member.HandleKey(b.Handle))
	})
	return list
}
