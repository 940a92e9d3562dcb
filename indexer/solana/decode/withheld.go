package decode

import (
	"encoding/binary"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// token2022 is the program Token-2022. Its tokens may withhold a part of what is transferred: that part is in no balance, and still part of the supply, until somebody
// takes it.
const token2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"

var token2022Key = func() string {
	var key [32]byte
	market.DecodeBase58(key[:], []byte(token2022))
	return string(key[:])
}()

// withheld emits by how much the transaction changes what tokens of Token-2022 withhold: what was minted of them, less what was burnt, less the change of all balances.
// Of a transaction whose instructions can't be read, and that calls no known program, it tells nothing.
func (r *reader) withheld() {
	list := r.moves.list // by tokens
	for len(list) > 0 {
		first, n := &list[0], 0
		var change market.SignedAmount
		for ; n < len(list) && string(list[n].mint) == string(first.mint); n++ {
			change = change.Add(list[n].change)
		}
		list = list[n:]
		if !first.is2022 || change.IsZero() || !r.tx.run() {
			continue
		}
		token := r.key(first.mint)
		if kept := r.minted(token).Add(change.Negate()); !kept.IsZero() {
			r.emit(nil, market.Withheld{Token: token, Change: kept})
		}
	}
}

// minted is what the transaction's instructions of Token-2022 mint of a token, less what they burn.
func (r *reader) minted(token market.Address) (sum market.SignedAmount) {
	// The first byte of these instructions, before the amount. https://docs.rs/spl-token-2022-interface has their layout.
	const mintTo, burn, mintToChecked, burnChecked = 7, 8, 14, 15
	name := token2022
	if r.tx.wire {
		name = token2022Key
	}
	for i := range r.tx.instructions {
		in := &r.tx.instructions[i]
		if string(r.tx.keys[in.program]) != name {
			continue
		}
		data, ok := r.tx.appendData(r.data[:0], in)
		if r.data = data; !ok || len(data) < 9 {
			continue
		}
		place, isBurn := 0, false // of the token among its accounts
		switch data[0] {
		case mintTo, mintToChecked:
		case burn, burnChecked:
			place, isBurn = 1, true
		default:
			continue
		}
		if accounts := r.tx.accountsOf(in); len(accounts) > place && r.account(accounts[place]) == token {
			sum = sum.Add(market.SignedAmount{Abs: amountOf(binary.LittleEndian.Uint64(data[1:])), Neg: isBurn})
		}
	}
	return sum
}
