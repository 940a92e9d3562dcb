package contracts

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

const (
	// receiptRounds is how often endpoints are asked for receipts of a new block: some have its logs before they have its receipts.
	receiptRounds = 3
	receiptPause  = 100 * time.Millisecond
)

// Gas tells what transactions cost those who sent them, in the order of the questions. One endpoint's word is enough. What no endpoint tells isn't known. With an
// error comes what was told all the same.
func (cs Contracts) Gas(ctx context.Context, questions []chain.GasQuestion) ([]chain.Gas, error) {
	out := make([]chain.Gas, len(questions))
	for first := 0; first < len(questions); first += rpc.CallsAtOnce {
		last := min(first+rpc.CallsAtOnce, len(questions))
		if err := cs.gasOf(ctx, questions[first:last], out[first:last]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// gasOf asks in one batch, and other endpoints for what the one before didn't tell.
func (cs Contracts) gasOf(ctx context.Context, questions []chain.GasQuestion, out []chain.Gas) error {
	isNew := cs.calls.IsRecent(questions[len(questions)-1].At.Number)
	for round := range receiptRounds {
		var answered *node.Endpoint
		err := cs.pool.Try(ctx, func(ctx context.Context, e *node.Endpoint) error {
			answered = e
			return receipts(ctx, e, questions, out)
		})
		if err != nil {
			return err
		}
		for _, e := range cs.pool.Others(answered) {
			if !areOpen(out) {
				break
			}
			if err := cs.pool.On(ctx, e, func(ctx context.Context, e *node.Endpoint) error { return receipts(ctx, e, questions, out) }); err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if !isNew || !areOpen(out) || round+1 == receiptRounds {
			break
		}
		if !wait.For(ctx, receiptPause) {
			return ctx.Err()
		}
	}
	return nil
}

func areOpen(list []chain.Gas) bool {
	for i := range list {
		if !list[i].Known {
			return true
		}
	}
	return false
}

// receipts asks for the receipts of those transactions whose gas isn't known.
func receipts(ctx context.Context, e *node.Endpoint, questions []chain.GasQuestion, out []chain.Gas) error {
	var reqs []*rpc.Request
	for i, q := range questions {
		if out[i].Known {
			continue
		}
		reqs = append(reqs, &rpc.Request{
			Method: "eth_getTransactionReceipt", Params: []any{q.Tx.String()}, Optional: true,
			Take: func(raw json.RawMessage) error { out[i] = gasOfReceipt(raw, &q); return nil },
		})
	}
	if len(reqs) == 0 {
		return nil
	}
	if err := e.Do(ctx, reqs...); err != nil {
		return err
	}
	for _, r := range reqs {
		if node.RateRefused(r.Err) { // it may tell later
			return r.Err
		}
	}
	return nil
}

// gasOfReceipt reads a receipt; of one that can't be read, or of another block or transaction, nothing is known.
func gasOfReceipt(raw json.RawMessage, q *chain.GasQuestion) (gas chain.Gas) {
	var r struct {
		BlockHash, TransactionHash, From, GasUsed, EffectiveGasPrice string
		// L1Fee is what a rollup of the OP Stack takes besides, for its data. Arbitrum has it in GasUsed.
		L1Fee *string
	}
	if json.Unmarshal(raw, &r) != nil || !strings.EqualFold(r.BlockHash, q.At.Hash.String()) || !strings.EqualFold(r.TransactionHash, q.Tx.String()) {
		return gas
	}
	sender, err := market.ParseEVMAddress(r.From)
	used, isUsed := hexAmount(r.GasUsed)
	price, isPrice := hexAmount(r.EffectiveGasPrice)
	var more market.Amount
	isMore := true
	if r.L1Fee != nil {
		more, isMore = hexAmount(*r.L1Fee)
	}
	if err != nil || !isUsed || !isPrice || !isMore {
		return gas
	}
	_, over := gas.Amount.MulOverflow(&used, &price)
	_, overAll := gas.Amount.AddOverflow(&gas.Amount, &more)
	if over || overAll {
		return chain.Gas{}
	}
	gas.Known, gas.Sender = true, sender
	return gas
}

// hexAmount reads "0x…".
func hexAmount(s string) (v market.Amount, ok bool) {
	err := v.SetFromHex(s)
	return v, err == nil
}
