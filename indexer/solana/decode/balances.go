package decode

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// A node tells what each token account had before a transaction and has after it. The change of an owner's balance is the sum over the owner's accounts after the
// transaction, less the sum before. So nothing has to be known of how tokens were moved: in batches, by closing an account or giving it to another owner, or
// with a fee that the token withholds. That fee alone makes a difference to the supply (withheld.go).

// move is by how much a transaction changes an owner's balance of a token, as it is summed up.
type move struct {
	mint, owner []byte // base58
	change      market.SignedAmount
	before      market.Amount
	is2022      bool
}

// moves are those of a transaction, and the tokens that the block has moved so far.
type moves struct {
	list []move
	seen [][]byte
}

func (m *moves) add(b *tokenBalance, after bool) {
	if len(b.owner) == 0 || b.amount == 0 {
		return
	}
	k := slices.IndexFunc(m.list, func(o move) bool { return string(o.mint) == string(b.mint) && string(o.owner) == string(b.owner) })
	if k < 0 {
		k = len(m.list)
		m.list = append(m.list, move{mint: b.mint, owner: b.owner, is2022: b.is2022})
	}
	of, amount := &m.list[k], amountOf(b.amount)
	if !after {
		of.before = sum(of.before, amount)
	}
	of.change = of.change.Add(market.SignedAmount{Abs: amount, Neg: !after})
}

// balances emits what the transaction changes. It is an error where a token or an owner is no key.
func (r *reader) balances() error {
	r.moves.list = r.moves.list[:0]
	for i := range r.tx.pre {
		r.moves.add(&r.tx.pre[i], false)
	}
	for i := range r.tx.post {
		r.moves.add(&r.tx.post[i], true)
	}
	slices.SortFunc(r.moves.list, func(a, b move) int {
		return cmp.Or(slices.Compare(a.mint, b.mint), slices.Compare(a.owner, b.owner)) // whatever order the accounts have
	})
	for i := range r.moves.list {
		m := &r.moves.list[i]
		if m.change.IsZero() {
			continue
		}
		e := market.BalanceChange{Token: r.key(m.mint), Owner: r.key(m.owner), Change: m.change, Before: m.before, HasBefore: true}
		if e.Token.IsNone() || e.Owner.IsNone() {
			return fmt.Errorf("%w: a balance of no token or of nobody", rpc.ErrGarbage)
		}
		r.emit(nil, e)
	}
	return nil
}

// made is a token that the block makes.
type made struct {
	token    market.Address
	told     market.TokenFact
	complete bool
}

// makes notes that the transaction makes a token. Its decimals and its first balances stand beside it.
func (r *reader) makes(token market.Address, name, symbol string) {
	m := made{token: token, complete: true, told: market.TokenFact{Token: token, Name: name, Symbol: symbol}}
	for _, before := range [][]tokenBalance{r.tx.pre, r.tx.post} {
		for i := range before {
			if b := &before[i]; r.key(b.mint) == token {
				m.told.HasDecimals, m.told.Decimals = true, b.decimals
			}
		}
	}
	for i := range r.tx.pre {
		if r.key(r.tx.pre[i].mint) == token {
			m.complete = false // somebody had some already
		}
	}
	if slices.ContainsFunc(r.made, func(other made) bool { return other.token == token }) {
		return
	}
	r.made = append(r.made, m)
}

// fact is what the block tells of the token that it makes. Its supply is what all balances sum up to, with what is withheld, where nobody had any before.
func (m *made) fact(txs []market.Tx) market.TokenFact {
	f := m.told
	var supply market.SignedAmount
	add := func(token market.Address, change market.SignedAmount) {
		if token == m.token {
			supply = supply.Add(change)
		}
	}
	for i := range txs {
		for _, l := range txs[i].Logs {
			switch c := l.Event.(type) {
			case market.BalanceChange:
				add(c.Token, c.Change)
			case market.Withheld:
				add(c.Token, c.Change)
			}
		}
	}
	if m.complete && !supply.Neg {
		f.HasSupply, f.Supply, f.FromCreation = true, supply.Abs, true
	}
	return f
}

// amountOf is a number as an amount.
func amountOf(n uint64) (a market.Amount) {
	a.SetUint64(n)
	return a
}

// sum is a sum of amounts, which are of 64 bits.
func sum(list ...market.Amount) (out market.Amount) {
	for i := range list {
		out.Add(&out, &list[i])
	}
	return out
}

// less is a - b, and nought where b is more.
func less(a, b market.Amount) market.Amount { return out(b).AddedTo(a) }

func in(a market.Amount) market.SignedAmount { return market.SignedAmount{Abs: a} }

func out(a market.Amount) market.SignedAmount { return in(a).Negate() }
