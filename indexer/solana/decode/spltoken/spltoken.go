// Package spltoken reads the instructions of Solana's token programs, SPL Token and Token-2022. https://docs.rs/spl-token-2022-interface has their layout: the first
// byte says which one it is, and an amount of 64 bits stands behind it.
package spltoken

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The texts of the programs' keys.
const (
	Program     = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	Program2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
)

// The instructions that move, mint or burn, by their first byte. Those of the extension PermissionedBurn have a second one. lastKnown is the last instruction that
// Token-2022 has.
const (
	transfer, mintTo, burn, transferChecked, mintToChecked, burnChecked = 3, 7, 8, 12, 14, 15
	permissionedBurn, permittedBurn, permittedBurnChecked, lastKnown    = 46, 1, 2, 46
)

// Transfer reads an instruction that moves tokens from its first account to the one at the place to; ok is false for another one.
func Transfer(data []byte) (amount market.Amount, to int, ok bool) {
	if len(data) == 0 {
		return amount, 0, false
	}
	switch data[0] {
	case transfer:
		to = 1
	case transferChecked:
		to = 2 // behind the token
	default:
		return amount, 0, false
	}
	amount, ok = amountOf(data)
	return amount, to, ok
}

// Supply is what an instruction does to the supply of the token at the place Token among its accounts.
type Supply struct {
	Token  int
	Change market.SignedAmount
}

// SupplyOf reads an instruction of Token-2022; changes is false where it mints and burns nothing. ok is false where it can't be read, or isn't known: a later instruction
// may be another way to mint or burn, and batches may be, too.
func SupplyOf(data []byte) (s Supply, changes, ok bool) {
	if len(data) == 0 || data[0] > lastKnown && !describes(data) {
		return s, false, false
	}
	s.Token, s.Change.Neg = 1, true
	switch kind := data[0]; {
	case kind == mintTo, kind == mintToChecked:
		s.Token, s.Change.Neg = 0, false
	case kind == burn, kind == burnChecked:
	case kind == permissionedBurn && len(data) > 1 && (data[1] == permittedBurn || data[1] == permittedBurnChecked):
		data = data[1:]
	default:
		return s, false, true
	}
	s.Change.Abs, ok = amountOf(data)
	return s, ok, ok
}

func amountOf(data []byte) (a market.Amount, ok bool) {
	if len(data) < 1+8 {
		return a, false
	}
	a.SetUint64(binary.LittleEndian.Uint64(data[1:]))
	return a, true
}

// described are the instructions about a token's name and its groups, which Token-2022 carries out as well (spl-token-metadata-interface,
// spl-token-group-interface): they begin with the SHA-256 of a name, and mint and burn nothing.
var described = func() map[[8]byte]bool {
	known := map[[8]byte]bool{}
	for name := range strings.FieldsSeq("metadata_interface:initialize_account metadata_interface:updating_field metadata_interface:remove_key_ix " +
		"metadata_interface:update_the_authority metadata_interface:emitter group_interface:initialize_token_group group_interface:update_group_max_size " +
		"group_interface:update_authority group_interface:initialize_member") {
		sum := sha256.Sum256([]byte("spl_token_" + name))
		known[[8]byte(sum[:])] = true
	}
	return known
}()

func describes(data []byte) bool { return len(data) >= 8 && described[[8]byte(data)] }
