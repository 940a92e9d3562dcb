package profit

import (
	"cmp"
	"context"
	"slices"
	"sync"

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

// owners are the members who are in a token: those whose some wallets are.
type owners struct {
	wallets []market.Address

	mu sync.Mutex
	// list is as of the directory's change with a number.
	list   []members.Member
	change int64
}

// In lists the members who are in some tokens, by token, in the order of their handles: they hold some that they bought in a trade that counts.
// stale says that it is an old answer, since there is no new one for now. The lists are shared and must not be changed.
func (r *Reader) In(ctx context.Context, tokens []Token) (in map[Token][]members.Member, stale bool, err error) {
	var unread []store.TokenAt
	known := make(map[store.TokenAt]*owners, len(tokens))
	hasAll := true
	for _, t := range tokens {
		at := store.TokenAt{Chain: t.Chain, Mint: t.Mint}
		hit, ok := r.in.Get(at)
		known[at] = hit.Value
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
				known[t] = &owners{wallets: found[t], change: -1}
				r.in.Put(t, recent.Dated[*owners]{Value: known[t], At: at})
			}
		}
	}
	in = make(map[Token][]members.Member, len(tokens))
	for _, t := range tokens {
		in[t] = known[store.TokenAt{Chain: t.Chain, Mint: t.Mint}].named(t, r.directory)
	}
	return in, stale, nil
}

// named are the members whose the wallets are by now, each once.
func (o *owners) named(t Token, d *members.Directory) []members.Member {
	o.mu.Lock()
	defer o.mu.Unlock()
	change := d.Last() // what changes after it is seen by the next to ask
	if change == o.change {
		return o.list
	}
	type named struct {
		key string
		members.Member
	}
	all := make([]named, 0, len(o.wallets))
	seen := make(map[member.Number]bool, len(o.wallets))
	for _, w := range o.wallets {
		if owner, ok := d.Owner(t.Family, w, t.Chain); ok && !seen[owner.Number] {
			seen[owner.Number] = true
			all = append(all, named{member.HandleKey(owner.Handle), owner.Member})
		}
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Compare(a.key, b.key) })
	o.list, o.change = make([]members.Member, len(all)), change
	for i := range all {
		o.list[i] = all[i].Member
	}
	return o.list
}
