// Package handles knows which members show which wallets: the handle of a wallet that its member made public. It follows the registry, and every answer
// asks it anew, so that whoever leaves, or hides a wallet, isn't named any more.
package handles

import (
	"context"
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
	// ServerChanges counts how often the database's server was another one.
	ServerChanges() int64
}

// Directory is the handles of public wallets. Follow keeps it fresh; any number of goroutines may ask.
type Directory struct {
	registry Registry

	mu sync.RWMutex
	// members have the handles of members, wallets whose the public wallets are, and public which of these a member has.
	members map[member.ID]string
	wallets map[member.WalletKey]member.ID
	public  map[member.ID][]member.WalletKey
	// last is the number of the newest change that was taken in.
	last int64
	// servers are the registry's ServerChanges.
	servers int64
	// version counts the changes of what is public.
	version int64
}

// NewDirectory knows nobody yet.
func NewDirectory(r Registry) *Directory {
	d := &Directory{registry: r}
	d.clear()
	return d
}

func (d *Directory) clear() {
	d.members, d.wallets, d.public, d.last = map[member.ID]string{}, map[member.WalletKey]member.ID{}, map[member.ID][]member.WalletKey{}, 0
	d.version++
}

// Of gives the handle of the member who shows this account as their wallet, on every chain of the family or on this one; "" if nobody does.
func (d *Directory) Of(f chainconfig.Family, account market.Address, chain string) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if id, ok := d.wallets[member.WalletKey{Family: f, Address: account}]; ok {
		return d.members[id]
	}
	if id, ok := d.wallets[member.WalletKey{Family: f, Address: account, Chain: chain}]; ok && chain != "" {
		return d.members[id]
	}
	return ""
}

// Version is another one after each change of what Of gives.
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
		if err != nil || len(list) == 0 {
			return err
		}
		d.mu.Lock()
		for i := range list {
			d.take(&list[i])
		}
		d.mu.Unlock()
	}
	return nil
}

// take takes a change in. The caller holds mu.
func (d *Directory) take(c *social.Change) {
	d.last = c.Number
	if c.Wallet != nil {
		d.takeWallet(c.Wallet)
		return
	}
	m := c.Member
	if m.LeftAt > 0 {
		// Their wallets may be erased before their changes were seen.
		for _, key := range slices.Clone(d.public[m.ID]) {
			d.hide(key)
		}
		delete(d.members, m.ID)
		return
	}
	if len(d.public[m.ID]) > 0 && d.members[m.ID] != m.Handle {
		d.version++
	}
	d.members[m.ID] = m.Handle
}

func (d *Directory) takeWallet(w *member.Wallet) {
	key, shows := w.Key(), w.Public && w.RemovedAt == 0 && !w.MemberLeft
	if former, ok := d.wallets[key]; ok && shows && former == w.Member {
		return
	}
	d.hide(key)
	if shows {
		d.version++
		d.wallets[key] = w.Member
		d.public[w.Member] = append(d.public[w.Member], key)
	}
}

// hide has a wallet be nobody's, if it is somebody's.
func (d *Directory) hide(key member.WalletKey) {
	of, ok := d.wallets[key]
	if !ok {
		return
	}
	d.version++
	delete(d.wallets, key)
	if d.public[of] = slices.DeleteFunc(d.public[of], func(k member.WalletKey) bool { return k == key }); len(d.public[of]) == 0 {
		delete(d.public, of)
	}
}
