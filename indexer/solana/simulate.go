package solana

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"

	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/pda"
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
	const methodNotFound = -32601
	var told struct {
		Context wireContext `json:"context"`
		Value   *struct {
			Err json.RawMessage `json:"err"`
		} `json:"value"`
	}
	params := []any{base64.StdEncoding.EncodeToString(transaction), map[string]any{
		"encoding": "base64", "commitment": commitment, "sigVerify": false, "replaceRecentBlockhash": true, "minContextSlot": noEarlier,
	}}
	none, failed := false, false // an endpoint that doesn't know the method, and one with another error
	err := as.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
		told.Value = nil
		ask := &rpc.Request{Method: "simulateTransaction", Params: params, Take: take(&told), Optional: true}
		err := e.Do(ctx, ask)
		if err == nil {
			err = ask.Err
		}
		if err == nil && (told.Value == nil || told.Value.Err == nil) {
			err = rpc.ErrGarbage
		}
		refused, isRefusal := errors.AsType[*rpc.NodeError](err)
		isNone := isRefusal && refused.Code == methodNotFound
		none, failed = none || isNone, failed || err != nil && !isNone
		return err
	})
	if err != nil && none && !failed {
		err = ErrNotSimulated
	}
	if err != nil {
		return Simulated{}, err
	}
	return Simulated{Slot: told.Context.Slot, Err: strings.TrimPrefix(string(told.Value.Err), "null")}, nil
}

// Holding is what an owner has of a token in the account where it usually is (the associated token account), after the block of a slot. Amount is 0 where that account
// isn't there.
type Holding struct {
	Owner, Account market.Address
	Amount, Slot   uint64
}

// Holdings asks for the accounts where some owners usually have a token of a token program.
func (as Accounts) Holdings(ctx context.Context, token, program market.Address, owners []market.Address) ([]Holding, error) {
	keys := make([]market.Address, len(owners))
	for i, owner := range owners {
		keys[i] = pda.Of(accountsProgram, keyOf(owner), keyOf(program), keyOf(token))
	}
	var told []account
	err := as.s.pool.Try(ctx, func(ctx context.Context, e *endpoint) (err error) {
		told, err = e.accountsOn(ctx, keys, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Holding, len(owners))
	for i, a := range told {
		out[i] = Holding{Owner: owners[i], Account: keys[i], Slot: a.slot}
		if a.owner == program && len(a.data) >= tokenAccountLen && bytes.Equal(a.data[:tokenAccountOwnerAt], keyOf(token)) &&
			bytes.Equal(a.data[tokenAccountOwnerAt:tokenAccountOwnerAt+32], keyOf(owners[i])) {
			out[i].Amount = binary.LittleEndian.Uint64(a.data[tokenAccountSumEnd-8:])
		}
	}
	return out, nil
}
