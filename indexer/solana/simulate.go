package solana

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/layout"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ErrNotSimulated says that no endpoint simulates transactions.
var ErrNotSimulated = errors.New("no endpoint simulates transactions")

// Simulated is what a transaction would come to on the newest state.
type Simulated struct {
	Slot uint64
	// Err is why it would fail, as the node says it in JSON; empty where it would not.
	Err string
}

// Simulate has a node carry out a transaction without its signatures, on a state that is no earlier than a slot's, and write nothing.
func (as Accounts) Simulate(ctx context.Context, transaction []byte, noEarlier uint64) (Simulated, error) {
	var told struct {
		Context wireContext `json:"context"`
		Value   *struct {
			Err json.RawMessage `json:"err"`
		} `json:"value"`
	}
	const methodNotFound = -32601
	params := []any{base64.StdEncoding.EncodeToString(transaction), map[string]any{
		"encoding": "base64", "commitment": commitment, "sigVerify": false, "replaceRecentBlockhash": true, "minContextSlot": noEarlier,
	}}
	why := ErrNotSimulated
	for _, e := range as.s.pool.Candidates() {
		knows := true
		err := as.s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
			told.Value = nil
			ask := &rpc.Request{Method: "simulateTransaction", Params: params, Take: take(&told), Optional: true}
			err := cmp.Or(e.Do(ctx, ask), ask.Err)
			if refused, ok := errors.AsType[*rpc.NodeError](err); ok && refused.Code == methodNotFound {
				knows = false
				return nil // that is no fault of the endpoint
			}
			if err == nil && (told.Value == nil || told.Value.Err == nil) {
				err = rpc.ErrGarbage
			}
			return err
		})
		switch {
		case err != nil:
			why = err
		case knows:
			return Simulated{Slot: told.Context.Slot, Err: strings.TrimPrefix(string(told.Value.Err), "null")}, nil
		}
	}
	return Simulated{}, why
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
