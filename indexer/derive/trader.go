package derive

import (
	"cmp"
	"slices"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/indexer/derive/netchange"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// maxHops bounds how many contracts a token is followed through inside one transaction.
const maxHops = 8

// trader is the account behind a swap: neither pool nor router. What the swap paid out (or took in) is followed from
// the pool through the transaction's transfers, over accounts that only pass it on, to the one whose balance of the
// token really changed; failing that it is the account with the largest such change, then the one whose balance of
// the quote really changed the other way (native coins leave no transfer), which byQuote says. It is none where no account's
// balance shows a trade: who was paid out is a router or a pool then, and so is whoever keeps crumbs or a fee.
func (tr *trades) trader(tx *market.Tx, i int, e market.Swap, p *market.Pool) (account market.Address, byQuote bool) {
	buy := (e.Amount0.Neg && p.BaseIs0) || (e.Amount1.Neg && !p.BaseIs0)
	moved, paid := e.Amount0.Abs, e.Amount1.Abs
	if !p.BaseIs0 {
		moved, paid = paid, moved
	}
	net := tr.netChanges(tx, p.Base)
	if a, ok := follow(tx, i, p, &moved, buy, net); ok {
		return a, false
	}
	if a, ok := net.Largest(!buy); ok && net.Shows(a, !buy, &moved) {
		return a, false
	}
	quote := tr.netChanges(tx, p.Quote)
	if a, ok := quote.Largest(buy); ok && quote.Shows(a, buy, &paid) {
		return a, true
	}
	// An account may buy and sell the token in one transaction. Its balance changes by the difference, and shows one of the two swaps alone.
	var tenth market.Amount
	tenth.Div(&moved, uint256.NewInt(10))
	if change := net.Change(e.Recipient); !change.IsZero() && !change.Abs.Lt(&tenth) {
		return e.Recipient, false
	}
	return market.Address{}, false
}

// mostByQuote is in how many pools one account can be the trader in a transaction by what it paid or got of the quotes alone.
const mostByQuote = 2

// dropIntermediaries takes the trader from those swaps of a transaction, from the given one on, that were one account's by the quotes alone in
// more than mostByQuote pools, if it exchanged nothing: a vault or router holds its customers' quotes, and keeps nothing for them. Whoever goes
// from one quote to another over several tokens exchanged them.
func (tr *trades) dropIntermediaries(tx *market.Tx, from int) {
	if len(tr.swaps[from:]) <= mostByQuote {
		return // as in most transactions
	}
	pools := map[market.Address]map[market.Address]bool{}
	for i := from; i < len(tr.swaps); i++ {
		if !tr.byQuote[i] {
			continue
		}
		t := &tr.swaps[i]
		if pools[t.Trader] == nil {
			pools[t.Trader] = map[market.Address]bool{}
		}
		pools[t.Trader][t.Pool] = true
	}
	for account, traded := range pools {
		if len(traded) <= mostByQuote || tr.exchanged(tx, from, account) {
			continue
		}
		for i := from; i < len(tr.swaps); i++ {
			if t := &tr.swaps[i]; tr.byQuote[i] && t.Trader == account {
				t.Trader = market.Address{}
			}
		}
	}
}

// exchanged reports whether an account ends a transaction with less of one token of its swaps, and more of another.
func (tr *trades) exchanged(tx *market.Tx, from int, account market.Address) bool {
	gave, got := false, false
	for i := from; i < len(tr.swaps); i++ {
		t := &tr.swaps[i]
		for _, token := range []market.Address{t.Base, tr.s.pools.get(t.Pool).Quote} {
			net := tr.netChanges(tx, token).Change(account)
			gave, got = gave || net.Neg, got || !net.Neg && !net.IsZero()
		}
	}
	return gave && got
}

// ledger has the net sums of a transaction's transfers: they are worked out once per token, however many swaps ask.
type ledger struct {
	tx *market.Tx
	// traded are the pools that swapped, or changed their reserves, in the transaction. Only what the transaction shows
	// tells a pool, so that the answer does not hang on what is cached.
	traded map[market.Address]bool
	net    map[market.Address]netchange.Changes
}

func (tr *trades) netChanges(tx *market.Tx, token market.Address) netchange.Changes {
	if tr.ledger.tx != tx {
		tr.ledger.tx = tx
		clear(tr.ledger.traded)
		clear(tr.ledger.net)
		for k := range tx.Logs {
			if id, ok := poolOf(tx.Logs[k].Event); ok {
				tr.ledger.traded[id] = true
			}
		}
	}
	net, ok := tr.ledger.net[token]
	if !ok {
		net = tr.workOut(tx, token)
		tr.ledger.net[token] = net
	}
	return net
}

func (tr *trades) workOut(tx *market.Tx, token market.Address) netchange.Changes {
	var sums netchange.Sums
	for k := range tx.Logs {
		if e, ok := tr.transferOf(tx, tx.Logs[k].Event); ok && e.Token == token {
			sums.Add(e.From, market.SignedAmount{Abs: e.Amount, Neg: !e.Amount.IsZero()})
			sums.Add(e.To, market.SignedAmount{Abs: e.Amount})
		}
	}
	kept := sums.List[:0]
	for _, c := range sums.List {
		if !c.Sum.IsZero() && !c.Account.IsNone() && !tr.isOfVenues(tr.s, c.Account) && !tr.ledger.traded[c.Account] {
			kept = append(kept, c)
		}
	}
	return kept
}

// follow traces the token away from the pool (a buy) or back from it (a sell).
func follow(tx *market.Tx, swap int, p *market.Pool, moved *market.Amount, buy bool, net netchange.Changes) (market.Address, bool) {
	at, ok := poolTransfer(tx, swap, p, moved, buy)
	for hop := 0; ok && hop < maxHops; hop++ {
		t, _ := transferAt(tx, at, p.Base)
		account := t.From
		if buy {
			account = t.To
		}
		if net.Shows(account, !buy, moved) {
			return account, true
		}
		at, ok = next(tx, at, p.Base, account, buy)
	}
	return market.Address{}, false
}

func transferAt(tx *market.Tx, k int, token market.Address) (market.Transfer, bool) {
	t, ok := tx.Logs[k].Event.(market.Transfer)
	return t, ok && t.Token == token
}

// poolTransfer finds the transfer by which the pool paid (a buy) or was paid (a sell). Transfers of exactly the swap's amount come first. If the
// transaction has as many of them as swaps of that amount, the first transfer belongs to the first swap, the second to the second, and so on.
// If not, the nearest transfer before the swap's log is taken, or else the nearest after it: most pools pay before they log, Uniswap V4 after.
// If no transfer has exactly the amount, the largest is taken.
func poolTransfer(tx *market.Tx, swap int, p *market.Pool, moved *market.Amount, buy bool) (int, bool) {
	token, pool := p.Base, p.ID
	if p.Protocol == market.UniswapV4 {
		pool = p.Factory // which holds what all its pools have
	}
	distance := func(k int) int {
		if k > swap {
			return len(tx.Logs) + k
		}
		return swap - k
	}
	var exact []int
	largest := -1
	var most market.Amount
	for k := range tx.Logs {
		t, ok := transferAt(tx, k, token)
		if !ok || (buy && t.From != pool) || (!buy && t.To != pool) {
			continue
		}
		if t.Amount == *moved {
			exact = append(exact, k)
		}
		if largest < 0 || most.Lt(&t.Amount) {
			largest, most = k, t.Amount
		}
	}
	switch len(exact) {
	case 0:
		return largest, largest >= 0
	case 1: // as nearly always
		return exact[0], true
	}
	if earlier, all := swapsLike(tx, swap, p.BaseIs0); len(exact) == all {
		return exact[earlier], true
	}
	return slices.MinFunc(exact, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) }), true
}

