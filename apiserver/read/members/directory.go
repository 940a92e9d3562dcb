// Package members knows the platform's members: their handles, and whose wallets are whose. It follows the registry, and every answer asks it anew, so
// that whoever leaves, or hides a wallet, isn't named any more.
package members

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/compact"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/social"
)

// Registry reads the changes of members and wallets. It is social.Registry.
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
	members *compact.Map[member.ID, person]
	numbers map[member.Number]*person
	// handles has the members by their handles, in lower case.
	handles *compact.Map[string, *person]
	wallets *compact.Map[Account, owned]
	chains  *ChainNumbers
	// last is the number of the newest change that was taken in.
	last int64
	// servers are the registry's ServerChanges.
	servers int64
	// version counts the changes.
	version int64
	// moved are the wallets that may have another owner, or one of another name, since Moved was asked; allMoved stands for all.
	moved    map[Account]bool
	allMoved bool
	// whole says that all changes were taken in that there were at some moment.
	whole bool
}

// person is a member; they have no handle while their own change wasn't taken in.
type person struct {
	Member

	id member.ID
	// wallets are their places among the directory's.
	wallets []uint32
}

// owned is a wallet with whose it is. It has no pointer: there are very many.
type owned struct {
	Account

	// of is the place of its member among the directory's.
	of                 uint32
	isPublic, isProved bool
	since              int64
}

// NewDirectory knows nobody yet.
func NewDirectory(r Registry) *Directory {
	d := &Directory{registry: r, chains: NewChainNumbers()}
	d.clear()
	return d
}

func (d *Directory) clear() {
	d.members, d.numbers = compact.New(func(p *person) member.ID { return p.id }), map[member.Number]*person{}
	d.handles = compact.New(func(p **person) string { return member.HandleKey((*p).Handle) })
	d.wallets, d.last = compact.New(func(w *owned) Account { return w.Account }), 0
	d.moved, d.allMoved = map[Account]bool{}, true
	d.whole = false
	d.version++
}

// Of returns the handle of the member who shows a wallet on a chain; "" if no member shows it there. A member shows a wallet on one chain, or on all
// chains of its family.
func (d *Directory) Of(f chainconfig.Family, address market.Address, chain string) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for w := range d.at(f, address, chain) {
		if w.isPublic {
			return d.memberOf(w).Handle
		}
	}
	return ""
}

// Owner gives whose wallet an account is on a chain, public or not; ok is false if it is nobody's.
func (d *Directory) Owner(f chainconfig.Family, address market.Address, chain string) (w Wallet, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for o := range d.at(f, address, chain) {
		if p := d.memberOf(o); p.Handle != "" {
			return Wallet{Member: p.Member, IsPublic: o.isPublic, IsProved: o.isProved, Since: o.since}, true
		}
	}
	return w, false
}

// at are the wallets that an account may be on a chain: one on all chains of its family, and one on that chain alone.
func (d *Directory) at(f chainconfig.Family, address market.Address, chain string) iter.Seq[*owned] {
	return func(yield func(*owned) bool) {
		if chainconfig.FamilyOf(address) != f {
			return
		}
		if w := d.wallets.Find(Account{Address: address}); w != nil && !yield(w) {
			return
		}
		if alone, ok := d.chains.Known(address, chain); ok {
			if w := d.wallets.Find(alone); w != nil {
				yield(w)
			}
		}
	}
}

// memberOf is whose a wallet is.
func (d *Directory) memberOf(w *owned) *person { return d.members.At(w.of) }

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
	p := d.numbers[n]
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
	return d.handles.Find(member.HandleKey(handle)) != nil
}

// Named gives the member with a handle, whose case is ignored; ok is false if there is none.
func (d *Directory) Named(handle string) (m Member, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p := d.handles.Find(member.HandleKey(handle))
	if p == nil {
		return m, false
	}
	return (*p).Member, true
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
	for a := range d.moved {
		keys = append(keys, d.keyOf(a))
	}
	all = d.allMoved
	d.moved, d.allMoved = map[Account]bool{}, false
	return keys, all
}

