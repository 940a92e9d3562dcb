package tokenmembers

import (
	"cmp"
	"slices"

	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/compact"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// chain has the tokens of one chain that members' wallets are in.
type chain struct {
	id     string
	family chainconfig.Family
	// status is the chain's when it was read last.
	status store.ChainStatus
	// lapsed says that what was read has to be read anew.
	lapsed bool
	tokens *compact.Map[market.Address, group]
}

func newChain(id string, at Chain) *chain {
	return &chain{id: id, family: at.Family, status: at.Status, tokens: compact.New(func(g *group) market.Address { return g.mint })}
}

// isLapsed reports whether what was read has to be read anew: the chain had a reorg, is another index, has lost commits, or wasn't looked at for long.
func (c *chain) isLapsed(now *store.ChainStatus) bool {
	was := &c.status
	return c.lapsed || now.Rewinds != was.Rewinds || now.Generation != was.Generation || now.CommitNo < was.CommitNo || now.Last.Time-was.Last.Time > longestGap
}

func (c *chain) token(mint market.Address) *group {
	if g := c.tokens.Find(mint); g != nil {
		return g
	}
	return c.tokens.At(c.tokens.Put(group{mint: mint, on: c}))
}

// group is a token with the places of the wallets in it that are somebody's, by their members' handles: a member's are side by side.
type group struct {
	mint market.Address
	// count is how many members they are of.
	count   uint32
	on      *chain
	wallets []uint32
}

// wallet is a wallet with whose it is.
type wallet struct {
	members.Account

	// number is its member's, and key that of the handle; 0 where it is nobody's.
	number member.Number
	key    string
}

// has reports whether a row's member is the wallet's. It may be of a former one, and then the index is about to forget it.
func (w *wallet) has(number int64) bool { return w.number > 0 && number == int64(w.number) }

// wallets keeps the members' wallets that have, or had, a position in a token.
type wallets struct {
	all    *compact.Map[members.Account, wallet]
	chains *members.ChainNumbers
}

func newWallets() wallets {
	return wallets{all: compact.New(func(w *wallet) members.Account { return w.Account }), chains: members.NewChainNumbers()}
}

// ownerOf gives whose a wallet is, by what the directory says now.
func (ws *wallets) ownerOf(d *members.Directory, f chainconfig.Family, w *wallet) (members.Wallet, bool) {
	return d.Owner(f, w.Address, ws.chains.Name(w.Account))
}

// own looks up whose a wallet is.
func (ws *wallets) own(d *members.Directory, f chainconfig.Family, w *wallet) {
	w.number, w.key = 0, ""
	if owner, ok := ws.ownerOf(d, f, w); ok {
		w.number, w.key = owner.Number, member.HandleKey(owner.Handle)
	}
}

// at is the place of a wallet on a chain, made if there is none. Whose a wallet of one chain alone is may change here: then its chain has lapsed, and its tokens are read anew.
func (ws *wallets) at(d *members.Directory, c *chain, address market.Address) uint32 {
	a := members.Account{Address: address}
	at, ok := ws.all.Place(a)
	if ok && ws.all.At(at).number > 0 {
		return at
	}
	if ws.isAlone(d, c, address) {
		a = ws.chains.Account(address, c.id)
		if at, ok = ws.all.Place(a); ok {
			ws.own(d, c.family, ws.all.At(at))
		}
	}
	if !ok {
		at = ws.all.Put(wallet{Account: a})
		ws.own(d, c.family, ws.all.At(at))
	}
	return at
}

// isAlone reports whether an account is somebody's wallet on one chain alone.
func (ws *wallets) isAlone(d *members.Directory, c *chain, address market.Address) bool {
	_, anywhere := d.Owner(c.family, address, "")
	_, here := d.Owner(c.family, address, c.id)
	return here && !anywhere
}

// compare orders wallets by their members' handles.
func (ws *wallets) compare(a, b uint32) int {
	x, y := ws.all.At(a), ws.all.At(b)
	return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.number, y.number), cmp.Compare(a, b))
}

// order puts the wallets of a token in order, and counts their members.
func (ws *wallets) order(g *group) {
	slices.SortFunc(g.wallets, ws.compare)
	g.count = 0
	for i := range g.wallets {
		if !ws.isOneBefore(g, i) {
			g.count++
		}
	}
}

// isOneBefore reports whether the i-th wallet of a token has the member of the one before it.
func (ws *wallets) isOneBefore(g *group, i int) bool {
	return i > 0 && ws.all.At(g.wallets[i-1]).number == ws.all.At(g.wallets[i]).number
}

// isOnly reports whether the i-th wallet of a token is the only one of its member there.
func (ws *wallets) isOnly(g *group, i int) bool {
	return !ws.isOneBefore(g, i) && (i+1 == len(g.wallets) || !ws.isOneBefore(g, i+1))
}

// isIn reports whether a wallet counts in a token.
func (ws *wallets) isIn(g *group, at uint32) bool {
	_, ok := slices.BinarySearchFunc(g.wallets, at, ws.compare)
	return ok
}

// put has a wallet count in a token.
func (ws *wallets) put(g *group, at uint32) {
	i, _ := slices.BinarySearchFunc(g.wallets, at, ws.compare)
	if g.wallets = slices.Insert(g.wallets, i, at); ws.isOnly(g, i) {
		g.count++
	}
}

// take has a wallet count in a token no more.
func (ws *wallets) take(g *group, at uint32) {
	i, ok := slices.BinarySearchFunc(g.wallets, at, ws.compare)
	if !ok {
		return
	}
	if ws.isOnly(g, i) {
		g.count--
	}
	g.wallets = slices.Delete(g.wallets, i, i+1)
}

// has reports whether a member is in a token.
func (ws *wallets) has(g *group, m members.Member) bool {
	key := member.HandleKey(m.Handle)
	_, ok := slices.BinarySearchFunc(g.wallets, m, func(at uint32, m members.Member) int {
		w := ws.all.At(at)
		return cmp.Or(cmp.Compare(w.key, key), cmp.Compare(w.number, m.Number))
	})
	return ok
}

// moves says of wallets by their places whether they moved.
type moves []move

type move uint8

const (
	// stays is for a wallet that has the member whom it had.
	stays move = iota
	// isRenamed is for a wallet that may stand elsewhere among others, and isAnothers for one that was another member's, of whom the indexes forget what it was in.
	isRenamed
	isAnothers
)

// reorder puts the moved wallets of tokens where they belong, or takes them out if they were another member's.
func (ws *wallets) reorder(tokens []*group, moved moves) {
	for _, g := range tokens {
		g.wallets = slices.DeleteFunc(g.wallets, func(at uint32) bool { return moved[at] == isAnothers })
		ws.order(g)
	}
}
