package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

func (r *run) transfer(e market.Transfer) {
	if r.followAll && r.s.pools.get(e.Token) != nil {
		return // a pair's own liquidity token; Keys loads the pool for this question alone
	}
	t := r.s.tokens.get(e.Token)
	if t == nil {
		if !r.Follows(r.s, e.Token) {
			return
		}
		t = r.token(e.Token)
	}
	if t.HasSupply && e.From != e.To {
		switch {
		case e.From.IsNone():
			t = r.s.tokens.edit(e.Token)
			t.Supply.Add(&t.Supply, &e.Amount)
		case e.To.IsNone():
			t = r.s.tokens.edit(e.Token)
			if _, under := t.Supply.SubOverflow(&t.Supply, &e.Amount); under {
				untold(t)
			}
		}
	}
	r.move(t, e)
}

// move books a transfer of a followed token, or queues it while the token's past is still being read, for the first time or anew.
func (r *run) move(t *market.Token, e market.Transfer) {
	switch t.Holders.Status {
	case market.HoldersIndexing:
		r.queue(e)
	case market.HoldersCurrent:
		if !e.From.IsNone() {
			r.debit(e.Token, e.From, &e.Amount)
		}
		if !e.To.IsNone() {
			r.credit(e.Token, e.To, &e.Amount)
		}
	case market.HoldersUnavailable:
		if r.s.recounts[e.Token] {
			r.queue(e)
		}
	case market.HoldersNone:
	}
}

func (r *run) queue(e market.Transfer) {
	r.s.queued = append(r.s.queued, market.QueuedTransfer{
		Token: e.Token, From: e.From, To: e.To, Amount: e.Amount, Block: r.b.Number, Seq: r.transfers,
	})
	r.transfers++
}

func (r *run) debit(token, account market.Address, amount *market.Amount) {
	if amount.IsZero() {
		return
	}
	gone, ok := r.Machine.debit(r.s, market.BalanceKey{Token: token, Account: account}, amount)
	switch {
	case !ok:
		r.giveUp(token, market.ReasonNegative)
	case gone > 0:
		r.holders(token, -gone)
	}
}

func (r *run) credit(token, account market.Address, amount *market.Amount) {
	if amount.IsZero() || r.s.tokens.get(token).Holders.Status != market.HoldersCurrent {
		return
	}
	if came := r.Machine.credit(r.s, market.BalanceKey{Token: token, Account: account}, amount); came > 0 {
		r.holders(token, came)
	}
}

// debit takes an amount, which isn't nought, from a balance, and gives by how many the holders become fewer. ok is false where the balance is too
// small.
func (m *Machine) debit(s *State, key market.BalanceKey, amount *market.Amount) (holders int64, ok bool) {
	if b := s.balances.get(key); b == nil || b.Amount.Lt(amount) {
		return 0, false
	}
	b := s.balances.edit(key)
	b.Amount.Sub(&b.Amount, amount)
	if b.Amount.IsZero() && !b.Excluded {
		s.balances.remove(key)
		return 1, true
	}
	return 0, true
}

// credit adds an amount, which isn't nought, to a balance, and gives by how many the holders become more.
func (m *Machine) credit(s *State, key market.BalanceKey, amount *market.Amount) (holders int64) {
	isNew := s.balances.get(key) == nil
	b := s.balances.edit(key)
	if isNew {
		b.Excluded = m.uncounted(s, key.Account)
		if !b.Excluded {
			holders = 1
		}
	}
	b.Amount.Add(&b.Amount, amount)
	return holders
}

// holders changes a token's count of holders.
func (r *run) holders(token market.Address, by int64) {
	h := &r.s.tokens.edit(token).Holders
	h.Count += by
	h.Gained.Add(by, r.b.Time)
}

// wrap books a deposit or withdrawal of the declared wrapped native coin.
func (r *run) wrap(tx *market.Tx, e market.Wrap) {
	if t, ok := r.asTransfer(tx, e); ok {
		r.transfer(t)
	}
}

// asTransfer is a deposit or withdrawal as the mint or burn that it amounts to. Some deployments log that Transfer
// beside it, which counts then instead.
func (m *Machine) asTransfer(tx *market.Tx, e market.Wrap) (t market.Transfer, ok bool) {
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

// excludeHolder marks a pool's account so that it isn't counted among a token's holders.
func (r *run) excludeHolder(token, account market.Address) {
	if !r.Follows(r.s, token) {
		return
	}
	r.token(token)
	key := market.BalanceKey{Token: token, Account: account}
	if b := r.s.balances.get(key); b != nil {
		if b.Excluded {
			return
		}
		switch {
		case r.s.tokens.get(token).Holders.Status == market.HoldersCurrent:
			r.holders(token, -1)
		case r.s.isMerged(token, account):
			r.s.jobs.edit(token).Holders--
		}
	}
	r.s.balances.edit(key).Excluded = true
}

// giveUp ends a token's holder count, until a recount is proven. Its balances stay as they were and mean nothing any more.
func (r *run) giveUp(token market.Address, why market.HolderReason) {
	t := r.s.tokens.edit(token)
	t.Holders = market.Holders{Status: market.HoldersUnavailable, Reason: why}
}

// strikes is how many samples in a row a contract must contradict before its token's holders are given up: one could be
// a node's fault.
const strikes = 2

// sample holds a derived balance against what the contract answered for the state before this block.
func (r *run) sample(f market.BalanceFact) {
	t := r.s.tokens.get(f.Token)
	if t == nil || t.Holders.Status != market.HoldersCurrent {
		return
	}
	var derived market.Amount
	if b := r.s.balances.get(market.BalanceKey{Token: f.Token, Account: f.Account}); b != nil {
		derived = b.Amount
	}
	if derived == f.Amount {
		if t.Holders.Strikes > 0 {
			r.s.tokens.edit(f.Token).Holders.Strikes = 0
		}
		return
	}
	if t = r.s.tokens.edit(f.Token); t.Holders.Strikes+1 < strikes {
		t.Holders.Strikes++
		return
	}
	r.giveUp(f.Token, market.ReasonSample)
}

// supply takes what a token itself said of its supply when it was asked what it is.
func (r *run) supply(token market.Address, supply market.Amount) {
	if t := r.s.tokens.get(token); t != nil && (!t.HasSupply || t.Supply != supply) {
		t = r.s.tokens.edit(token)
		t.HasSupply, t.Supply = true, supply
	}
}

// sampleSupply holds the derived supply against what the contract answered for the state before this block. A supply that was unknown
// is known from here on. One that is contradicted again and again changes without transfers, by whatever between two samples: nobody
// knows it.
func (r *run) sampleSupply(f market.SupplyFact) {
	t := r.s.tokens.get(f.Token)
	switch {
	case t == nil || t.SupplyStrikes >= market.SupplyUntold:
	case t.HasSupply && t.Supply == f.Supply:
		if t.SupplyStrikes > 0 {
			r.s.tokens.edit(f.Token).SupplyStrikes = 0
		}
	case !t.HasSupply:
		r.supply(f.Token, f.Supply)
	default:
		t = r.s.tokens.edit(f.Token)
		if t.SupplyStrikes++; t.SupplyStrikes >= market.SupplyUntold {
			untold(t)
			return
		}
		t.Supply = f.Supply
	}
}

// untold ends a token's supply for good: its transfers don't tell it.
func untold(t *market.Token) {
	t.HasSupply, t.Supply, t.SupplyStrikes = false, market.Amount{}, market.SupplyUntold
}
