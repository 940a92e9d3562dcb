package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// Expectation is what derivation will have arrived at before a block of a batch that isn't applied yet, as far as the
// batch's transfers tell: enough to see which of the contracts' answers would contradict it. It only reads the state.
type Expectation struct {
	m *Machine
	s *State
	// moved is what the blocks seen so far changed of balances, minted what they changed of supplies; both wrap around.
	moved  map[market.BalanceKey]market.Amount
	minted map[market.Address]market.Amount
	// said are the supplies that facts of the batch set, less what was minted until then.
	said map[market.Address]market.Amount
}

// Expect begins before the first block of a batch.
func (m *Machine) Expect(s *State) *Expectation {
	return &Expectation{
		m: m, s: s, moved: map[market.BalanceKey]market.Amount{}, minted: map[market.Address]market.Amount{},
		said: map[market.Address]market.Amount{},
	}
}

// See moves on behind a block, whose facts are complete.
func (x *Expectation) See(b *market.Block) {
	for _, f := range b.Facts {
		if f, ok := f.(market.SupplyFact); ok {
			x.say(f.Token, f.Supply)
		}
	}
	for i := range b.Txs {
		tx := &b.Txs[i]
		for _, l := range tx.Logs {
			switch e := l.Event.(type) {
			case market.Transfer:
				x.transfer(e)
			case market.Wrap:
				if t, ok := x.m.asTransfer(tx, e); ok {
					x.transfer(t)
				}
			}
		}
	}
	for _, f := range b.Facts {
		if f, ok := f.(market.TokenFact); ok && f.HasSupply {
			x.say(f.Token, f.Supply)
		}
	}
}

func (x *Expectation) say(token market.Address, supply market.Amount) {
	minted := x.minted[token]
	supply.Sub(&supply, &minted)
	x.said[token] = supply
}

func (x *Expectation) transfer(t market.Transfer) {
	change := func(account market.Address, by func(v *market.Amount)) {
		if account.IsZeroEVM() {
			return
		}
		k := market.BalanceKey{Token: t.Token, Account: account}
		v := x.moved[k]
		by(&v)
		x.moved[k] = v
	}
	change(t.From, func(v *market.Amount) { v.Sub(v, &t.Amount) })
	change(t.To, func(v *market.Amount) { v.Add(v, &t.Amount) })
	if from, to := t.From.IsZeroEVM(), t.To.IsZeroEVM(); from != to {
		v := x.minted[t.Token]
		if from {
			v.Add(&v, &t.Amount)
		} else {
			v.Sub(&v, &t.Amount)
		}
		x.minted[t.Token] = v
	}
}

// Contradicts reports whether a sampled balance or supply would count against what derivation arrived at. The token's row
// and the balance's have to be loaded.
func (x *Expectation) Contradicts(f market.Fact) bool {
	switch f := f.(type) {
	case market.BalanceFact:
		if t := x.s.tokens.get(f.Token); t != nil && t.Holders.Status != market.HoldersCurrent {
			return false
		}
		key := market.BalanceKey{Token: f.Token, Account: f.Account}
		balance, moved := x.s.Balance(key), x.moved[key]
		balance.Add(&balance, &moved)
		return balance != f.Amount
	case market.SupplyFact:
		t := x.s.tokens.get(f.Token)
		if t != nil && t.SupplyStrikes >= market.SupplyUntold {
			return false
		}
		supply, known := x.said[f.Token]
		if !known && t != nil && t.HasSupply {
			supply, known = t.Supply, true
		}
		minted := x.minted[f.Token]
		supply.Add(&supply, &minted)
		return known && supply != f.Supply
	default:
		return false
	}
}
