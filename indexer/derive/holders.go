package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

func (ts *tokens) transfer(e market.Transfer) {
	if ts.followAll && ts.s.pools.get(e.Token) != nil {
		return // a pair's own liquidity token; Keys loads the pool for this question alone
	}
	t := ts.s.tokens.get(e.Token)
	if t == nil {
		if !ts.Follows(ts.s, e.Token) {
			return
		}
		t = ts.token(e.Token)
	}
	if t.HasSupply && e.From != e.To {
		switch {
		case e.From.IsNone():
			t = ts.s.tokens.edit(e.Token)
			t.Supply.Add(&t.Supply, &e.Amount)
		case e.To.IsNone():
			t = ts.s.tokens.edit(e.Token)
			if _, under := t.Supply.SubOverflow(&t.Supply, &e.Amount); under {
				untold(t)
			}
		}
	}
	ts.move(t, e)
}

// withheld takes what a token withholds of transfers, which the changes of balances told as burnt, for part of its supply.
func (ts *tokens) withheld(e market.Withheld) {
	t := ts.s.tokens.get(e.Token)
	if t == nil || !t.HasSupply {
		return
	}
	t = ts.s.tokens.edit(e.Token)
	if !e.Change.Neg {
		t.Supply.Add(&t.Supply, &e.Change.Abs)
	} else if _, under := t.Supply.SubOverflow(&t.Supply, &e.Change.Abs); under {
		untold(t)
	}
}

// move books a transfer of a followed token, or queues it while the token's past is still being read, for the first time or anew.
func (ts *tokens) move(t *market.Token, e market.Transfer) {
	switch t.Holders.Status {
	case market.HoldersIndexing:
		ts.queue(e)
	case market.HoldersCurrent:
		if !e.From.IsNone() {
			ts.debit(e.Token, e.From, &e.Amount)
		}
		if !e.To.IsNone() {
			ts.credit(e.Token, e.To, &e.Amount)
		}
	case market.HoldersUnavailable:
		if ts.s.recounts[e.Token] {
			ts.queue(e)
		}
	case market.HoldersNone:
	}
}

func (ts *tokens) queue(e market.Transfer) {
	ts.s.queued = append(ts.s.queued, market.QueuedTransfer{
		Token: e.Token, From: e.From, To: e.To, Amount: e.Amount, Block: ts.b.Number, Seq: ts.transfers,
	})
	ts.transfers++
}

func (ts *tokens) debit(token, account market.Address, amount *market.Amount) {
	if amount.IsZero() {
		return
	}
	gone, ok := ts.Machine.debit(ts.s, market.BalanceKey{Token: token, Account: account}, amount)
	switch {
	case !ok:
		ts.giveUp(token, market.ReasonNegative)
	case gone > 0:
		ts.count(token, -gone)
	}
}

func (ts *tokens) credit(token, account market.Address, amount *market.Amount) {
	if amount.IsZero() || ts.s.tokens.get(token).Holders.Status != market.HoldersCurrent {
		return
	}
	if came := ts.Machine.credit(ts.s, market.BalanceKey{Token: token, Account: account}, amount); came > 0 {
		ts.count(token, came)
	}
}

// isHolder reports whether a balance counts as a holder's.
func (m *Machine) isHolder(b *market.Balance) bool {
	return b != nil && !b.Amount.IsZero() && (m.countsPools || !b.IsPool)
}

// debit takes an amount, which isn't nought, from a balance, and gives by how many the holders become fewer. ok is false where the balance is too
// small.
func (m *Machine) debit(s *State, key market.BalanceKey, amount *market.Amount) (holders int64, ok bool) {
	if b := s.balances.get(key); b == nil || b.Amount.Lt(amount) {
		return 0, false
	}
	b := s.balances.edit(key)
	if m.isHolder(b) {
		holders = 1
	}
	if b.Amount.Sub(&b.Amount, amount); !b.Amount.IsZero() {
		return 0, true
	}
	if !b.IsPool {
		s.balances.remove(key)
	}
	return holders, true
}