// keyOf makes the key by which the registry finds an account.
func (d *Directory) keyOf(a Account) member.WalletKey {
	return member.WalletKey{Family: chainconfig.FamilyOf(a.Address), Address: a.Address, Chain: d.chains.Name(a)}
}

// move notes that a wallet may have another owner, or one of another name. The caller holds mu.
func (d *Directory) move(a Account) {
	if !d.allMoved {
		d.moved[a] = true
	}
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
		for _, a := range erased {
			d.remove(a)
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
func (d *Directory) erasedWallets(ctx context.Context, list []social.Change) (erased []Account, err error) {
	for i := range list {
		m := list[i].Member
		if m == nil || m.LeftAt > 0 {
			continue
		}
		p := d.members.Find(m.ID)
		if p == nil || p.Handle == "" || len(p.wallets) == 0 {
			continue
		}
		_, has, err := d.registry.Member(ctx, m.ID)
		if err != nil {
			return nil, err
		}
		for _, place := range p.wallets {
			a := d.wallets.At(place).Account
			if !slices.ContainsFunc(has, func(w member.Wallet) bool { return w.Key() == d.keyOf(a) }) {
				erased = append(erased, a)
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
	if m.LeftAt > 0 {
		d.leave(m.ID)
		return
	}
	p := d.members.At(d.person(m.ID))
	if p.Handle != m.Handle {
		for _, place := range p.wallets {
			d.move(d.wallets.At(place).Account)
		}
	}
	d.forgetHandle(p)
	p.Member = Member{Number: m.Number, Handle: m.Handle, AvatarURL: m.AvatarURL, JoinedAt: m.JoinedAt}
	d.handles.Put(p)
	d.numbers[m.Number] = p
}

// leave forgets a member with their wallets, which may be erased before their changes were seen.
func (d *Directory) leave(id member.ID) {
	p := d.members.Find(id)
	if p == nil {
		return
	}
	d.forgetHandle(p)
	delete(d.numbers, p.Number)
	for _, place := range slices.Clone(p.wallets) {
		d.remove(d.wallets.At(place).Account)
	}
	d.members.Remove(id)
}

// forgetHandle removes a member's handle, unless somebody else has it by now.
func (d *Directory) forgetHandle(of *person) {
	key := member.HandleKey(of.Handle)
	if p := d.handles.Find(key); p != nil && *p == of {
		d.handles.Remove(key)
	}
}

// person is the place of a member, known or not yet.
func (d *Directory) person(id member.ID) uint32 {
	place, ok := d.members.Place(id)
	if !ok {
		place = d.members.Put(person{id: id})
	}
	return place
}

func (d *Directory) takeWallet(w *member.Wallet) {
	a := d.chains.Account(w.Address, w.Chain)
	if w.RemovedAt > 0 || w.MemberLeft {
		d.remove(a)
		return
	}
	if former := d.wallets.Find(a); former != nil && d.memberOf(former).id == w.Member && former.isPublic == w.Public {
		former.isProved, former.since = w.Proof != nil, w.Since
		return
	}
	d.remove(a)
	of := d.person(w.Member)
	place := d.wallets.Put(owned{Account: a, of: of, since: w.Since, isPublic: w.Public, isProved: w.Proof != nil})
	d.move(a)
	p := d.members.At(of)
	p.wallets = append(p.wallets, place)
}

// remove has a wallet be nobody's, if it is somebody's.
func (d *Directory) remove(a Account) {
	place, ok := d.wallets.Place(a)
	if !ok {
		return
	}
	p := d.memberOf(d.wallets.At(place))
	d.wallets.Remove(a)
	d.move(a)
	p.wallets = slices.DeleteFunc(p.wallets, func(other uint32) bool { return other == place })
	if p.Handle == "" && len(p.wallets) == 0 {
		d.members.Remove(p.id)
	}
}
