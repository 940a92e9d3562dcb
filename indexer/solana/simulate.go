package solana

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/indexer/solana/replay"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ErrNotSimulated says that no endpoint simulates transactions.
var ErrNotSimulated = errors.New("no endpoint simulates transactions")

// Simulated is what a transaction would come to on the newest state.
type Simulated struct {
	Slot uint64
	// Err is why it would fail, as the node says it in JSON; empty where it would not. Logs are the lines of its log.
	Err  string
	Logs []string
	// Before and After are what the watched accounts have, in their order. Before is as of a slot of its own, BeforeSlot. After is empty where the transaction would fail.
	BeforeSlot    uint64
	Before, After []Balance

	by *endpoint
}

// Balance is what an account has: lamports, and tokens where it is a token account. An account that isn't there has nothing.
type Balance struct{ Lamports, Tokens uint64 }

// Simulate has a node carry out a transaction without its signatures, on a state that is no earlier than a slot's, and write nothing. The same node tells what watched
// accounts have before and after.
func (as Accounts) Simulate(ctx context.Context, transaction []byte, noEarlier uint64, watched ...market.Address) (Simulated, error) {
	out, knows, err := as.simulate(ctx, as.s.pool.Candidates(), transaction, noEarlier, watched)
	if err == nil && !knows {
		err = ErrNotSimulated
	}
	return out, err
}

// SimulateElsewhere is Simulate by another endpoint than the one that told something before. knows is false where no other endpoint simulates transactions.
func (as Accounts) SimulateElsewhere(ctx context.Context, told *Simulated, transaction []byte, noEarlier uint64, watched ...market.Address) (out Simulated, knows bool, err error) {
	return as.simulate(ctx, as.s.pool.Others(told.by), transaction, noEarlier, watched)
}

// simulate asks one endpoint of a list after the other, until one tells. An error is that of the last one that failed. knows is false where each endpoint says that it lacks the
// method.
func (as Accounts) simulate(ctx context.Context, list []*endpoint, transaction []byte, noEarlier uint64, watched []market.Address) (out Simulated, knows bool, why error) {
	for _, e := range list {
		err := as.s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			out, knows, err = e.simulate(ctx, transaction, noEarlier, watched)
			return err
		})
		if err == nil && knows {
			out.by = e
			return out, true, nil
		}
		why = cmp.Or(err, why)
	}
	return Simulated{}, why != nil, why
}

// simulate is Simulate by one endpoint; knows is false where it doesn't know the method, which is no fault of the endpoint.
func (e *endpoint) simulate(ctx context.Context, transaction []byte, noEarlier uint64, watched []market.Address) (out Simulated, knows bool, err error) {
	const methodNotFound, invalidParams = -32601, -32602
	options := map[string]any{"encoding": "base64", "commitment": commitment, "sigVerify": false, "replaceRecentBlockhash": true}
	if len(watched) > 0 {
		before, err := e.accountsOn(ctx, watched, noEarlier)
		if err != nil {
			return out, true, err
		}
		names := make([]string, len(watched))
		for i := range before {
			names[i], noEarlier, out.Before = watched[i].String(), before[i].slot, append(out.Before, before[i].balance())
		}
		out.BeforeSlot, options["accounts"] = noEarlier, map[string]any{"encoding": "base64", "addresses": names}
	}
	options["minContextSlot"] = noEarlier
	var told struct {
		Context wireContext `json:"context"`
		Value   *struct {
			Err      json.RawMessage `json:"err"`
			Logs     []string        `json:"logs"`
			Accounts []*wireAccount  `json:"accounts"`
		} `json:"value"`
	}
	ask := &rpc.Request{Method: "simulateTransaction", Params: []any{base64.StdEncoding.EncodeToString(transaction), options}, Take: take(&told), Optional: true}
	err = cmp.Or(e.Do(ctx, ask), ask.Err)
	refused, isRefusal := errors.AsType[*rpc.NodeError](err)
	switch {
	case isRefusal && refused.Code == methodNotFound:
		return out, false, nil
	case isRefusal && refused.Code == invalidParams: // the transaction is none that it takes
		out.Err = `"InvalidParams"`
		return out, true, nil
	case err == nil && (told.Value == nil || told.Value.Err == nil):
		err = rpc.ErrGarbage
	}
	if err != nil {
		return out, true, err
	}
	out.Slot, out.Err, out.Logs = told.Context.Slot, strings.TrimPrefix(string(told.Value.Err), "null"), told.Value.Logs
	if out.Err != "" {
		return out, true, nil
	}
	if len(watched) > 0 && len(told.Value.Accounts) != len(watched) {
		return out, true, fmt.Errorf("%w: watched %d accounts, got %d", rpc.ErrGarbage, len(watched), len(told.Value.Accounts))
	}
	for i := range watched {
		a, err := told.Value.Accounts[i].account()
		if err != nil {
			return out, true, err
		}
		out.After = append(out.After, a.balance())
	}
	return out, true, nil
}

// balance is what an account has.
func (a *account) balance() Balance { return Balance{a.lamports, layout.TokensIn(&a.Account)} }

// Transaction gives what nodes tell of a transaction, each as an answer to getTransaction in the encoding "json": up to so many of them, so that one can contradict
// another. There is none where no node that answers has it.
func (as Accounts) Transaction(ctx context.Context, tx market.TxID, most int) (told []json.RawMessage, why error) {
	params := []any{tx.String(), map[string]any{"encoding": "json", "commitment": commitment, "maxSupportedTransactionVersion": newestVersion}}
	answered := false
	for _, e := range as.s.pool.Candidates() {
		var raw json.RawMessage
		err := as.s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
			return e.Do(ctx, &rpc.Request{Method: "getTransaction", Params: params, Take: take(&raw)})
		})
		switch {
		case err != nil:
			why = err
		case replay.IsTold(raw):
			told = append(told, raw)
		}
		if answered = answered || err == nil; len(told) == most {
			break
		}
	}
	if answered {
		why = ctx.Err()
	}
	return told, why
}

// Holding is what an owner has of a token in the usual (associated token) account, after the block of a slot; 0 where that account isn't there.
type Holding struct {
	Owner, Account market.Address
	Amount, Slot   uint64
}

// Holdings asks for the accounts where some owners usually have a token of a token program.
func (as Accounts) Holdings(ctx context.Context, token, program market.Address, owners []market.Address) ([]Holding, error) {
	keys := make([]market.Address, len(owners))
	for i, owner := range owners {
		keys[i] = layout.UsualAccountOf(owner, program, token)
	}
	told, err := as.now(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make([]Holding, len(owners))
	for i := range told {
		out[i] = Holding{Owner: owners[i], Account: keys[i], Slot: told[i].slot, Amount: layout.HeldBy(owners[i], program, token, &told[i].Account)}
	}
	return out, nil
}
