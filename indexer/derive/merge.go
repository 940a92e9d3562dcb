package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// Stage books past transfers of a token into balances, which hold what the accounts had before (absent is nought). It
// reports false when one would go below zero: then the token's transfers don't tell its balances.
func (m *Machine) Stage(token market.Address, txs []market.Tx, balances map[market.Address]market.Amount) bool {
	for i := range txs {
		for j := range txs[i].Logs {
			var e market.Transfer
			switch ev := txs[i].Logs[j].Event.(type) {
			case market.Transfer:
				e = ev
			case market.Wrap:
				t, ok := m.asTransfer(&txs[i], ev)
				if !ok {
					continue
				}
				e = t
			default:
				continue
			}
			if e.Token == token && !stage(e.From, e.To, &e.Amount, balances) {
				return false
			}
		}
	}
	return true
}

func stage(from, to market.Address, amount *market.Amount, balances map[market.Address]market.Amount) bool {
	if !from.IsZeroEVM() {
		b := balances[from]
		if b.Lt(amount) {
			return false
		}
		b.Sub(&b, amount)
		balances[from] = b
	}
	if !to.IsZeroEVM() {
		b := balances[to]
		b.Add(&b, amount)
		balances[to] = b
	}
	return true
}

// Tally adds up transfers of a token, to find whether they are all that there ever were. The zero value is ready.
type Tally struct {
	balances map[market.Address]market.Amount
	broken   bool
}

// Add takes the next transfer.
func (t *Tally) Add(q *market.QueuedTransfer) {
	if t.balances == nil {
		t.balances = map[market.Address]market.Amount{}
	}
	t.broken = t.broken || !stage(q.From, q.To, &q.Amount, t.balances)
}

// Explains reports whether the transfers leave exactly the token's supply: before the first of them nobody had any, since
// what anybody had would be part of the supply and of no balance here.
func (t *Tally) Explains(supply *market.Amount) bool { return !t.broken && addUp(t.balances, supply) }

// Explains reports whether a token's transfers in these transactions alone leave exactly its supply, as Tally does.
func (m *Machine) Explains(token market.Address, txs []market.Tx, supply *market.Amount) bool {
	balances := map[market.Address]market.Amount{}
	return m.Stage(token, txs, balances) && addUp(balances, supply)
}

func addUp(balances map[market.Address]market.Amount, supply *market.Amount) bool {
	var sum market.Amount
	for _, b := range balances {
		if _, over := sum.AddOverflow(&sum, &b); over {
			return false
		}
	}
	return sum == *supply
}

// Merge ends a holder backfill: balances as they were at the end of block final, and then what has queued since. The
// token's row and its accounts' balances must have been put in.
func (m *Machine) Merge(s *State, token market.Address, final uint64, balances map[market.Address]market.Amount,
	queued []market.QueuedTransfer, broken bool,
) {
	t := s.tokens.get(token)
	if t == nil || t.Holders.Status != market.HoldersIndexing {
		return
	}
	for i := range queued {
		if q := &queued[i]; !broken && q.Block > final {
			broken = !stage(q.From, q.To, &q.Amount, balances)
		}
	}
	t = s.tokens.edit(token)
	if broken {
		t.Holders = market.Holders{Status: market.HoldersUnavailable, Reason: market.ReasonNegative}
		return
	}
	t.Holders = market.Holders{Status: market.HoldersCurrent}
	for account, amount := range balances {
		if amount.IsZero() {
			continue
		}
		key := market.BalanceKey{Token: token, Account: account}
		known := s.balances.get(key) != nil
		b := s.balances.edit(key)
		if !known {
			b.Excluded = m.uncounted(s, account)
		}
		b.Amount = amount
		if !b.Excluded {
			t.Holders.Count++
		}
	}
}
