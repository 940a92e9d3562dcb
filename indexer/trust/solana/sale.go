package solana

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/solana"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/replay"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/trust"
)

const (
	// lookedAt is how many of the largest holders are looked at, the creator and markets left out.
	lookedAt = 10
	// tried is how many holders are enough that something is known of. No more are tried then.
	tried = 3
)

// hookProgramAt is where the extension TransferHook has the program that decides about transfers: behind who may set it.
const hookProgramAt = 32

// trial is what a simulation told of a holder's sale, or of a transfer of the holder's tokens.
type trial struct {
	holder solana.Holding
	at     uint64
	detail string
	// isSale says that it is a sale at the market.
	isSale bool
	// isRefused says that the token's rules forbid it, isLost that the market would pay next to nothing.
	isRefused, isLost bool
}

// trySales has nodes try whether holders can let go of the token: by the last sale at the market, made again by each of them, and where that tells nothing, by a transfer.
// A sale moves their tokens into the market's account, and the token's own rules, such as frozen accounts and a pause, are checked there.
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
	s := k.lastSale(ctx)
	k.unsold = trust.NotIndexed
	hasHook := !k.hook().IsNone()
	if hasHook {
		k.unsold = trust.HookNotSimulated
		if k.saleFailed {
			k.unsold = trust.CallFailed
		}
		if s == nil {
			return
		}
	}
	holdings, err := k.l.node.Holdings(ctx, k.token(), k.told.Program, owners)
	if err != nil {
		k.unsold, k.saleFailed = trust.CallFailed, true
		return
	}
	var into *solana.Holding // where a sale would move tokens to; nil where that isn't the market's usual account
	for i, h := range holdings {
		switch {
		case h.Amount == 0 || len(k.trials) == tried:
		case i == 0 && h.Owner == k.marketAccount():
			into = &holdings[0]
		case k.trySale(ctx, s, h):
		case hasHook: // which accounts its program asks for in a transfer isn't known
		case !k.tryMove(ctx, h, into):
			return
		}
	}
}

// hook is the program that decides about the token's transfers; none where there is none.
func (k *look) hook() market.Address {
	return keyAt(k.told.Extensions[layout.TransferHook], hookProgramAt)
}

// tryMove has a node try a holder's transfer: into the market's account, or else to the same account, where the token's rules are checked as well. ok is false where no node does.
func (k *look) tryMove(ctx context.Context, from solana.Holding, into *solana.Holding) (ok bool) {
	to, what := from, "its tokens"
	if into != nil {
		to, what = *into, fmt.Sprintf("its tokens to the account of %s", into.Owner)
	}
	moved, fits := transfer(k.token(), k.told.Program, k.told.Decimals, from, to)
	if !fits {
		return true
	}
	told, err := k.l.node.Simulate(ctx, moved, from.Slot)
	if err != nil {
		k.notSimulated(err)
		return false
	}
	t := trial{holder: from, at: told.Slot, detail: fmt.Sprintf("%s can move %s", from.Owner, what)}
	if told.Err != "" {
		why := k.confirmed(ctx, &told, moved, from.Slot, func(told *solana.Simulated) string {
			failure, _ := replay.FailureOf(told.Err, nil) // it has one instruction, of the token's program
			return refusals[failure.Code]
		})
		if why == "" {
			return true // no rule of the token ended it (the holder can't pay the fee, is no wallet, or has sold meanwhile), or no other node found one
		}
		t.isRefused, t.detail = true, fmt.Sprintf("%s can't move %s: %s", from.Owner, what, why)
	}
	k.trials = append(k.trials, t)
	return true
}

// confirmed gives the token's rule that forbids what a node simulated, as refusal finds it. Where another node simulates and finds none, or doesn't answer, nothing is known of the holder.
func (k *look) confirmed(ctx context.Context, told *solana.Simulated, transaction []byte, noEarlier uint64, refusal func(*solana.Simulated) string) (why string) {
	if why = refusal(told); why == "" {
		return ""
	}
	other, knows, err := k.l.node.SimulateElsewhere(ctx, told, transaction, noEarlier)
	switch {
	case err != nil:
		k.unsold, k.saleFailed = trust.CallFailed, true
		return ""
	case knows && refusal(&other) == "":
		k.unsold = trust.CallFailed
		return ""
	}
	return why
}

// notSimulated notes why no node simulated something.
func (k *look) notSimulated(err error) {
	if errors.Is(err, solana.ErrNotSimulated) {
		k.unsold = trust.RPCCapability
		return
	}
	k.unsold, k.saleFailed = trust.CallFailed, true
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

// honeypot judges what trySales found.
func (k *look) honeypot(rule trust.Rule) trust.Check {
	switch {
	case k.failed:
		return rule.Unknown(trust.CallFailed)
	case len(k.trials) == 0:
		return rule.Unknown(k.unsold)
	}
	bad := func(t trial) bool { return t.isRefused || t.isLost }
	badSale := func(t trial) bool { return t.isSale && bad(t) }
	count := k.trials
	if slices.ContainsFunc(count, badSale) { // a transfer that goes through says nothing of the market then
		count = slices.DeleteFunc(slices.Clone(count), func(t trial) bool { return !t.isSale && !bad(t) })
	}
	refused, lost := 0, 0
	for _, t := range count {
		if t.isRefused {
			refused++
		}
		if t.isLost {
			lost++
		}
	}
	var evidence []trust.Evidence
	for _, t := range k.trials {
		evidence = append(evidence, trust.Evidence{Kind: "simulation", Ref: t.holder.Account.String(), Block: t.at, Detail: t.detail})
	}
	c := rule.Pass(false)
	switch {
	case refused > 1 && refused+lost == len(count):
		c = rule.Judge(trust.Fail, trust.Critical, true)
	case refused+lost > 0: // one holder's account may be frozen for what that holder did, and a price is of another moment than a sale
		c = rule.Judge(trust.Warn, trust.High, false)
	case k.isHookUnread: // the program that decides about transfers let some sell, and ended others' sales for a reason that it doesn't say
		return with(rule.Unknown(trust.HookNotSimulated), evidence...)
	}
	return with(c, evidence...)
}

// transfer is a transaction with one instruction, by which a holder moves one unit to an account, be it the same one (TransferChecked of SPL Token and Token-2022).
func transfer(token, program market.Address, decimals byte, from, to solana.Holding) (transaction []byte, ok bool) {
	const transferChecked = 12
	return replay.Transaction(from.Owner, replay.Instruction{
		Program: program, Data: append(binary.LittleEndian.AppendUint64([]byte{transferChecked}, 1), decimals),
		Accounts: []replay.Meta{{Key: from.Account, Writable: true}, {Key: token}, {Key: to.Account, Writable: true}, {Key: from.Owner, Writable: true}},
	})
}
