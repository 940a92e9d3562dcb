package decode

import (
	"encoding/binary"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// program2022 is the program Token-2022. Its tokens may withhold a part of what is transferred: that part is in no balance, and still part of the supply, until somebody
// takes it.
const program2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"

var program2022Key = func() string {
	var key [32]byte
	market.DecodeBase58(key[:], []byte(program2022))
	return string(key[:])
}()

// issue is by how much a transaction changes the supply of a token, or what all owners have of it.
type issue struct {
	token  market.Address
	change market.SignedAmount
}

func addIssue(list []issue, token market.Address, change market.SignedAmount) []issue {
	for i := range list {
		if list[i].token == token {
			list[i].change = list[i].change.Add(change)
			return list
		}
	}
	return append(list, issue{token, change})
}

// withheld emits by how much the transaction changes what tokens of Token-2022 withhold: what was minted of them, less what was burnt, less the change of all balances. It
// emits nothing where the node doesn't tell all instructions, or where one isn't known that may mint or burn.
func (r *reader) withheld() {
	if !r.tx.has2022 || !r.tx.tellsCalls || !r.tx.run() {
		return
	}
	kept, ok := r.minted(r.kept[:0])
	if r.kept = kept; !ok {
		return
	}
	for i := range r.moves.list {
		if m := &r.moves.list[i]; m.is2022 && !m.change.IsZero() {
			r.kept = addIssue(r.kept, r.key(m.mint), m.change.Negate())
		}
	}
	slices.SortFunc(r.kept, func(a, b issue) int { return a.token.Compare(b.token) })
	for _, k := range r.kept {
		if !k.change.IsZero() {
			r.emit(nil, market.Withheld{Token: k.token, Change: k.change})
		}
	}
}

// The instructions of Token-2022 that mint or burn, by their first byte: the amount stands behind it, and in those of the extension PermissionedBurn behind another byte.
// https://docs.rs/spl-token-2022-interface has their layout. lastKnown is the last instruction that it has: a later one may be another way to mint or burn.
const (
	mintTo, burn, mintToChecked, burnChecked = 7, 8, 14, 15
	permissionedBurn, lastKnown              = 46, 46
	permittedBurn, permittedBurnChecked      = 1, 2
)

// minted adds what the transaction's instructions of Token-2022 mint, less what they burn. ok is false where an instruction isn't known.
func (r *reader) minted(list []issue) (_ []issue, ok bool) {
	name := program2022
	if r.tx.wire {
		name = program2022Key
	}
	for i := range r.tx.instructions {
		in := &r.tx.instructions[i]
		if string(r.tx.keys[in.program]) != name {
			continue
		}
		data, ok := r.tx.appendData(r.data[:0], in)
		if r.data = data; !ok || len(data) == 0 || data[0] > lastKnown {
			return list, false
		}
		place, isBurn := 1, true // of the token among its accounts
		switch kind := data[0]; {
		case kind == mintTo, kind == mintToChecked:
			place, isBurn = 0, false
		case kind == burn, kind == burnChecked:
		case kind == permissionedBurn && len(data) > 1 && (data[1] == permittedBurn || data[1] == permittedBurnChecked):
			data = data[1:]
		default:
			continue
		}
		accounts := r.tx.accountsOf(in)
		if len(data) < 9 || len(accounts) <= place {
			return list, false
		}
		list = addIssue(list, r.account(accounts[place]), market.SignedAmount{Abs: amountOf(binary.LittleEndian.Uint64(data[1:])), Neg: isBurn})
	}
	return list, true
}
