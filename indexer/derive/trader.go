package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// maxHops bounds how many contracts a token is followed through inside one transaction.
const maxHops = 8

// trader is the account behind a swap: neither pool nor router. What the swap paid out (or took in) is followed from
// the pool through the transaction's transfers, over accounts that only pass it on, to the one whose balance of the
// token really changed; failing that it is the account with the largest such change, then the one whose balance of
// the quote changed the other way (native coins leave no transfer), then the swap's recipient.
func (r *run) trader(tx *market.Tx, i int, e market.Swap, p *market.Pool) market.Address {
	buy := (e.Amount0.Neg && p.BaseIs0) || (e.Amount1.Neg && !p.BaseIs0)
	moved := e.Amount0.Abs
	if !p.BaseIs0 {
		moved = e.Amount1.Abs
	}
	account := p.ID
	if p.Protocol == market.UniswapV4 {
		account = p.Factory
	}
	net := r.netChanges(tx, p.Base)
	if a, ok := follow(tx, i, p.Base, account, &moved, buy, net); ok {
		return a
	}
	if a, ok := r.largest(net, !buy); ok {
		return a
	}
	if a, ok := r.largest(r.netChanges(tx, p.Quote), buy); ok {
		return a
	}
	return e.Recipient
}

// netChange is by how much one account's balance of a token changed in a transaction.
type netChange struct {
	account market.Address
	sum     market.SignedAmount
}

func (r *run) netChanges(tx *market.Tx, token market.Address) []netChange {
	var out []netChange
	add := func(a market.Address, amount market.SignedAmount) {
		for k := range out {
			if out[k].account == a {
				out[k].sum = out[k].sum.Add(amount)
				return
			}
		}
		out = append(out, netChange{a, amount})
	}
	for k := range tx.Logs {
		switch e := tx.Logs[k].Event.(type) {
		case market.Transfer:
			if e.Token == token {
				add(e.From, market.SignedAmount{Abs: e.Amount, Neg: !e.Amount.IsZero()})
				add(e.To, market.SignedAmount{Abs: e.Amount})
			}
		case market.Wrap:
			if e.Token == token {
				add(e.Account, market.SignedAmount{Abs: e.Amount, Neg: e.Unwrap && !e.Amount.IsZero()})
			}
		}
	}
	// Only what this transaction shows tells a pool, so that the answer does not hang on what is cached.
	kept := out[:0]
	for _, n := range out {
		if !n.sum.IsZero() && !n.account.IsZeroEVM() && r.factories[n.account] == nil && !tradesIn(tx, n.account) {
			kept = append(kept, n)
		}
	}
	return kept
}

// tradesIn reports whether account is a pool that swapped, or changed its reserves, in the transaction.
func tradesIn(tx *market.Tx, account market.Address) bool {
	for k := range tx.Logs {
		if id, ok := poolOf(tx.Logs[k].Event); ok && id == account {
			return true
		}
	}
	return false
}

func changeOf(net []netChange, a market.Address, negative bool) bool {
	for _, n := range net {
		if n.account == a {
			return n.sum.Neg == negative
		}
	}
	return false
}

// largest is the account with the largest change of one sign.
func (r *run) largest(net []netChange, negative bool) (market.Address, bool) {
	best := -1
	for k, n := range net {
		if n.sum.Neg == negative && (best < 0 || net[best].sum.Abs.Lt(&n.sum.Abs)) {
			best = k
		}
	}
	if best < 0 {
		return market.Address{}, false
	}
	return net[best].account, true
}

// follow traces the token away from the pool (a buy) or back from it (a sell). The pool's own transfer is the one of
// the exact amount, else the one nearest to the swap's log.
func follow(tx *market.Tx, swap int, token, pool market.Address, moved *market.Amount, buy bool,
	net []netChange,
) (market.Address, bool) {
	at, ok := nearest(tx, swap, token, pool, moved, buy)
	for hop := 0; ok && hop < maxHops; hop++ {
		t := tx.Logs[at].Event.(market.Transfer) //nolint:errcheck,forcetypeassert // nearest and next find transfers alone
		account := t.From
		if buy {
			account = t.To
		}
		if changeOf(net, account, !buy) {
			return account, true
		}
		at, ok = next(tx, at, token, account, buy)
	}
	return market.Address{}, false
}

func nearest(tx *market.Tx, swap int, token, pool market.Address, moved *market.Amount, buy bool) (int, bool) {
	best, bestExact := -1, false
	distance := func(k int) int { return max(k-swap, swap-k) }
	for k := range tx.Logs {
		t, ok := tx.Logs[k].Event.(market.Transfer)
		if !ok || t.Token != token || (buy && t.From != pool) || (!buy && t.To != pool) {
			continue
		}
		exact := t.Amount == *moved
		if best < 0 || (exact && !bestExact) || (exact == bestExact && distance(k) < distance(best)) {
			best, bestExact = k, exact
		}
	}
	return best, best >= 0
}

// next is the transfer by which account passes the token on (a buy: the first after at) or got it (a sell: the last
// before at).
func next(tx *market.Tx, at int, token, account market.Address, buy bool) (int, bool) {
	step, end := 1, len(tx.Logs)
	if !buy {
		step, end = -1, -1
	}
	for k := at + step; k != end; k += step {
		t, ok := tx.Logs[k].Event.(market.Transfer)
		if ok && t.Token == token && ((buy && t.From == account) || (!buy && t.To == account)) {
			return k, true
		}
	}
	return 0, false
}
