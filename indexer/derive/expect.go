package derive

import "github.com/boardwalkhq/boardwalk/internal/market"

// Expectation predicts, from a batch's transfers, the balances and supplies that derivation will have before a block
// of the batch. It is used before the batch is applied, to find the answers of contracts that would contradict the
// derived values. It only reads the state.
type Expectation struct {
	m *Machine
	s *State
	// moved is what the blocks seen so far changed of the balances in question, minted what they changed of supplies; both wrap around.
	moved  map[market.BalanceKey]market.Amount
	minted map[market.Address]market.Amount
	// said are the supplies that facts of the batch set, less what was minted until then.
	said map[market.Address]market.Amount
}

// Expect begins before the first block of a batch. Of other balances than those named nothing can be said: a batch moves tens of thousands.
func (m *Machine) Expect(s *State, balances []market.BalanceKey) *Expectation {
	x := &Expectation{
		m: m, s: s, moved: make(map[market.BalanceKey]market.Amount, len(balances)), minted: map[market.Address]market.Amount{},
		said: map[market.Address]market.Amount{},
	}
	for _, k := range balances {
		if !k.Account.IsNone() { // it has no balance
			x.moved[k] = market.Amount{}
		}
	}
	return x
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
			if t, ok := x.m.transferOf(tx, l.Event); ok {
				x.transfer(t)
			}
			if w, ok := l.Event.(market.Withheld); ok {
				x.mint(w.Token, &w.Change.Abs, !w.Change.Neg)
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
	from := market.BalanceKey{Token: t.Token, Account: t.From}
	if v, ok := x.moved[from]; ok {
		v.Sub(&v, &t.Amount)
		x.moved[from] = v
	}
	to := market.BalanceKey{Token: t.Token, Account: t.To}
	if v, ok := x.moved[to]; ok {
		v.Add(&v, &t.Amount)
		x.moved[to] = v
	}
	if made, burnt := t.From.IsNone(), t.To.IsNone(); made != burnt {
		x.mint(t.Token, &t.Amount, made)
	}
}

func (x *Expectation) mint(token market.Address, amount *market.Amount, made bool) {
	v := x.minted[token]
	if made {
		v.Add(&v, amount)
	} else {
		v.Sub(&v, amount)
	}
	x.minted[token] = v
}

// Contradicts reports whether a sampled balance or supply would count against what derivation arrived at. The token's row
// and the balance's have to be loaded, and Expect told of the balance.
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
		if t := x.s.tokens.get(f.Token); t != nil && t.SupplyStrikes >= market.SupplyUntold {
			return false
		}
		supply, known := x.supply(f.Token)
		return known && supply != f.Supply
	default:
		return false
	}
}

// LacksSupply reports whether derivation will have no supply of a token and takes the next one that is sampled. The token's row has to be loaded.
func (x *Expectation) LacksSupply(token market.Address) bool {
	t := x.s.tokens.get(token)
	_, known := x.supply(token)
	return !known && (t == nil || t.SupplyStrikes < market.SupplyUntold)
}

func (x *Expectation) supply(token market.Address) (supply market.Amount, known bool) {
	supply, known = x.said[token]
	if t := x.s.tokens.get(token); !known && t != nil && t.HasSupply {
		supply, known = t.Supply, true
	}
	minted := x.minted[token]
	supply.Add(&supply, &minted)
	return supply, known
}
