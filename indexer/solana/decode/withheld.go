package decode

import (
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/spltoken"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode/wire"
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
			if place := t.placeOf(key); place >= 0 && (!told || h.writes(place, len(t.static), len(t.writable))) {
				return true
			}
		}
	}
	return false
}

// header is that of a message: how many of its static keys have signed, how many of those are for reading alone, and how many of the others are.
type header struct{ signed, signedReadonly, readonly uint64 }

// writes reports whether the account at a place may change. static is the number of static keys, loaded that of the keys from lookup tables that may change.
func (h *header) writes(place, static, loaded int) bool {
	at := uint64(place)
	switch {
	case place >= static:
		return place < static+loaded
	case at < h.signed:
		return at+h.signedReadonly < h.signed
	default:
		return at+h.readonly < uint64(static)
	}
}

// readHeader reads the message's header. told is false where the node tells none, or one that can't be.
func (t *transaction) readHeader() (h header, told bool) {
	if len(t.header) == 0 {
		return h, false
	}
	if t.wire {
		told = wire.Fields(t.header, func(number int, v uint64, _ []byte) {
			switch number {
			case 1:
				h.signed = v
			case 2:
				h.signedReadonly = v
			case 3:
				h.readonly = v
			}
		})
		return h, told && t.has(h)
	}
	p := rpc.NewScanner(t.header)
	p.Object(func(key []byte) {
		switch string(key) {
		case "numRequiredSignatures":
			h.signed = p.Uint()
		case "numReadonlySignedAccounts":
			h.signedReadonly = p.Uint()
		case "numReadonlyUnsignedAccounts":
			h.readonly = p.Uint()
		default:
			p.Leap()
		}
	})
	told, _ = p.End()
	return h, told && t.has(h)
}

// has reports whether the transaction can have a header: somebody who pays has signed it, and there are as many keys.
func (t *transaction) has(h header) bool {
	static := uint64(len(t.static))
	return h.signedReadonly < h.signed && h.signed <= static && h.readonly <= static-h.signed
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
