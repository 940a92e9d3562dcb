package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// settle says, once a transaction is through, what its swaps (those from the given one on) did to their traders' own balances.
// It asks nothing but the transaction's logs and balances that they changed, which are always loaded.
func (r *run) settle(tx *market.Tx, from int) {
	swaps := r.swaps[from:]
	for i := range swaps {
		t := &swaps[i]
		if sameHands(swaps[:i], t) > 0 {
			continue // settled with the first
		}
		net, ok := changeOf(r.netChanges(tx, t.Base), t.Trader)
		if !ok {
			continue
		}
		share(swaps[i:], &net)
		if before, ok := r.before(t, &net); ok {
			for k := range swaps[i:] {
				if s := &swaps[i+k]; s.Trader == t.Trader && s.Base == t.Base {
					s.TraderBefore, s.HasTraderBefore = before, true
				}
			}
		}
	}
}

// sameHands counts the swaps of one trader and token.
func sameHands(swaps []market.Trade, of *market.Trade) (n int) {
	for i := range swaps {
		if swaps[i].Trader == of.Trader && swaps[i].Base == of.Base {
			n++
		}
	}
	return n
}

func changeOf(net []netChange, a market.Address) (market.SignedAmount, bool) {
	for i := range net {
		if net[i].account == a {
			return net[i].sum, true
		}
	}
	return market.SignedAmount{}, false
}

// before is what the trader had of the token before the transaction that changed it by net.
func (r *run) before(t *market.Trade, net *market.SignedAmount) (before market.Amount, ok bool) {
	token := r.s.tokens.get(t.Base)
	if token == nil || !token.SinceCreation || token.Holders.Status != market.HoldersCurrent ||
		(r.followAll && r.s.pools.get(t.Base) != nil) { // a pair's own liquidity token, whose transfers aren't booked
		return before, false
	}
	after := r.s.Balance(market.BalanceKey{Token: t.Base, Account: t.Trader})
	if net.Neg {
		_, over := before.AddOverflow(&after, &net.Abs)
		return before, !over
	}
	_, under := before.SubOverflow(&after, &net.Abs)
	return before, !under
}

// share divides the change of the first swap's trader among its swaps, by what the pools say, if they all go one way. A buyer
// may have got less than that, and a seller have given more. What is left of the other cases are transfers.
func share(swaps []market.Trade, net *market.SignedAmount) {
	var its []*market.Trade
	var pools market.Amount
	for i := range swaps {
		s := &swaps[i]
		if s.Trader != swaps[0].Trader || s.Base != swaps[0].Base {
			continue
		}
		if _, over := pools.AddOverflow(&pools, &s.BaseAmount); over || s.Sell != net.Neg {
			return
		}
		its = append(its, s)
	}
	if (net.Neg && !net.Abs.Gt(&pools)) || (!net.Neg && !net.Abs.Lt(&pools)) {
		return
	}
	// Each part is the rounded sum so far less the one before, so that they are the whole.
	var said, given market.Amount
	parts := make([]market.Amount, len(its))
	for i, s := range its {
		said.Add(&said, &s.BaseAmount)
		var sum market.Amount
		sum.MulDivOverflow(&said, &net.Abs, &pools) // at most net
		parts[i].Sub(&sum, &given)
		given = sum
		if parts[i].IsZero() {
			return // too little to be divided
		}
	}
	for i, s := range its {
		s.TraderAmount = parts[i]
	}
}
