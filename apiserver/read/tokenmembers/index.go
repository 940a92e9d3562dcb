// Package tokenmembers knows which members are in which tokens: they hold some that they bought in a trade that counts. It keeps all of it in memory, by
// what the chains' indexes and the registry of members change.
package tokenmembers

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/read/figures"
	"github.com/boardwalkhq/boardwalk/apiserver/read/members"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// Reader reads who of members' wallets is in tokens. It is store.Wallets.
type Reader interface {
	AllIn(ctx context.Context, chain string) iter.Seq2[store.WalletIn, error]
	InSince(ctx context.Context, since map[string]int64) iter.Seq2[store.WalletIn, error]
}

const (
	// loadTime bounds the reading of all that a chain has.
	loadTime = 2 * time.Minute
	// longestGap is how far back what changed is looked for, in seconds of the chain's time. After a longer time all is read anew.
	longestGap = 60 * 60
)

// Index knows who is in which token. Follow keeps it fresh; any number of goroutines may ask.
type Index struct {
	reader    Reader
	directory *members.Directory
	failing   atomic.Bool
	version   atomic.Int64

	// mu is held to read and to write the wallets' owners, the tokens' groups, and which chains there are. The rest is Follow's own.
	mu      sync.RWMutex
	wallets wallets
	chains  map[string]*chain

	// reading are the chains that are read anew.
	reading map[string]*reading
	reads   sync.WaitGroup
}

// reading is a chain of which all is read beside the looks.
type reading struct {
	at Chain
	// rows are what was read, in pieces of rowsAtOnce.
	rows [][]readRow
	err  error
	done chan struct{}
}

// readRow says that a member's wallet is in a token. There are very many while a chain is read.
type readRow struct {
	mint, wallet market.Address
	member       int64
}

func (r *reading) add(w *store.WalletIn) {
	last := len(r.rows) - 1
	if last < 0 || len(r.rows[last]) == rowsAtOnce {
		last++
		r.rows = append(r.rows, make([]readRow, 0, rowsAtOnce))
	}
	r.rows[last] = append(r.rows[last], readRow{w.Mint, w.Wallet, w.Member})
}

// New makes an index that knows of no chain yet.
func New(r Reader, d *members.Directory) *Index {
	return &Index{reader: r, directory: d, wallets: newWallets(), chains: map[string]*chain{}, reading: map[string]*reading{}}
}

// Chain is a chain as the caller saw it last.
type Chain struct {
	Family chainconfig.Family
	Status store.ChainStatus
}

// In are the members who are in a token.
type In struct {
	Count int
	// First are some of them, in the order of their handles.
	First []members.Member
}

