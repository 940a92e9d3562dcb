package funding

import "github.com/boardwalkhq/boardwalk/internal/market"

// mostFirsts is the most first transactions that count: on a chain with more of them a day, accounts are old after a shorter time. Each takes as much
// memory as a payment.
const mostFirsts = 1_000_000

// mostHops is how many new accounts coins are followed through. Coins that came through more came from nobody knows where.
const mostHops = 32

// Ledger keeps what a chain's newest blocks tell of accounts: who paid them, and which of them sent their first transaction.
type Ledger struct{ payments, firsts *Window }

// NewLedger makes a ledger without blocks, with the bounds of payments.
func NewLedger(b Bounds) *Ledger {
	return &Ledger{payments: New(b), firsts: New(Bounds{Seconds: b.Seconds, Payments: mostFirsts, OfAccount: b.OfAccount})}
}

// Add takes in a block that was read with its transactions, its payments as Counted and its Firsts as Accounts gives them. It is newer than the last.
func (l *Ledger) Add(b *market.BlockPayments) {
	l.payments.Add(b)
	firsts := market.BlockPayments{Number: b.Number, Hash: b.Hash, Time: b.Time, Payments: make([]market.Payment, len(b.Firsts))}
	for i, account := range b.Firsts {
		firsts.Payments[i].To = account // a payment of nothing by nobody, of which the window tells the time
	}
	l.firsts.Add(&firsts)
}

// Pass says that blocks up to one were read without their transactions, those that the ledger hasn't.
func (l *Ledger) Pass(number uint64, time int64) {
	l.payments.Pass(number, time)
	l.firsts.Pass(number, time)
}

// Rewind goes back to an earlier block.
func (l *Ledger) Rewind(to market.Header) {
	l.payments.Rewind(to)
	l.firsts.Rewind(to)
}

// Forget drops what counts no more at a block or at any later one. No Rewind goes below the block.
func (l *Ledger) Forget(horizon uint64) {
	l.payments.Forget(horizon)
	l.firsts.Forget(horizon)
}

// Oldest is the oldest block that the ledger needs to be made anew; none below it counts any more. ok is false while it never had a block.
func (l *Ledger) Oldest() (number uint64, ok bool) {
	paid, ok := l.payments.Oldest()
	first, _ := l.firsts.Oldest()
	return min(paid, first), ok
}

// source follows coins through new accounts to one that isn't new, or is the end: who paid somebody through accounts made for it would look like many payers.
func (l *Ledger) source(f market.Funding, end market.Address) market.Funding {
	for range mostHops {
		if f.State != market.FundingSeen || f.Funder == end || !l.isNew(f.Funder) {
			return f
		}
		switch before := l.payments.Of(f.Funder); before.State {
		case market.FundingSeen:
			f.Funder = before.Funder
		case market.FundingNotSeen:
			return before
		case market.FundingUnknown:
			return f
		}
	}
	return market.Funding{State: market.FundingNotSeen}
}

// isNew reports whether an account sent its first transaction at a time of which all payments are known: on a chain with very many payments, accounts of some
// hours ago aren't new any more.
func (l *Ledger) isNew(a market.Address) bool {
	first := l.firsts.Of(a)
	return first.State == market.FundingSeen && first.At >= l.payments.since
}

// Trade is what a ledger is asked of a trade of the newest block.
type Trade struct {
	Trader market.Address
	// Sent says that the trader sent the trade's transaction, and Before how many others before.
	Sent   bool
	Before uint64
	// Creator is that of the token; none where it isn't known. Coins aren't followed beyond.
	Creator market.Address
}

// Of tells where the trader's coins came from. If the trader sent the transaction, it tells the trader's age, too. The age of a trader who had sent transactions
// before is known once a day of blocks is. Until then nothing is told: somebody may have paid an old account, which would look like a new one.
func (l *Ledger) Of(t *Trade) market.Funding {
	f := l.source(l.payments.Of(t.Trader), t.Creator)
	if !t.Sent {
		return f
	}
	switch first := l.firsts.Of(t.Trader); {
	case t.Before == 0:
		f.Age, f.First = market.AgeNew, l.firsts.now
		if first.State == market.FundingSeen {
			f.First = first.At
		}
	case l.isNew(t.Trader):
		f.Age, f.First = market.AgeNew, first.At
	case first.State != market.FundingUnknown:
		f.Age = market.AgeOld
	default:
		return market.Funding{}
	}
	return f
}
