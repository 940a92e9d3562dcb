package evm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// errRepeatedIndex means that two logs of a block have one index. Erigon answers so for blocks of Polygon and Gnosis,
// because of transactions that only those chains have (its issues 15219, 16339 and 17249).
var errRepeatedIndex = errors.New("two logs of a block have one index")

// orderedOn runs read on one endpoint after the other until one answers. Where none gives each log an index of its own, or
// none gives only logs that the block's header allows, what the first of them says is read again, leniently: its logs get
// new indices where they have to, and are taken whatever the header says.
func (s *Source) orderedOn(ctx context.Context, list []*endpoint, read func(ctx context.Context, e *endpoint, lenient bool) error,
) error {
	var fallback *endpoint
	denied := map[*endpoint][32]byte{}
	err := s.pool.TryOf(ctx, list, func(ctx context.Context, e *endpoint) error {
		err := read(ctx, e, false)
		d, isDenied := asDenied(err)
		if isDenied {
			denied[e] = d.digest
		}
		if fallback == nil && (isDenied || errors.Is(err, errRepeatedIndex)) {
			fallback = e
		}
		return err
	})
	if ctx.Err() != nil {
		return err
	}
	s.judgeDenied(denied, err == nil)
	if err == nil || fallback == nil {
		return err
	}
	return s.pool.On(ctx, fallback, func(ctx context.Context, e *endpoint) error { return read(ctx, e, true) })
}

// ordered gives a block's logs in the order of their indices, which differ.
func (s *Source) ordered(block uint64, logs []decode.Log, renumber bool) ([]decode.Log, error) {
	byIndex := func(x, y decode.Log) int { return cmp.Compare(x.Index, y.Index) }
	if renumber && repeatsIndex(logs) {
		s.tellBlock(block, chain.RepeatedLogIndex)
		return renumbered(logs), nil
	}
	if !slices.IsSortedFunc(logs, byIndex) {
		slices.SortFunc(logs, byIndex)
	}
	for i := 1; i < len(logs); i++ {
		if logs[i].Index == logs[i-1].Index {
			return nil, fmt.Errorf("%w: block %d, log %d", errRepeatedIndex, block, logs[i].Index)
		}
	}
	return logs, nil
}

func repeatsIndex(logs []decode.Log) bool {
	seen := make(map[uint32]bool, len(logs))
	for i := range logs {
		if seen[logs[i].Index] {
			return true
		}
		seen[logs[i].Index] = true
	}
	return false
}

// renumbered orders a block's logs by transaction and, within one, as the node had them, and counts on where an index
// isn't higher than the one before: so the others keep theirs. A log that a node gives twice is one log.
func renumbered(logs []decode.Log) []decode.Log {
	slices.SortStableFunc(logs, func(x, y decode.Log) int { return cmp.Compare(x.TxIndex, y.TxIndex) })
	type place struct {
		tx    market.Hash
		index uint32
	}
	known := make(map[place]int, len(logs))
	out := logs[:0]
	for _, l := range logs {
		at := place{l.TxHash, l.Index}
		if i, ok := known[at]; ok && sameLog(&out[i], &l) {
			continue
		}
		known[at] = len(out)
		out = append(out, l)
	}
	next := uint64(0)
	for i := range out {
		next = max(next, uint64(out[i].Index)) + 1
		if next > math.MaxUint32 {
			for j := range out {
				out[j].Index = uint32(j)
			}
			break
		}
		out[i].Index = uint32(next - 1)
	}
	return out
}

func sameLog(a, b *decode.Log) bool {
	return a.Address == b.Address && a.NumTopics == b.NumTopics && a.Topics == b.Topics && bytes.Equal(a.Data, b.Data)
}
