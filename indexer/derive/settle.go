package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// hands are the swaps of one trader with one token in one transaction.
type hands struct{ trader, token market.Address }

// settle says, once a transaction is through, what its swaps (those from the given one on) did to their traders' own balances.
// It asks nothing but the transaction's logs and the balances that they changed, which are always loaded. Quote assets are
// nobody's position.
func (tr *trades) settle(tx *market.Tx, from int) {
	swaps := tr.swaps[from:]
	switch len(swaps) {
	case 0:
		return
	case 1: // as nearly always
		tr.settleSwaps(tx, []*market.Trade{&swaps[0]})
		return
	}
	var order []hands
	of := make(map[hands][]*market.Trade, len(swaps))
	for i := range swaps {
		h := hands{swaps[i].Trader, swaps[i].Base}
		if of[h] == nil {
			order = append(order, h)
		}
		of[h] = append(of[h], &swaps[i])
	}
	for _, h := range order {
		tr.settleSwaps(tx, of[h])
	}
}

// settleSwaps settles the swaps of one trader with one token.
func (tr *trades) settleSwaps(tx *market.Tx, swaps []*market.Trade) {
	t := swaps[0]
	if _, isQuote := tr.quoteRank[t.Base]; isQuote || t.Trader.IsNone() {
		return
	}
	net := tr.netChanges(tx, t.Base).Change(t.Trader)
	if net.IsZero() {
		return
	}
	share(swaps, &net)
	if before, ok := tr.before(t, &net); ok {
		for _, s := range swaps {
			s.TraderBefore, s.HasTraderBefore = before, true
		}
	}
}

// before gives the trader's balance of the token before the transaction, which changed the balance by net.
func (tr *trades) before(t *market.Trade, net *market.SignedAmount) (before market.Amount, ok bool) {
	token := tr.s.tokens.get(t.Base)
	if token == nil || !token.SinceCreation || token.Holders.Status != market.HoldersCurrent ||
		(tr.followAll && tr.s.pools.get(t.Base) != nil) { // a pair's own liquidity token, whose transfers aren't booked
		return before, false
	}
	after := tr.s.Balance(market.BalanceKey{Token: t.Base, Account: t.Trader})
	var wraps bool
	if net.Neg {
		_, wraps = before.AddOverflow(&after, &net.Abs)
	} else {
		_, wraps = before.SubOverflow(&after, &net.Abs)
	}
	return before, !wraps
}

// share divides what a trader's balance changed by among the swaps, by what the pools say of them, if they all go one way: a
// buyer may have got less, and a seller have given more. Whatever else came or went are transfers.
func share(swaps []*market.Trade, net *market.SignedAmount) {
	var pools market.Amount
	for _, s := range swaps {
		if _, over := pools.AddOverflow(&pools, &s.BaseAmount); over || s.Sell != net.Neg {
			return
		}
	}
	if net.Abs == pools || net.Abs.Lt(&pools) == net.Neg {
		return
	}
	if len(swaps) == 1 {
		swaps[0].TraderAmount = net.Abs
		return
	}
	// Each part is the rounded sum so far less the one before, so that they are the whole.
	var said, given market.Amount
	parts := make([]market.Amount, len(swaps))
	for i, s := range swaps {
		said.Add(&said, &s.BaseAmount)
		var sum market.Amount
		sum.MulDivOverflow(&said, &net.Abs, &pools) // at most net
		parts[i].Sub(&sum, &given)
		given = sum
		if parts[i].IsZero() {
			return // too little to be divided
		}
	}
	for i, s := range swaps {
		s.TraderAmount = parts[i]
	}
}
