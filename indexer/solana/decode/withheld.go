package decode

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/header"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/internal/base58"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The programs that every chain of Solana has. A token of Token-2022 may withhold a part of what is transferred. That part is in nobody's balance until somebody takes it. It is part of
// the supply all the while.
var (
	systemProgram, _ = market.ParseSolanaAddress("11111111111111111111111111111111")
	tokenProgram, _  = market.ParseSolanaAddress(spltoken.Program)
	address2022, _   = market.ParseSolanaAddress(spltoken.Program2022)
	program2022Key   = string(address2022.Bytes()[1:]) // as it stands on the wire
)

// tokenSum sums up amounts of one token.
type tokenSum struct {
	token  market.Address
	change market.SignedAmount
}

func addTo(list []tokenSum, token market.Address, change market.SignedAmount) []tokenSum {
	for i := range list {
		if list[i].token == token {
			list[i].change = list[i].change.Add(change)
			return list
		}
	}
	return append(list, tokenSum{token, change})
}

// withheld emits by how much the transaction changes what tokens of Token-2022 withhold: what was minted of them, less what was burnt, less the change of all balances. It
// emits nothing where the node doesn't tell all instructions, or where one isn't known that may mint or burn.
func (r *reader) withheld() {
	if !r.tx.has2022 || !r.tx.tellsCalls {
		return
	}
	kept, ok := r.minted(r.kept[:0])
	if r.kept = kept; !ok {
		return
	}
	for i := range r.moves.list {
		if m := &r.moves.list[i]; m.is2022 && !m.change.IsZero() {
			r.kept = addTo(r.kept, r.key(m.mint), m.change.Negate())
		}
	}
	slices.SortFunc(r.kept, func(a, b tokenSum) int { return a.token.Compare(b.token) })
	for _, k := range r.kept {
		if !k.change.IsZero() {
			r.emit(nil, market.Withheld{Token: k.token, Change: k.change})
		}
	}
}

// mayMint reports whether the transaction may mint or burn a token of Token-2022 of which a balance is told. Whoever mints or burns changes the mint's account. A
// transaction can't change an account that it doesn't have, or has for reading alone. What is minted and burnt of a token whose accounts are all made and closed in the
// transaction isn't seen: no balance of it is told.
func (t *transaction) mayMint() bool {
	h, told := t.readHeader()
	for _, list := range [][]tokenBalance{t.pre, t.post} {
		for i := range list {
			if !list[i].is2022 {
				continue
			}
			key, raw := list[i].mint, [32]byte{}
			if t.wire && base58.Decode(raw[:], key) {
				key = raw[:]
			}
			if place := t.placeOf(key); place >= 0 && (!told || h.Writes(place, len(t.writable))) {
				return true
			}
		}
	}
	return false
}

// readHeader reads the message's header. told is false where the node tells none, or one that can't be.
func (t *transaction) readHeader() (h header.Header, told bool) {
	if t.wire {
		return header.OfWire(t.header, len(t.static))
	}
	return header.OfJSON(t.header, len(t.static))
}

// minted adds what the transaction's instructions of Token-2022 mint, less what they burn. ok is false where they can't be read, or one isn't known that may mint or burn.
func (r *reader) minted(list []tokenSum) (_ []tokenSum, ok bool) {
	if !r.tx.mayMint() {
		return list, true // most transactions can't: their instructions aren't read
	}
	if !r.tx.run() {
		return list, false
	}
	for i := range r.tx.instructions {
		in := &r.tx.instructions[i]
		if key := string(r.tx.keys[in.program]); key != spltoken.Program2022 && key != program2022Key {
			continue
		}
		data, ok := r.tx.appendData(r.data[:0], in)
		if r.data = data; !ok {
			return list, false
		}
		supply, changes, ok := spltoken.SupplyOf(data)
		accounts := r.tx.accountsOf(in)
		switch {
		case !ok || changes && len(accounts) <= supply.Token:
			return list, false
		case changes:
			list = addTo(list, r.account(accounts[supply.Token]), supply.Change)
		}
	}
	return list, true
}
