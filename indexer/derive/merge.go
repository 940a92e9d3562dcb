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

// TallyOf begins with balances, which it takes over.
func TallyOf(balances map[market.Address]market.Amount) *Tally { return &Tally{balances: balances} }

// Add takes the next transfer.
func (t *Tally) Add(q *market.QueuedTransfer) {
	if t.balances == nil {
		t.balances = map[market.Address]market.Amount{}
	}
	t.broken = t.broken || !stage(q.From, q.To, &q.Amount, t.balances)
}

// Balances are what the transfers leave.
func (t *Tally) Balances() map[market.Address]market.Amount { return t.balances }

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
// token's row and its accounts' balances must have been put in. Of a recount balances names every account that has a row, with nought where
// it had none; one without a result leaves the count given up, as it was.
func (m *Machine) Merge(s *State, token market.Address, final uint64, balances map[market.Address]market.Amount,
	queued []market.QueuedTransfer, broken bool,
) {
	recount := s.recounts[token]
	delete(s.recounts, token)
	want := market.HoldersIndexing
	if recount {
		want = market.HoldersUnavailable
	}
	t := s.tokens.get(token)
	if t == nil || t.Holders.Status != want {
		return
	}
	for i := range queued {
		if q := &queued[i]; !broken && q.Block > final {
			broken = !stage(q.From, q.To, &q.Amount, balances)
		}
	}
	switch {
	case broken && recount:
		return
	case broken:
		s.tokens.edit(token).Holders = market.Holders{Status: market.HoldersUnavailable, Reason: market.ReasonNegative}
		return
	}
	t = s.tokens.edit(token)
	t.Holders, t.SinceCreation = market.Holders{Status: market.HoldersCurrent}, false
	for account, amount := range balances {
		t.Holders.Count += m.take(s, market.BalanceKey{Token: token, Account: account}, amount)
	}
}

// take sets a balance that was found apart, and gives by how many it adds to the holders.
func (m *Machine) take(s *State, key market.BalanceKey, amount market.Amount) (holders int64) {
	known := s.balances.get(key)
	switch {
	case known == nil && amount.IsZero():
		return 0
	case amount.IsZero() && !known.Excluded:
		s.balances.remove(key)
		return 0
	}
	b := s.balances.edit(key)
	if known == nil {
		b.Excluded = m.uncounted(s, key.Account)
	}
	b.Amount = amount
	if b.Excluded {
		return 0
	}
	return 1
}
