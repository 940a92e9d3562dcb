package decode

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// vault is a token account of a pool.
type vault struct {
	account       uint16 // its place among the transaction's keys
	token         market.Address
	before, after market.Amount
}

// vaults are a pool's token accounts among those of the instruction, in their order: the first two that are the holder's.
func (c *call) vaults(holder market.Address) (first, second vault, ok bool) {
	var found []vault
	for _, place := range c.r.tx.accountsOf(c.teller()) {
		for k := range c.r.tx.post {
			if b := &c.r.tx.post[k]; b.account == place && c.r.key(b.owner) == holder {
				found = append(found, vault{account: place, token: c.r.key(b.mint), after: amountOf(b.amount), before: c.r.before(place)})
			}
		}
	}
	if len(found) < 2 || found[0].token == found[1].token {
		return first, second, false
	}
	return found[0], found[1], true
}

// before is what a token account had before the transaction.
func (r *reader) before(account uint16) (a market.Amount) {
	for k := range r.tx.pre {
		if b := &r.tx.pre[k]; b.account == account {
			return amountOf(b.amount)
		}
	}
	return a
}

// changes are by how much the call changes its pool's token accounts: by what the transaction did to them, where no other call of the program has the pool among its
// accounts; else by the transfers that the call made. What Token-2022 withholds of those counts as arrived. ok is false where nothing tells that the call moved anything.
func (c *call) changes(pool int, list ...*vault) (by []market.SignedAmount, ok bool) {
	by = make([]market.SignedAmount, len(list))
	if c.isAlone(c.r.tx.accountsOf(c.at)[pool]) { // there is one, as the pool was read
		for i, v := range list {
			by[i] = in(v.after).Add(out(v.before))
		}
	} else {
		for _, t := range c.transfers() {
			for i, v := range list {
				if t.from == v.account {
					by[i] = by[i].Add(out(t.amount))
				}
				if t.to == v.account {
					by[i] = by[i].Add(in(t.amount))
				}
			}
		}
	}
	return by, slices.ContainsFunc(by, func(s market.SignedAmount) bool { return !s.IsZero() })
}

// moved tells a call that changes a pool's reserves by what it did to the pool's token accounts. The accounts may have more than the reserves, which is owed to others.
func (c *call) moved(pool int, holder market.Address) {
	first, second, ok := c.vaults(holder)
	if !ok || c.account(pool).IsNone() {
		return
	}
	if by, ok := c.changes(pool, &first, &second); ok {
		c.emit(market.ReservesMoved{Pool: c.account(pool), Change0: by[0], Change1: by[1]})
	}
}

// isAlone reports whether no other call of the program in the transaction has a pool among its accounts.
func (c *call) isAlone(pool uint16) bool {
	key := string(c.r.tx.keys[pool])
	for i := range c.r.tx.instructions {
		if at := &c.r.tx.instructions[i]; at != c.at && at.program == c.at.program {
			for _, place := range c.r.tx.accountsOf(at) {
				if string(c.r.tx.keys[place]) == key {
					return false
				}
			}
		}
	}
	return true
}

// transfer is a transfer between token accounts, by their places among the transaction's keys.
type transfer struct {
	from, to uint16
	amount   market.Amount
}

// transfers are those of tokens that the call made, or what it called; none where the node doesn't tell which call called which.
func (c *call) transfers() (list []transfer) {
	if c.at.inner > 0 && c.at.height == 0 {
		return nil
	}
	all := c.r.tx.instructions
	for i := range all {
		if &all[i] != c.at {
			continue
		}
		for i++; i < len(all) && all[i].outer == c.at.outer && (c.at.inner == 0 || all[i].height > c.at.height); i++ {
			if t, ok := c.r.transferOf(&all[i]); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

func (r *reader) transferOf(at *instruction) (t transfer, ok bool) {
	if program := r.account(at.program); program != tokenProgram && program != address2022 {
		return t, false
	}
	data, ok := r.tx.appendData(nil, at)
	if !ok {
		return t, false
	}
	amount, to, ok := spltoken.Transfer(data)
	accounts := r.tx.accountsOf(at)
	if !ok || len(accounts) <= to {
		return t, false
	}
	return transfer{from: accounts[0], to: accounts[to], amount: amount}, true
}
