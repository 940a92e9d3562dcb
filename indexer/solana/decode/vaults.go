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

// vaults are a pool's token accounts, at a place among those of the instruction and the one after it; ok is false where they aren't two of the holder's. The program checks which accounts
// stand there. It doesn't check each of the others: somebody may put an account of another pool there, or one of this pool once more.
func (c *call) vaults(holder market.Address, place int) (first, second vault, ok bool) {
	first, ok = c.vaultAt(holder, place)
	second, also := c.vaultAt(holder, place+1)
	return first, second, ok && also && first.token != second.token
}

func (c *call) vaultAt(holder market.Address, place int) (v vault, ok bool) {
	accounts := c.r.tx.accountsOf(c.at)
	if place >= len(accounts) {
		return v, false
	}
	v.account = accounts[place]
	for k := range c.r.tx.post {
		if b := &c.r.tx.post[k]; b.account == v.account && c.r.key(b.owner) == holder {
			v.token, v.before, v.after = c.r.key(b.mint), c.r.before(v.account), amountOf(b.amount)
			return v, true
		}
	}
	return v, false
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

// changes are by how much the call changes its pool's token accounts: by what the transaction did to them, where nothing else there is about the pool; else by the transfers that the call
// made. What Token-2022 withholds of those counts as arrived. ok is false where nothing tells that the call moved anything,
// and where it had another program do something to the accounts: an order book that settles brings what was the pool's before.
func (c *call) changes(pool int, list ...*vault) (by []market.SignedAmount, ok bool) {
	by = make([]market.SignedAmount, len(list))
	called, sure := c.r.tx.callsOf(c.index)
	alone := c.isAlone(pool, list...)
	if !alone && !sure {
		return nil, false
	}
	for i := range called {
		at := &called[i]
		program := c.r.account(at.program)
		isToken := isTokenProgram(program)
		t, moves := c.r.transferOf(at)
		for n, v := range list {
			switch {
			case !isToken && program != systemProgram && slices.Contains(c.r.tx.accountsOf(at), v.account):
				return nil, false
			case !isToken || !moves || alone || t.from == t.to:
			case t.from == v.account:
				by[n] = by[n].Add(out(t.amount))
			case t.to == v.account:
				by[n] = by[n].Add(in(t.amount))
			}
		}
	}
	for n, v := range list {
		if alone {
			by[n] = in(v.after).Add(out(v.before))
		}
	}
	return by, slices.ContainsFunc(by, func(s market.SignedAmount) bool { return !s.IsZero() })
}

// opened tells a pool that the call makes, and what it puts there.
func (c *call) opened(pool int, first, second *vault, protocol market.Protocol) {
	c.emit(market.PoolCreated{Protocol: protocol, Factory: c.p.key, Pool: c.account(pool), Token0: first.token, Token1: second.token})
	if by, ok := c.changes(pool, first, second); ok {
		c.emit(market.Reserves{Pool: c.account(pool), Reserve0: by[0].AddedTo(first.before), Reserve1: by[1].AddedTo(second.before)})
	}
}

// moved tells a call that changes a pool's reserves by what it did to the pool's token accounts. The accounts may have more than the reserves, which is owed to others.
func (c *call) moved(pool int, holder market.Address, place int) {
	first, second, ok := c.vaults(holder, place)
	if !ok || c.account(pool).IsNone() {
		return
	}
	if by, ok := c.changes(pool, &first, &second); ok {
		c.emit(market.ReservesMoved{Pool: c.account(pool), Change0: by[0], Change1: by[1]})
	}
}

// isAlone reports whether nothing else in the transaction is about a pool, given by its place among the call's accounts, where there is one: no other call of the program has it among
// its accounts, and no call of a token program but those that the call made has one of its token accounts.
func (c *call) isAlone(pool int, list ...*vault) bool {
	called, _ := c.r.tx.callsOf(c.index)
	key := string(c.r.tx.keys[c.r.tx.accountsOf(c.at)[pool]])
	for i := range c.r.tx.instructions {
		if i >= c.index && i <= c.index+len(called) {
			continue
		}
		at := &c.r.tx.instructions[i]
		isToken := isTokenProgram(c.r.account(at.program))
		for _, place := range c.r.tx.accountsOf(at) {
			if at.program == c.at.program && string(c.r.tx.keys[place]) == key || isToken && slices.ContainsFunc(list, func(v *vault) bool { return v.account == place }) {
				return false
			}
		}
	}
	return true
}

func isTokenProgram(key market.Address) bool { return key == tokenProgram || key == address2022 }

// transfer is a transfer between token accounts, by their places among the transaction's keys.
type transfer struct {
	from, to uint16
	amount   market.Amount
}

// callsOf are the instructions that the i-th one called, and those that these called. sure is false where the node doesn't tell which one called which: then they are all that
// come after it.
func (t *transaction) callsOf(i int) (list []instruction, sure bool) {
	by := &t.instructions[i]
	sure = by.inner == 0 || by.height > 0
	list = t.instructions[i+1:]
	if end := slices.IndexFunc(list, func(at instruction) bool {
		return at.outer != by.outer || by.inner > 0 && sure && at.height <= by.height
	}); end >= 0 {
		list = list[:end]
	}
	return list, sure
}

func (r *reader) transferOf(at *instruction) (t transfer, ok bool) {
	data, read := r.tx.appendData(nil, at)
	amount, to, ok := spltoken.Transfer(data)
	accounts := r.tx.accountsOf(at)
	if !read || !ok || len(accounts) <= to {
		return t, false
	}
	return transfer{from: accounts[0], to: accounts[to], amount: amount}, true
}
