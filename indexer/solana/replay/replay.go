// Package replay makes, out of a sale that somebody made at a market, the same sale by another holder, so that a node can simulate it. It asks nobody: it reads what a
// node tells of the transaction with the sale, and trusts nothing in it.
package replay

import (
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/pda"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Call is a sale that somebody made: a call of the market's program.
type Call struct {
	// Quote is the token that the market pays with. QuoteDecimals are its decimals where the transaction tells them, as HasDecimals says.
	Quote         market.Address
	QuoteDecimals uint8
	HasDecimals   bool
	// QuoteProgram is the token program that has the quote.
	QuoteProgram market.Address
	// Amount is how much of the token was offered.
	Amount uint64

	form     *form
	program  market.Address
	accounts []Meta
	data     []byte
	// owner is the seller, from the account that the tokens left, to the one that the quote went to; to is none where the market pays the seller in SOL.
	owner, from, to market.Address
}

// Same reports whether two calls are the same.
func (c *Call) Same(other *Call) bool {
	return c.program == other.program && c.form == other.form && slices.Equal(c.accounts, other.accounts) && slices.Equal(c.data, other.data) &&
		c.HasDecimals == other.HasDecimals && c.QuoteDecimals == other.QuoteDecimals
}

// Find finds a sale at a market in what a node tells of a transaction: the first call that can be made again. ok is false where there is none, or the answer is of another
// transaction, of a failed one, or can't be true.
func Find(raw json.RawMessage, tx market.TxID, m *Market) (c Call, ok bool) {
	t, ok := read(raw, tx)
	if !ok {
		return c, false
	}
	for i := range t.calls {
		if in := &t.calls[i]; t.keys[in.Program] == m.program {
			if c, ok = t.sale(in, m); ok {
				return c, true
			}
		}
	}
	return Call{}, false
}

// mostAccounts is the most accounts of a call that is made again, and of a transaction.
const mostAccounts = 64

// sale reads a call of the market's program; ok is false where it is no sale of the market's token that can be made again.
func (t *transaction) sale(in *instruction, m *Market) (c Call, ok bool) {
	data, ok := in.bytes()
	if !ok || len(in.Accounts) > mostAccounts {
		return c, false
	}
	i := slices.IndexFunc(m.forms, func(f form) bool { return f.begins(data) })
	if i < 0 {
		return c, false
	}
	f := &m.forms[i]
	c = Call{Quote: m.quote, form: f, program: m.program, data: data, Amount: binary.LittleEndian.Uint64(data[len(f.begin):]), QuoteProgram: layout.TokenProgram}
	for _, place := range in.Accounts {
		c.accounts = append(c.accounts, Meta{t.keys[place], t.isWritable(place)})
	}
	c.owner, c.from = c.at(f.owner), c.at(f.from)
	sold, fromKnown := t.balanceOf(c.from)
	switch {
	case c.at(f.subject) != m.subject || !fromKnown || sold.Mint != m.token.String() || c.owner == c.from || m.quote == m.token:
		return c, false
	case f.paysSOL:
		return c, m.quote == m.wrapped
	}
	c.to = c.at(f.to)
	if c.to.IsNone() || c.to == c.owner || c.to == c.from {
		return c, false
	}
	if len(f.tokens) > 0 {
		k := slices.IndexFunc(f.tokens, func(places [2]int) bool { return c.at(places[0]) == m.quote })
		if k < 0 {
			return c, false
		}
		c.QuoteProgram = c.at(f.tokens[k][1])
	}
	c.QuoteDecimals, c.HasDecimals = t.decimalsOf(m.quote)
	return c, c.QuoteProgram == layout.TokenProgram || c.QuoteProgram == layout.Token2022Program
}

// at is the account at a place of the call, counted from the end where the place is negative; none where it has fewer.
func (c *Call) at(place int) market.Address {
	if place < 0 {
		place += len(c.accounts)
	}
	if place < 0 || place >= len(c.accounts) {
		return market.Address{}
	}
	return c.accounts[place].Key
}

// Sale is a sale by a holder, as a transaction without its signature.
type Sale struct {
	Transaction []byte
	// To is the holder's account that the quote goes to; none where the market pays the holder in SOL.
	To market.Address
	// At is the place of the market's call among the transaction's instructions.
	At int
}

// By makes the sale again for a holder, who has the token in an account: of an amount, for as little as the market gives. It first opens the holder's usual account of
// the quote, unless that is there. ok is false where this doesn't fit into a transaction.
func (c *Call) By(holder, account market.Address, amount uint64) (s Sale, ok bool) {
	instead := map[market.Address]market.Address{c.owner: holder, c.from: account}
	var list []Instruction
	if !c.to.IsNone() {
		s.To = layout.UsualAccountOf(holder, c.QuoteProgram, c.Quote)
		instead[c.to] = s.To
		list = append(list, opening(holder, s.To, c.Quote, c.QuoteProgram))
	}
	if c.form.accumulates {
		// pump.fun's programs count what each trader trades in an account of the trader's. Where they give fees back, its usual account of the quote gets those.
		ofSeller, ofHolder := accumulator(c.program, c.owner), accumulator(c.program, holder)
		instead[ofSeller] = ofHolder
		instead[layout.UsualAccountOf(ofSeller, c.QuoteProgram, c.Quote)] = layout.UsualAccountOf(ofHolder, c.QuoteProgram, c.Quote)
	}
	call := Instruction{Program: c.program, Accounts: slices.Clone(c.accounts), Data: slices.Clone(c.data)}
	for i := range call.Accounts {
		if other, replaced := instead[call.Accounts[i].Key]; replaced {
			call.Accounts[i].Key = other
		}
	}
	amountAt := len(c.form.begin)
	binary.LittleEndian.PutUint64(call.Data[amountAt:], amount)
	binary.LittleEndian.PutUint64(call.Data[amountAt+8:], 0) // the least that the market shall give
	s.At = len(list)
	s.Transaction, ok = Transaction(holder, append(list, call)...)
	return s, ok
}

// accumulator is the account in which one of pump.fun's programs counts what a trader trades.
func accumulator(program, trader market.Address) market.Address {
	return pda.Of(program, []byte("user_volume_accumulator"), layout.KeyOf(trader))
}
