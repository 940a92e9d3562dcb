// Package members knows the platform's members: their handles, and whose wallets are whose. It follows the registry, and every answer asks it anew, so
// that whoever leaves, or hides a wallet, isn't named any more.
package members

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// Registry is what has changed of members. It is social.Store.
type Registry interface {
	Changes(ctx context.Context, after int64, limit int) ([]social.Change, error)
	LastChange(ctx context.Context) (int64, error)
	// Member gives a member with the wallets that are theirs now.
	Member(ctx context.Context, id member.ID) (*member.Member, []member.Wallet, error)
	// ServerChanges counts how often the database's server was another one.
	ServerChanges() int64
}

// Member is one of the platform's members.
type Member struct {
	Number            member.Number
	Handle, AvatarURL string
	JoinedAt          int64 // unix seconds
}

// Wallet is a member's wallet.
type Wallet struct {
	Member
	// IsPublic says that the member shows it as theirs.
	IsPublic bool
	// IsProved says that whoever owns it has signed that it is the member's, and not the platform alone has said so.
	IsProved bool
	// Since is from when on it counts for the member; unix seconds.
	Since int64
}

// Directory is the members and their wallets. Follow keeps it fresh; any number of goroutines may ask.
type Directory struct {
	registry Registry

	mu      sync.RWMutex
	members map[member.ID]*person
	numbers map[member.Number]member.ID
	// handles has the members by their handles, in lower case.
	handles map[string]member.ID
	wallets map[member.WalletKey]owned
	// last is the number of the newest change that was taken in.
	last int64
	// servers are the registry's ServerChanges.
	servers int64
	// version counts the changes.
	version int64
	// moved are the wallets that may have another owner, or one of another name, since Moved was asked; allMoved stands for all.
	moved    map[member.WalletKey]bool
	allMoved bool
	// whole says that all changes were taken in that there were at some moment.
	whole bool
}

// person is a member; they have no handle while their own change wasn't taken in.
type person struct {
	Member

	wallets []member.WalletKey
}

// owned is a wallet with whose it is.
type owned struct {
	of                 member.ID
	isPublic, isProved bool
	since              int64
}

// NewDirectory knows nobody yet.
func NewDirectory(r Registry) *Directory {
	d := &Directory{registry: r}
	d.clear()
	return d
}

func (d *Directory) clear() {
	d.members, d.numbers, d.handles = map[member.ID]*person{}, map[member.Number]member.ID{}, map[string]member.ID{}
	d.wallets, d.last = map[member.WalletKey]owned{}, 0
	d.moved, d.allMoved = map[member.WalletKey]bool{}, true
	d.whole = false
	d.version++
}

// Of returns the handle of the member who shows a wallet on a chain; "" if no member shows it there. A member shows a wallet on one chain, or on all
// chains of its family.
func (d *Directory) Of(f chainconfig.Family, account market.Address, chain string) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, key := range keysOf(f, account, chain) {
		if w, ok := d.wallets[key]; ok && w.isPublic {
			return d.members[w.of].Handle
		}
	}
	return ""
}

// Owner gives whose wallet an account is on a chain, public or not; ok is false if it is nobody's.
func (d *Directory) Owner(f chainconfig.Family, account market.Address, chain string) (w Wallet, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, key := range keysOf(f, account, chain) {
		if o, ok := d.wallets[key]; ok && d.members[o.of].Handle != "" {
			return Wallet{Member: d.members[o.of].Member, IsPublic: o.isPublic, IsProved: o.isProved, Since: o.since}, true
		}
	}
	return w, false
}

// keysOf are the keys under which an account may be a member's on a chain.
func keysOf(f chainconfig.Family, account market.Address, chain string) []member.WalletKey {
	keys := []member.WalletKey{{Family: f, Address: account}, {Family: f, Address: account, Chain: chain}}
	if chain == "" {
		return keys[:1]
	}
	return keys
}

// IsEmpty reports whether no member is known: there is none, or the registry couldn't be read for long.
func (d *Directory) IsEmpty() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.numbers) == 0
}

// Member gives the member with a number; ok is false if there is none.
func (d *Directory) Member(n member.Number) (m Member, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.members[d.numbers[n]]
	if p == nil || p.Handle == "" {
		return m, false
	}
	return p.Member, true
}

// Count is how many members there are.
func (d *Directory) Count() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.numbers)
}

// Has reports whether a member has a handle; its case is ignored.
func (d *Directory) Has(handle string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	_, ok := d.handles[member.HandleKey(handle)]
	return ok
}

// Named gives the member with a handle, whose case is ignored; ok is false if there is none.
func (d *Directory) Named(handle string) (m Member, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.members[d.handles[member.HandleKey(handle)]]
	if p == nil {
		return m, false
	}
	return p.Member, true
}

// IsWhole reports whether everybody is known whom the registry had a moment ago.
func (d *Directory) IsWhole() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.whole
}