// IsKnown is false while no member is known, and before the chain was read: then nobody knows who is in its tokens.
func (x *Index) IsKnown(chain string) bool {
	if x.directory.IsEmpty() {
		return false
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.chains[chain] != nil
}

// Wait returns when no chain is read any more.
func (x *Index) Wait() { x.reads.Wait() }

// IsFailing reports whether what changed last couldn't be read.
func (x *Index) IsFailing() bool { return x.failing.Load() }

// In gives who is in a token, and up to so many of them.
func (x *Index) In(chain string, mint market.Address, most int) In {
	if x.directory.IsEmpty() {
		return In{}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	g := x.group(chain, mint)
	if g == nil {
		return In{}
	}
	return In{Count: int(g.count), First: x.first(g, most)}
}

// Count is how many members are in a token.
func (x *Index) Count(chain string, mint market.Address) int { return x.In(chain, mint, 0).Count }

// Has reports whether a member is in a token.
func (x *Index) Has(chain string, mint market.Address, m members.Member) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	g := x.group(chain, mint)
	return g != nil && x.wallets.has(g, m)
}

// group is a token's; nil where nobody is in it.
func (x *Index) group(chain string, mint market.Address) *group {
	if c := x.chains[chain]; c != nil {
		return c.tokens.Find(mint)
	}
	return nil
}

// first are the first members in a token, by what the directory says of them now.
func (x *Index) first(g *group, most int) (list []members.Member) {
	for i := 0; i < len(g.wallets) && len(list) < most; i++ {
		if x.wallets.isOneBefore(g, i) {
			continue
		}
		w := x.wallets.all.At(g.wallets[i])
		if owner, ok := x.wallets.ownerOf(x.directory, g.on.family, w); ok && owner.Number == w.number {
			list = append(list, owner.Member)
		}
	}
	return list
}

// Version is another one after each change: until then the index gives the same, as long as the directory does.
func (x *Index) Version() int64 { return x.version.Load() }

// Follow takes in what has changed since the last time. The caller has had the directory follow the registry, and calls neither at the same time.
func (x *Index) Follow(ctx context.Context, chains map[string]Chain) error {
	err := x.follow(ctx, chains)
	x.failing.Store(err != nil)
	return err
}

func (x *Index) follow(ctx context.Context, chains map[string]Chain) error {
	moved, all := x.directory.Moved()
	if all || x.directory.IsEmpty() && len(x.chains) > 0 {
		x.mu.Lock()
		x.wallets, x.chains = newWallets(), map[string]*chain{}
		x.version.Add(1)
		x.mu.Unlock()
	}
	if x.directory.IsEmpty() { // there may be no members for good
		return nil
	}
	for id := range x.chains {
		if _, ok := chains[id]; !ok {
			x.replace(id, nil)
		}
	}
	x.own(moved)
	var errs []error
	since := map[string]int64{}
	for id, now := range chains {
		last := x.chains[id]
		switch {
		case last == nil || last.isLapsed(&now.Status):
			errs = append(errs, x.read(ctx, id, now))
		case last.status.CommitNo != now.Status.CommitNo:
			since[id] = last.status.Last.Time
		}
	}
	return errors.Join(append(errs, x.readSince(ctx, since, chains))...)
}

// own looks up whose the wallets are now. Chains that may have rows of their members that weren't taken in are read anew.
func (x *Index) own(keys []member.WalletKey) {
	if len(keys) == 0 {
		return
	}
	// No other goroutine changes what is read here, so that readers wait only while wallets are put in order.
	isNew, places := make([]bool, len(keys)), make(map[uint32]int, len(keys))
	moved := make(moves, x.wallets.all.Places())
	for i, k := range keys {
		if at, ok := x.wallets.all.Place(members.Account{Address: k.Address}); ok && k.Chain == "" {
			places[at], moved[at] = i, isRenamed
		}
	}
	if len(places) > 0 {
		touched := x.touched(moved)
		x.mu.Lock()
		for at, i := range places {
			w := x.wallets.all.At(at)
			former := w.number
			x.wallets.own(x.directory, keys[i].Family, w)
			if former > 0 && w.number != former {
				moved[at] = isAnothers
			}
			isNew[i] = former == 0 && w.number > 0
		}
		x.wallets.reorder(touched, moved)
		x.version.Add(1)
		x.mu.Unlock()
	}
	for i, k := range keys {
		x.lapse(k, isNew[i])
	}
}

// touched are the tokens that moved wallets are in. All tokens are looked through: what each wallet is in would take more memory than the rest of it, and wallets seldom move.
func (x *Index) touched(moved moves) (list []*group) {
	for _, c := range x.chains {
		for g := range c.tokens.All() {
			if slices.ContainsFunc(g.wallets, func(at uint32) bool { return moved[at] != stays }) {
				list = append(list, g)
			}
		}
	}
	return list
}

// lapse marks the chains that may have unread rows of a wallet's member, so that they are read anew.
func (x *Index) lapse(k member.WalletKey, isNew bool) {
	for id, c := range x.chains {
		account, alone := x.wallets.chains.Known(k.Address, id)
		if alone {
			_, alone = x.wallets.all.Place(account)
		}
		if isNew && c.family == k.Family || alone || k.Chain == id || x.wallets.isAlone(x.directory, c, k.Address) {
			c.lapsed = true
		}
	}
}

// readSince takes in what changed on some chains since a time on each.
func (x *Index) readSince(ctx context.Context, since map[string]int64, now map[string]Chain) error {
	if len(since) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, figures.LookTime)
	defer cancel()
	var changed []store.WalletIn
	for w, err := range x.reader.InSince(ctx, since) {
		if err != nil {
			return err
		}
		changed = append(changed, w)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range changed {
		if w := &changed[i]; x.chains[w.Chain] != nil {
			x.set(x.chains[w.Chain], w)
		}
	}
	x.version.Add(int64(len(changed)))
	for id := range since {
		x.chains[id].status = now[id].Status
	}
	return nil
}

// set notes whether a wallet's member is in a token.
func (x *Index) set(c *chain, row *store.WalletIn) {
	g := c.tokens.Find(row.Mint)
	if g == nil && !row.IsIn {
		return
	}
	at := x.wallets.at(x.directory, c, row.Wallet)
	if g == nil {
		g = c.token(row.Mint)
	}
	w := x.wallets.all.At(at)
	is := row.IsIn && w.has(row.Member)
	switch was := x.wallets.isIn(g, at); {
	case is == was:
	case is:
		x.wallets.put(g, at)
	default:
		x.wallets.take(g, at)
	}
}

// read reads all that a chain has: at first at once, later beside the looks, while whoever asks gets what was known before.
func (x *Index) read(ctx context.Context, id string, now Chain) error {
	r := x.reading[id]
	if r == nil {
		r = &reading{at: now, done: make(chan struct{})}
		x.reading[id] = r
		x.reads.Go(func() {
			defer close(r.done)
			ctx, cancel := context.WithTimeout(ctx, loadTime)
			defer cancel()
			for w, err := range x.reader.AllIn(ctx, id) {
				if r.err = err; err != nil {
					return
				}
				r.add(&w)
			}
		})
	}
	if x.chains[id] != nil {
		select {
		case <-r.done:
		default:
			return nil
		}
	}
	<-r.done
	delete(x.reading, id)
	switch {
	case r.err != nil:
		return r.err
	case r.isTakenBack(&now.Status):
		return x.read(ctx, id, now)
	}
	x.takeUp(id, r)
	return nil
}

// isTakenBack reports whether the chain has given up some of what was read, by a reorg or a new index.
func (r *reading) isTakenBack(now *store.ChainStatus) bool {
	at := &r.at.Status
	return at.Rewinds != now.Rewinds || at.Generation != now.Generation || now.CommitNo < at.CommitNo
}

// rowsAtOnce is how many wallets are looked up while nobody can ask.
const rowsAtOnce = 1_000

// takeUp takes in all that was read of a chain.
func (x *Index) takeUp(id string, r *reading) {
	c := newChain(id, r.at)
	places := make([]uint32, 0, rowsAtOnce)
	for _, rows := range r.rows {
		places = places[:0]
		x.mu.Lock()
		for i := range rows {
			places = append(places, x.wallets.at(x.directory, c, rows[i].wallet))
		}
		x.mu.Unlock()
		for i, at := range places {
			if w := x.wallets.all.At(at); w.has(rows[i].member) {
				g := c.token(rows[i].mint)
				g.wallets = append(g.wallets, at)
			}
		}
	}
	for g := range c.tokens.All() {
		g.wallets = slices.Clone(g.wallets) // without what append left free
		x.wallets.order(g)
	}
	x.replace(id, c)
}

// replace has a chain take the place of what was known of it; nil has nothing known of it.
func (x *Index) replace(id string, c *chain) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.chains[id] = c; c == nil {
		delete(x.chains, id)
	}
	x.version.Add(1)
}
