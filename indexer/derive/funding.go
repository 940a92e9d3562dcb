package derive

import (
	"github.com/boardwalkhq/boardwalk/internal/funding"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// takePayments takes in whom a block's transactions paid, before anything else of the block: all payments of it count for each of its trades.
func (s *State) takePayments(b *market.Block) {
	if !b.HasPayments {
		s.funding.Pass(b.Number, b.Time)
		return
	}
	p := market.BlockPayments{Number: b.Number, Hash: b.Hash, Time: b.Time, Payments: funding.Counted(b.Payments), Firsts: funding.Accounts(b.Firsts)}
	s.funding.Add(&p)
	s.payments = append(s.payments, p)
}

// RecallPayments takes up the payments of a block that was committed before. A state that begins is given those blocks that the database has, in
// order, before anything is applied. No block below the horizon is taken back.
func (s *State) RecallPayments(b *market.BlockPayments, horizon uint64) {
	s.funding.Add(b)
	s.funding.Forget(min(b.Number, horizon))
}

// fund says where the coins of those who traded in a transaction (its swaps begin at the given one) came from. Only trades of launched tokens are
// told of.
func (tr *trades) fund(tx *market.Tx, from int) {
	for i := from; i < len(tr.swaps); i++ {
		t := &tr.swaps[i]
		if !tr.s.Launched(t.Base) || t.Trader.IsNone() {
			continue
		}
		t.Funding = tr.s.funding.Of(&funding.Trade{Trader: t.Trader, Sent: tx.Sender == t.Trader, Before: tx.Nonce, Creator: tr.s.creatorOf(t.Base)})
	}
}
