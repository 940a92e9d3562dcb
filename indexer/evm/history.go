package evm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// History is the part of a Source that finds where in the past something happened to a token, a wallet or a pool.
type History struct{ s *Source }

// History gives the part that looks into the past, by the source's endpoints.
func (s *Source) History() History { return History{s} }

// TellsHolders reports that nodes tell transfers, and not who has a token.
func (History) TellsHolders() bool { return false }

// HoldersOf tells nothing.
func (History) HoldersOf(context.Context, market.Address, uint64, int64) iter.Seq2[chain.Holdings, error] {
	return func(func(chain.Holdings, error) bool) {}
}

var transferTopics = [][32]byte{decode.TopicTransfer, decode.TopicDeposit, decode.TopicWithdrawal}

// TransfersOf reads one token's transfers (and, of the wrapped native coin, its deposits and withdrawals) in a range,
// for a holder backfill. It gives the blocks with any, which have a number and transactions alone, and the last block of the range that it
// got to: one before the end where a node refused the range as too wide. The rules of empty.go say when an empty answer is believed.
func (h History) TransfersOf(ctx context.Context, token market.Address, from, to uint64) (blocks []market.Block, upTo uint64, err error) {
	a, err := readLogs(ctx, h.s, to, &logReading[[]market.Block]{
		prove: func(ctx context.Context, empty answer[[]market.Block]) bool {
			return h.s.proveEmpty(ctx, from, empty.upTo, market.Hash{}, func(header *chain.Header) bool {
				return block.ProofOf(header).MayHoldOf(token, transferTopics)
			})
		},
		ask: func(ctx context.Context, e *endpoint, a asking) (answer[[]market.Block], error) {
			return h.transfersOn(ctx, e, token, from, a)
		},
	})
	return a.found, a.upTo, err
}

func (h History) transfersOn(ctx context.Context, e *endpoint, token market.Address, from uint64, a asking,
) (out answer[[]market.Block], err error) {
	for width := a.to - from + 1; ; {
		out.upTo = from + width - 1
		logs, got, err := e.Logs(ctx, &node.LogQuestion{
			Where:  map[string]any{"fromBlock": rpc.HexQuantity(from), "toBlock": rpc.HexQuantity(out.upTo), "address": token.String()},
			Topics: transferTopics, Single: width == 1,
		})
		var narrow *node.RangeError
		switch err = node.AsRangeError(err); {
		case errors.As(err, &narrow) && width > 1:
			if width /= 2; narrow.Fits > 0 && narrow.Fits < width {
				width = narrow.Fits
			}
			continue
		case err != nil:
			return out, err
		}
		defer got.Done()
		out.logs = len(logs)
		out.found, err = h.transfers(token, logs, from, out.upTo, a.lenient)
		return out, err
	}
}

func (h History) transfers(token market.Address, logs []decode.Log, from, to uint64, renumber bool) ([]market.Block, error) {
	var out []market.Block
	for i := 0; i < len(logs); {
		j := i
		for ; j < len(logs) && logs[j].Block == logs[i].Block; j++ {
			if decode.Address(logs[j].Address) != token || logs[j].Block < from || logs[j].Block > to {
				return nil, fmt.Errorf("%w: a log that wasn't asked for", rpc.ErrGarbage)
			}
		}
		if i > 0 && logs[i].Block < logs[i-1].Block {
			return nil, fmt.Errorf("%w: logs out of order", rpc.ErrGarbage)
		}
		b, err := h.s.decode(market.Header{Number: logs[i].Block}, logs[i:j], renumber)
		if err != nil {
			return nil, err
		}
		if len(b.Txs) > 0 {
			out = append(out, b)
		}
		i = j
	}
	return out, nil
}

// CreatedAt finds the first block at which a contract has code, by bisection in [0, last]. It is 0 when the nodes
// don't keep old state: then all of the past has to be read.
func (h History) CreatedAt(ctx context.Context, contract market.Address, last uint64) (uint64, error) {
	low, high := uint64(0), last
	for range bits.Len64(last) + 1 {
		if low >= high {
			break
		}
		mid := low + (high-low)/2
		exists, known, err := h.s.Contracts().Exists(ctx, contract, mid)
		if err != nil {
			return 0, err
		}
		if !known {
			return 0, nil
		}
		if exists {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, nil
}
