package derive

import (
	"bytes"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Stage adds past transfers of a token to balances, which start with the accounts' earlier balances (a missing one is
// zero). It reports false if a balance would go below zero: then the token's transfers don't determine its balances.
func (m *Machine) Stage(token market.Address, txs []market.Tx, balances map[market.Address]market.Amount) bool {
	for i := range txs {
		for j := range txs[i].Logs {
			e, ok := m.transferOf(&txs[i], txs[i].Logs[j].Event)
			if ok && e.Token == token && !stage(e.From, e.To, &e.Amount, balances) {
				return false
			}
		}
	}
	return true
}

// Book is Stage for transfers that waited, oldest first.
func Book(queued []market.QueuedTransfer, balances map[market.Address]market.Amount) bool {
	for i := range queued {
		if q := &queued[i]; !stage(q.From, q.To, &q.Amount, balances) {
			return false
		}
	}
	return true
}

func stage(from, to market.Address, amount *market.Amount, balances map[market.Address]market.Amount) bool {
	if !from.IsNone() {
		b := balances[from]
		if b.Lt(amount) {
			return false
		}
		b.Sub(&b, amount)
		balances[from] = b
	}
	if !to.IsNone() {
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

// Len is how many accounts the transfers touched.
func (t *Tally) Len() int { return len(t.balances) }

// Sum adds up the balances of all accounts after the transfers; ok is false if a balance went below zero.
func (t *Tally) Sum() (sum market.Amount, ok bool) {
	sum, ok = addUp(t.balances)
	return sum, ok && !t.broken
}

// Balances gives the balances after the transfers.
func (t *Tally) Balances() map[market.Address]market.Amount { return t.balances }

// Explains reports whether the transfers leave exactly the token's supply: before the first of them nobody had any, since
// what anybody had would be part of the supply and of no balance here.
func (t *Tally) Explains(supply *market.Amount) bool {
	sum, ok := t.Sum()
	return ok && sum == *supply
}

// Explains reports whether a token's transfers in these transactions alone leave exactly its supply, as Tally does.
func (m *Machine) Explains(token market.Address, txs []market.Tx, supply *market.Amount) bool {
	balances := map[market.Address]market.Amount{}
	if !m.Stage(token, txs, balances) {
		return false
	}
	sum, ok := addUp(balances)
	return ok && sum == *supply
}

func addUp(balances map[market.Address]market.Amount) (sum market.Amount, ok bool) {
	for _, b := range balances {
		if _, over := sum.AddOverflow(&sum, &b); over {
			return sum, false
		}
	}
	return sum, true
}

// AccountKeys names what MergeAccounts and MergeQueue need of a token and some accounts.
func (m *Machine) AccountKeys(s *State, token market.Address, accounts []market.Address) market.Wanted {
	k := newKeys(m, s, nil)
	k.tokens.add(token)
	for _, a := range accounts {
		if !a.IsNone() {
			k.balances.add(market.BalanceKey{Token: token, Account: a})
			k.account(a)
		}
	}
	return k.wanted()
}

// MergeAccounts takes over a slice of the balances that a job arrived at, in the order of the accounts' bytes: those behind the job's cursor up to
// the last one given; whole says that none comes after. An account of which the token has a row and the job found nothing is given with nought.
// The rows that AccountKeys names must be loaded. block is the block that is being committed.
func (m *Machine) MergeAccounts(s *State, token market.Address, balances []market.AccountBalance, whole bool, block uint64) {
	j := m.merging(s, token, block)
	if j == nil {
		return
	}
	for i := range balances {
		b := &balances[i]
		j.Holders += m.take(s, market.BalanceKey{Token: token, Account: b.Account}, b.Amount)
		j.Cursor = b.Account
	}
	if whole {
		j.Step = market.MergeQueue
	}
}

// MergeQueue takes over a slice of the transfers that waited for a job whose accounts are taken over, oldest first; whole says that none waits
// after these: then the token is counted from here on. The rows that AccountKeys names must be loaded. block is the block that is being committed.
func (m *Machine) MergeQueue(s *State, token market.Address, queued []market.QueuedTransfer, whole bool, block uint64) {
	j := m.merging(s, token, block)
	if j == nil {
		return
	}
	for i := range queued {
		q := &queued[i]
		if !m.book(s, j, q) {
			m.endWithout(s, j, block)
			return
		}
		j.QueueBlock, j.QueueSeq = q.Block, q.Seq
	}
	if !whole {
		return
	}
	t := s.tokens.edit(token)
	t.Holders, t.SinceCreation = market.Holders{Status: market.HoldersCurrent, Count: j.Holders}, false
	s.end(j, block)
}

// EndMerge ends a job without a result: a first count is given up, and a recount leaves the count as given up as it was. What was taken over is
// then to be taken back, by ClearAccounts. The token's row must have been put in. block is the one that is being committed.
func (m *Machine) EndMerge(s *State, token market.Address, block uint64) {
	if j := m.merging(s, token, block); j != nil {
		m.endWithout(s, j, block)
	}
}

// ClearAccounts takes back a slice of what a merge took over, in the order of the accounts' bytes: the token's accounts behind the job's cursor up
// to the last one given; whole says that none comes after. Only which accounts don't count as holders is kept. Their balances must have been put
// in. block is the one that is being committed.
func (m *Machine) ClearAccounts(s *State, token market.Address, accounts []market.AccountBalance, whole bool, block uint64) {
	j := s.jobs.edit(token)
	for i := range accounts {
		j.Cursor = accounts[i].Account
		m.take(s, market.BalanceKey{Token: token, Account: j.Cursor}, market.Amount{})
	}
	if whole {
		s.end(j, block)
	}
}

// merging is a job for changing. One whose token doesn't wait for it any more is ended, and nil.
func (m *Machine) merging(s *State, token market.Address, block uint64) *market.HolderJob {
	j := s.jobs.edit(token)
	if t := s.tokens.get(token); t == nil || t.Holders.Status != waitsAs(j) {
		s.end(j, block)
		return nil
	}
	return j
}

// waitsAs is the state of a token that waits for a job.
func waitsAs(j *market.HolderJob) market.HolderStatus {
	if j.Recount != market.NoRecount {
		return market.HoldersUnavailable
	}
	return market.HoldersIndexing
}

func (s *State) end(j *market.HolderJob, block uint64) {
	j.Step, j.EndedIn = market.MergeEnded, block
	delete(s.recounts, j.Token)
}

func (m *Machine) endWithout(s *State, j *market.HolderJob, block uint64) {
	reason := market.ReasonNegative
	was := s.tokens.get(j.Token).Holders
	switch {
	case j.Beyond != "":
		reason = market.ReasonTooMany
	case was.Reason == market.ReasonTooMany: // it isn't any more: the count may be tried again
		reason = market.ReasonSample
	case j.Recount != market.NoRecount:
		reason = was.Reason
	case !j.IsRead() && j.Ranges == 0:
		reason = market.ReasonUntold
	}
	if reason != was.Reason {
		s.tokens.edit(j.Token).Holders = market.Holders{Status: market.HoldersUnavailable, Reason: reason}
	}
	tookOver := j.IsMerging()
	j.Broken, j.Cursor, j.Holders = true, market.Address{}, 0
	if s.end(j, block); tookOver {
		j.Step = market.MergeClear
	}
}

// isMerged reports whether an account's balance of a token is one that a merge has taken over.
func (s *State) isMerged(token, account market.Address) bool {
	j := s.jobs.get(token)
	switch {
	case j == nil:
		return false
	case j.Step == market.MergeAccounts:
		return !j.Cursor.IsNone() && bytes.Compare(account.Bytes(), j.Cursor.Bytes()) <= 0
	default:
		return j.Step == market.MergeQueue
	}
}

// book books a transfer that waited. It reports false when a balance would go below zero.
func (m *Machine) book(s *State, j *market.HolderJob, q *market.QueuedTransfer) bool {
	if q.Amount.IsZero() {
		return true
	}
	if !q.From.IsNone() {
		gone, ok := m.debit(s, market.BalanceKey{Token: q.Token, Account: q.From}, &q.Amount)
		if !ok {
			return false
		}
		j.Holders -= gone
	}
	if !q.To.IsNone() {
		j.Holders += m.credit(s, market.BalanceKey{Token: q.Token, Account: q.To}, &q.Amount)
	}
	return true
}

// take sets a balance that was found apart, and gives by how many it adds to the holders.
func (m *Machine) take(s *State, key market.BalanceKey, amount market.Amount) (holders int64) {
	known := s.balances.get(key)
	switch {
	case known == nil && amount.IsZero():
		return 0
	case amount.IsZero() && !known.IsPool:
		s.balances.remove(key)
		return 0
	}
	b := s.balances.edit(key)
	if known == nil {
		b.IsPool = m.isOfVenues(s, key.Account)
	}
	if b.Amount = amount; m.isHolder(b) {
		return 1
	}
	return 0
}