// swapsLike counts the swaps of a transaction that moved as much of the base in the same pool and direction as the given one: those before
// it, and all.
func swapsLike(tx *market.Tx, swap int, baseIs0 bool) (earlier, all int) {
	base := func(e market.Swap) market.SignedAmount {
		if baseIs0 {
			return e.Amount0
		}
		return e.Amount1
	}
	this, _ := tx.Logs[swap].Event.(market.Swap)
	for k := range tx.Logs {
		if e, ok := tx.Logs[k].Event.(market.Swap); ok && e.Pool == this.Pool && base(e) == base(this) {
			if k < swap {
				earlier++
			}
			all++
		}
	}
	return earlier, all
}

// next is the transfer by which account passed the token on (a buy: after at) or got it (a sell: before at): the largest
// of them until the account deals in the token again, which is another swap's business.
func next(tx *market.Tx, at int, token, account market.Address, buy bool) (best int, found bool) {
	step, end := 1, len(tx.Logs)
	if !buy {
		step, end = -1, -1
	}
	var most market.Amount
	for k := at + step; k != end; k += step {
		t, ok := transferAt(tx, k, token)
		if !ok {
			continue
		}
		on, back := t.From == account, t.To == account
		if !buy {
			on, back = back, on
		}
		switch {
		case on && (!found || most.Lt(&t.Amount)):
			best, found, most = k, true, t.Amount
		case back && !on && found:
			return best, true
		}
	}
	return best, found
}