// credit adds an amount, which isn't nought, to a balance, and gives by how many the holders become more.
func (m *Machine) credit(s *State, key market.BalanceKey, amount *market.Amount) (holders int64) {
	isNew := s.balances.get(key) == nil
	b := s.balances.edit(key)
	if isNew {
		b.IsPool = m.isOfVenues(s, key.Account)
	}
	was := m.isHolder(b)
	if b.Amount.Add(&b.Amount, amount); m.isHolder(b) && !was {
		return 1
	}
	return 0
}

// count changes a token's count of holders.
func (ts *tokens) count(token market.Address, by int64) {
	h := &ts.s.tokens.edit(token).Holders
	h.Count += by
	h.Gained.Add(by, ts.b.Time)
}

// transferOf reads a log as a transfer of a token: a deposit or withdrawal of the declared wrapped native coin as a mint or burn, and a change
// that was told of one balance as one from or to nobody. ok is false for what moves nothing.
func (m *Machine) transferOf(tx *market.Tx, e market.Event) (t market.Transfer, ok bool) {
	switch e := e.(type) {
	case market.Transfer:
		return e, true
	case market.BalanceChange:
		return e.AsTransfer(), true
	case market.Wrap:
		return m.ofWrap(tx, e)
	default:
		return t, false
	}
}

// ofWrap is a deposit or withdrawal as the mint or burn that it amounts to. Some deployments log that Transfer beside it, which counts then
// instead.
func (m *Machine) ofWrap(tx *market.Tx, e market.Wrap) (t market.Transfer, ok bool) {
	if e.Token != m.wrapped {
		return t, false
	}
	t = market.Transfer{Token: e.Token, To: e.Account, Amount: e.Amount}
	if e.Unwrap {
		t.From, t.To = t.To, t.From
	}
	for i := range tx.Logs {
		if logged, isTransfer := tx.Logs[i].Event.(market.Transfer); isTransfer && logged == t {
			return t, false
		}
	}
	return t, true
}

// mark marks a pool's account.
func (ts *tokens) mark(token, account market.Address) {
	if !ts.Follows(ts.s, token) {
		return
	}
	ts.token(token)
	key := market.BalanceKey{Token: token, Account: account}
	if b := ts.s.balances.get(key); b != nil {
		if b.IsPool {
			return
		}
		switch {
		case ts.countsPools:
		case ts.s.tokens.get(token).Holders.Status == market.HoldersCurrent:
			ts.count(token, -1)
		case ts.s.isMerged(token, account):
			ts.s.jobs.edit(token).Holders--
		}
	}
	ts.s.balances.edit(key).IsPool = true
}

// giveUp ends a token's holder count, until a recount is proven. Its balances stay as they were and mean nothing any more.
func (ts *tokens) giveUp(token market.Address, why market.HolderReason) {
	t := ts.s.tokens.edit(token)
	t.Holders = market.Holders{Status: market.HoldersUnavailable, Reason: why}
}

// strikes is how many samples in a row a contract must contradict before its token's holders are given up: one could be
// a node's fault.
const strikes = 2

// sample holds a derived balance against what the contract answered for the state before this block.
func (ts *tokens) sample(f market.BalanceFact) {
	t := ts.s.tokens.get(f.Token)
	if t == nil || t.Holders.Status != market.HoldersCurrent {
		return
	}
	var derived market.Amount
	if b := ts.s.balances.get(market.BalanceKey{Token: f.Token, Account: f.Account}); b != nil {
		derived = b.Amount
	}
	if derived == f.Amount {
		if t.Holders.Strikes > 0 {
			ts.s.tokens.edit(f.Token).Holders.Strikes = 0
		}
		return
	}
	if t = ts.s.tokens.edit(f.Token); t.Holders.Strikes+1 < strikes {
		t.Holders.Strikes++
		return
	}
	ts.giveUp(f.Token, market.ReasonSample)
}
