package solana

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const (
	// lookedAt is how many of the largest holders are looked at, the creator and markets left out.
	lookedAt = 10
	// tried is how many transfers are enough that the token's rules allow or refuse. No more are simulated then.
	tried = 3
)

// hookProgramAt is where the extension TransferHook has the program that decides about transfers: behind who may set it.
const hookProgramAt = 32

// move is a transfer that was tried, of a holder's tokens.
type move struct {
	from, to solana.Holding
	at       uint64
	// refused is why the token program would refuse it; empty where it would not.
	refused string
}

// trySales has nodes try whether holders can let go of the token: a sale moves their tokens into the market's account, and the token's own rules, such as frozen accounts
// and a pause, are checked there. What the market's program would pay isn't tried.
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
	if !keyAt(k.told.Extensions[layout.TransferHook], hookProgramAt).IsNone() {
		k.unsold = trust.HookNotSimulated
		return
	}
	holdings, err := k.l.node.Holdings(ctx, k.token(), k.told.Program, owners)
	if err != nil {
		k.unsold, k.saleFailed = trust.CallFailed, true
		return
	}
	var into *solana.Holding // where a sale would move tokens to; nil where that isn't the market's usual account
	for i, h := range holdings {
		switch {
		case h.Amount == 0 || len(k.moves) == tried:
		case i == 0 && h.Owner == k.marketAccount():
			into = &holdings[0]
		default:
			if !k.tryMove(ctx, h, into) {
				return
			}
		}
	}
}

// tryMove has a node try a holder's transfer: into the market's account, or else to the same account, where the token's rules are checked as well. ok is false where no node does.
func (k *look) tryMove(ctx context.Context, from solana.Holding, into *solana.Holding) (ok bool) {
	to := from
	if into != nil {
		to = *into
	}
	told, err := k.l.node.Simulate(ctx, transfer(k.token(), k.told.Program, k.told.Decimals, from, to), from.Slot)
	switch {
	case errors.Is(err, solana.ErrNotSimulated):
		k.unsold = trust.RPCCapability
		return false
	case err != nil:
		k.unsold, k.saleFailed = trust.CallFailed, true
		return false
	}
	m := move{from: from, to: to, at: told.Slot}
	if told.Err != "" {
		if m.refused = refusal(told.Err); m.refused == "" {
			return true // the holder can't pay the fee, is no wallet, or has sold meanwhile
		}
	}
	k.moves = append(k.moves, m)
	return true
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

// refusals are the errors by which the token programs say that a token's rules forbid a transfer. https://docs.rs/spl-token-2022-interface has their numbers.
var refusals = map[int64]string{17: "the account is frozen", 37: "nobody may transfer the token", 67: "all transfers are paused"}

// refusal reads why a transaction of one instruction would fail; it is empty where that isn't the token's rules.
func refusal(failed string) string {
	var told struct{ InstructionError []json.RawMessage }
	if json.Unmarshal([]byte(failed), &told) != nil || len(told.InstructionError) != 2 {
		return ""
	}
	var custom struct{ Custom int64 }
	if json.Unmarshal(told.InstructionError[1], &custom) != nil {
		return ""
	}
	return refusals[custom.Custom]
}

// honeypot judges what trySales found.
func (k *look) honeypot(rule trust.Rule) trust.Check {
	switch {
	case k.failed:
		return rule.Unknown(trust.CallFailed)
	case len(k.moves) == 0:
		return rule.Unknown(k.unsold)
	}
	refused := 0
	var evidence []trust.Evidence
	for _, m := range k.moves {
		what := "its tokens"
		if m.to != m.from {
			what = fmt.Sprintf("its tokens to the account of %s", m.to.Owner)
		}
		detail := fmt.Sprintf("%s can move %s", m.from.Owner, what)
		if m.refused != "" {
			refused++
			detail = fmt.Sprintf("%s can't move %s: %s", m.from.Owner, what, m.refused)
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

// transfer is a transaction with one instruction, by which a holder moves one unit to an account, be it the same one (TransferChecked of SPL Token and Token-2022), in
// Solana's first format: one signature, which isn't made; then the keys, each once, first those that are written, then those that are read; a hash, which the node
// replaces; and the instruction. https://solana.com/docs/core/transactions has it.
func transfer(token, program market.Address, decimals byte, from, to solana.Holding) []byte {
	const (
		signatures, signers, signersRead, othersRead = 1, 1, 0, 2
		transferChecked                              = 12
	)
	keys := []market.Address{from.Owner, from.Account}
	if to.Account != from.Account {
		keys = append(keys, to.Account)
	}
	toAt := byte(len(keys) - 1)
	keys = append(keys, token, program)
	out := append([]byte{signatures}, make([]byte, 64)...)
	out = append(out, signers, signersRead, othersRead, byte(len(keys)))
	for _, key := range keys {
		out = append(out, key.Bytes()[1:]...)
	}
	out = append(out, make([]byte, 32)...)
	data := append(binary.LittleEndian.AppendUint64([]byte{transferChecked}, 1), decimals)
	accounts := []byte{1, toAt + 1, toAt, 0} // where it is, the token, where it goes, whose it is
	out = append(out, 1, toAt+2, byte(len(accounts)))
	out = append(out, accounts...)
	return append(append(out, byte(len(data))), data...)
}
