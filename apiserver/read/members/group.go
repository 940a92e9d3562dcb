package members

import (
	"cmp"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
)

// Group are the members of some wallets of a chain. Any number of goroutines may ask.
type Group struct {
	family  chainconfig.Family
	chain   string
	wallets []market.Address

	mu sync.Mutex
	// list is as of a version of the directory.
	list    []Member
	version int64
}

// NewGroup makes the group of some wallets on a chain.
func NewGroup(f chainconfig.Family, chain string, wallets []market.Address) *Group {
	return &Group{family: f, chain: chain, wallets: wallets, version: -1}
}

// Members are those whose the wallets are by now, each once, in the order of their handles. A nil group has none. The list is shared and must not be changed.
func (g *Group) Members(d *Directory) []Member {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	version := d.Version() // what changes after it is seen by the next to ask
	if version == g.version {
		return g.list
	}
	type named struct {
		key string
		Member
	}
	all := make([]named, 0, len(g.wallets))
	seen := make(map[member.Number]bool, len(g.wallets))
	for _, w := range g.wallets {
		if owner, ok := d.Owner(g.family, w, g.chain); ok && !seen[owner.Number] {
			seen[owner.Number] = true
			all = append(all, named{member.HandleKey(owner.Handle), owner.Member})
		}
	}
	slices.SortFunc(all, func(a, b named) int { return cmp.Compare(a.key, b.key) })
	g.list, g.version = make([]Member, len(all)), version
	for i := range all {
		g.list[i] = all[i].Member
	}
	return g.list
}
