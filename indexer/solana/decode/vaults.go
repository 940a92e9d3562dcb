package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// vault is a token account of a pool.
type vault struct {
	token         market.Address
	before, after market.Amount
}

// vaults are a pool's token accounts among those of the instruction, in their order: the first two that are the holder's.
func (c *call) vaults(holder market.Address) (first, second vault, ok bool) {
	var found []vault
	for _, place := range c.r.tx.accountsOf(c.teller()) {
		for k := range c.r.tx.post {
			if b := &c.r.tx.post[k]; b.account == place && c.r.key(b.owner) == holder {
				found = append(found, vault{token: c.r.key(b.mint), after: amountOf(b.amount), before: c.r.before(place)})
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

// callsAbout counts the transaction's calls of the program that have this one's pool at its place among their accounts.
func (c *call) callsAbout(place int) (n int) {
	pool := c.r.tx.keys[c.r.tx.accountsOf(c.at)[place]] // there is one, as the pool was read
	for i := range c.r.tx.instructions {
		at := &c.r.tx.instructions[i]
		if at.program != c.at.program {
			continue
		}
		if accounts := c.r.tx.accountsOf(at); len(accounts) > place && string(c.r.tx.keys[accounts[place]]) == string(pool) {
			n++
		}
	}
	return n
}

// vaultAt is the token account at a place among those of the instruction; ok is false where it is none.
func (c *call) vaultAt(i int) (v vault, ok bool) {
	after, ok := c.balanceAfter(i)
	if !ok {
		return v, false
	}
	return vault{before: c.r.before(c.r.tx.accountsOf(c.teller())[i]), after: after}, true
}