// Moved gives the wallets that may have another owner, or one of another name, than when it was asked last; all stands for all wallets.
func (d *Directory) Moved() (keys []member.WalletKey, all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys, all = slices.Collect(maps.Keys(d.moved)), d.allMoved
	d.moved, d.allMoved = map[member.WalletKey]bool{}, false
	return keys, all
}

// Version is another one after each change: until then the directory gives the same.
func (d *Directory) Version() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.version
}

// changesAtOnce is how many changes are read at once.
const changesAtOnce = 1000

// Forget has nobody be named until Follow has read everybody anew.
func (d *Directory) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last > 0 {
		d.clear()
	}
}

// Follow takes in what has changed since the last time. What it took in before an error it keeps. One goroutine calls it and Forget. A registry that has
// gone back, as one that was restored, and one on another server, which may lack the newest changes of the last, are read anew.
func (d *Directory) Follow(ctx context.Context) error {
	servers := d.registry.ServerChanges() // before the change: it may be another server's already, and then differs the next time
	last, err := d.registry.LastChange(ctx)
	if err != nil {
		return err
	}
	if last < d.last || servers != d.servers {
		d.Forget()
		d.servers = servers
	}
	for d.last < last {
		list, err := d.registry.Changes(ctx, d.last, changesAtOnce)
		if err != nil {
			return err
		}
		if len(list) == 0 { // what changed last isn't there any more
			break
		}
		erased, err := d.erasedWallets(ctx, list)
		if err != nil {
			return err
		}
		d.mu.Lock()
		for _, key := range erased {
			d.remove(key)
		}
		for i := range list {
			d.take(&list[i])
		}
		d.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whole = true
	return nil
}

// erasedWallets are wallets of members who may have left and come back since their last change was taken in. Wallets that were erased in between have no
// change that says so.
func (d *Directory) erasedWallets(ctx context.Context, list []social.Change) (erased []member.WalletKey, err error) {
	for i := range list {
		m := list[i].Member
		if m == nil || m.LeftAt > 0 {
			continue
		}
		p := d.members[m.ID]
		if p == nil || p.Handle == "" || len(p.wallets) == 0 {
			continue
		}
		_, has, err := d.registry.Member(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		for _, key := range p.wallets {
			if !slices.ContainsFunc(has, func(w member.Wallet) bool { return w.Key() == key }) {
				erased = append(erased, key)
			}
		}
	}
	return erased, nil
}

// take takes a change in. The caller holds mu.
func (d *Directory) take(c *social.Change) {
	d.last = c.Number
	d.version++
	if c.Wallet != nil {
		d.takeWallet(c.Wallet)
		return
	}
	m := c.Member
	p := d.members[m.ID]
	if m.LeftAt > 0 {
		if p == nil {
			return
		}
		for _, key := range slices.Clone(p.wallets) { // they may be erased before their changes were seen
			d.remove(key)
		}
		d.forgetHandle(p.Handle, m.ID)
		delete(d.numbers, p.Number)
		delete(d.members, m.ID)
		return
	}
	p = d.person(m.ID)
	if p.Handle != m.Handle {
		for _, key := range p.wallets {
			d.moved[key] = true
		}
	}
	d.forgetHandle(p.Handle, m.ID)
	d.handles[member.HandleKey(m.Handle)] = m.ID
	p.Member = Member{Number: m.Number, Handle: m.Handle, AvatarURL: m.AvatarURL, JoinedAt: m.JoinedAt}
	d.numbers[m.Number] = m.ID
}

// forgetHandle removes a member's handle, unless somebody else has it by now.
func (d *Directory) forgetHandle(handle string, of member.ID) {
	if key := member.HandleKey(handle); d.handles[key] == of {
		delete(d.handles, key)
	}
}

// person is a member, known or not yet.
func (d *Directory) person(id member.ID) *person {
	p := d.members[id]
	if p == nil {
		p = &person{}
		d.members[id] = p
	}
	return p
}

func (d *Directory) takeWallet(w *member.Wallet) {
	key := w.Key()
	former, was := d.wallets[key]
	if w.RemovedAt > 0 || w.MemberLeft {
		d.remove(key)
		return
	}
	now := owned{of: w.Member, isPublic: w.Public, isProved: w.Proof != nil, since: w.Since}
	if was && former.of == now.of && former.isPublic == now.isPublic {
		d.wallets[key] = now
		return
	}
	d.remove(key)
	d.wallets[key], d.moved[key] = now, true
	p := d.person(w.Member)
	p.wallets = append(p.wallets, key)
}

// remove has a wallet be nobody's, if it is somebody's.
func (d *Directory) remove(key member.WalletKey) {
	w, ok := d.wallets[key]
	if !ok {
		return
	}
	delete(d.wallets, key)
	d.moved[key] = true
	p := d.members[w.of]
	p.wallets = slices.DeleteFunc(p.wallets, func(k member.WalletKey) bool { return k == key })
	if p.Handle == "" && len(p.wallets) == 0 {
		delete(d.members, w.of)
	}
}
