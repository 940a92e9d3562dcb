package solana

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

// Of the largest holders who aren't the creator so many are looked at, and of so many it is tried whether their tokens can be moved.
const (
	lookedAt = 10
	tried    = 3
)

// hookProgramAt is where the extension TransferHook has the program that decides about transfers: behind who may set it.
const hookProgramAt = 32

// move is a transfer that was tried: of a holder's tokens to where a buyer has them.
type move struct {
	from, to solana.Holding
	at       uint64
	// refused is why the token program would refuse it; empty where it would not.
	refused string
}

// trySales has nodes try whether holders can let go of the token: a sale moves their tokens into the market's account, and the token's own rules, as frozen accounts, a
// pause, or a program that decides about transfers, are checked there. What the market's program would pay isn't tried.
func (k *look) trySales(ctx context.Context) {
	owners := []market.Address{k.marketAccount()}
	for _, h := range k.known.Holders {
		if a := h.Account; len(owners) <= lookedAt && !k.isMarket(a) && (k.known.Launch == nil || k.known.Launch.Creator != a) && a != owners[0] {
			owners = append(owners, a)
		}
	}
	if owners[0].IsNone() {
		owners = owners[1:]
	}
	k.unsold = trust.NotIndexed
	switch {
	case !keyAt(k.told.Extensions[solana.TransferHook], hookProgramAt).IsNone():
		k.unsold = trust.HookNotSimulated
		return
	case len(owners) < 2:
		return
	}
	holdings, err := k.l.node.Holdings(ctx, k.token(), k.told.Program, owners)
	if err != nil {
		k.unsold, k.saleFailed = trust.CallFailed, true
		return
	}
	holdings = slices.DeleteFunc(holdings, func(h solana.Holding) bool { return h.Amount == 0 })
	for i, from := range holdings {
		if from.Owner == k.marketAccount() || len(holdings) < 2 || len(k.moves) == tried {
			continue
		}
		to := holdings[0]
		if i == 0 {
			to = holdings[1]
		}
		m := move{from: from, to: to}
		told, err := k.l.node.Simulate(ctx, transfer(k.token(), k.told.Program, k.told.Decimals, from, to))
		switch {
		case errors.Is(err, solana.ErrNotSimulated):
			k.unsold = trust.RPCCapability
			return
		case err != nil:
			k.unsold, k.saleFailed = trust.CallFailed, true
			return
		}
		var ofToken bool
		if m.at = told.Slot; told.Err != "" {
			if m.refused, ofToken = refusal(told.Err); !ofToken {
				continue // the holder can't pay the fee, or is no wallet
			}
		}
		k.moves = append(k.moves, m)
	}
	if len(k.moves) > 0 {
		k.unsold = ""
	}
}

// marketAccount is the owner of what the token's market holds, where that is the curve or the pool itself; none without a market.
func (k *look) marketAccount() market.Address {
	switch launch := k.known.Launch; {
	case launch != nil && launch.OnCurve():
		return launch.Curve
	case k.index.Market != nil:
		return k.index.Market.ID
	default:
		return market.Address{}
	}
}

// refusal reads why a transaction of one instruction would fail. ofToken is false where that instruction was not reached.
func refusal(failed string) (why string, ofToken bool) {
	var told struct{ InstructionError []json.RawMessage }
	if json.Unmarshal([]byte(failed), &told) != nil || len(told.InstructionError) != 2 {
		return "", false
	}
	var custom struct{ Custom *int64 }
	if json.Unmarshal(told.InstructionError[1], &custom) == nil && custom.Custom != nil {
		const frozen = 17 // of SPL Token and Token-2022
		if *custom.Custom == frozen {
			return "the account is frozen", true
		}
		return fmt.Sprintf("its program's error %d", *custom.Custom), true
	}
	var name string
	if json.Unmarshal(told.InstructionError[1], &name) != nil {
		return "an error of another form", true
	}
	return fmt.Sprintf("%.40q", name), true
}

// honeypot judges what trySales found.
func (k *look) honeypot(rule trust.Rule) trust.Check {
	switch {
	case k.failed:
		return rule.Unknown(trust.CallFailed)
	case k.unsold != "":
		return rule.Unknown(k.unsold)
	}
	refused := 0
	var evidence []trust.Evidence
	for _, m := range k.moves {
		detail := fmt.Sprintf("%s can move its tokens to the account of %s", m.from.Owner, m.to.Owner)
		if m.refused != "" {
			refused++
			detail = fmt.Sprintf("%s can't move its tokens to the account of %s: %s", m.from.Owner, m.to.Owner, m.refused)
		}
		evidence = append(evidence, trust.Evidence{Kind: "simulation", Ref: m.from.Account.String(), Block: m.at, Detail: detail})
	}
	c := rule.Pass(false)
	switch {
	case refused > 1 && refused == len(k.moves):
		c = rule.Judge(trust.Fail, trust.Critical, true)
	case refused > 0: // one holder's account may be frozen for what that holder did
		c = rule.Judge(trust.Warn, trust.High, false)
	}
	return with(c, evidence...)
}

// transfer is a transaction with one instruction, by which a holder moves one unit to another account (TransferChecked of SPL Token and Token-2022), in Solana's first format:
// one signature, which isn't made; then the keys, first those that are written, then those that are read; a hash, which the node replaces; and the instruction.
func transfer(token, program market.Address, decimals byte, from, to solana.Holding) []byte {
	const (
		signatures, signers, signersRead, othersRead = 1, 1, 0, 2
		transferChecked                              = 12
	)
	keys := []market.Address{from.Owner, from.Account, to.Account, token, program}
	out := append([]byte{signatures}, make([]byte, 64)...)
	out = append(out, signers, signersRead, othersRead, byte(len(keys)))
	for _, key := range keys {
		out = append(out, key.Bytes()[1:]...)
	}
	out = append(out, make([]byte, 32)...)
	data := append(binary.LittleEndian.AppendUint64([]byte{transferChecked}, 1), decimals)
	accounts := []byte{1, 3, 2, 0} // where it is, the token, where it goes, whose it is
	out = append(out, 1, byte(len(keys)-1), byte(len(accounts)))
	out = append(out, accounts...)
	return append(append(out, byte(len(data))), data...)
}
