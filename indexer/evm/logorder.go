package evm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// errRepeatedIndex means that two logs of a block have one index. Erigon answers so for blocks of Polygon and Gnosis,
// because of transactions that only those chains have (its issues 15219, 16339 and 17249).
var errRepeatedIndex = errors.New("two logs of a block have one index")

// orderedOn runs read on one endpoint after the other until one answers. Where none gives each log an index of its own,
// what the first of them with repeated ones says is read again, and its logs get new indices.
func (s *Source) orderedOn(ctx context.Context, list []*endpoint, read func(ctx context.Context, e *endpoint, renumber bool) error,
) error {
	var repeats *endpoint
	err := s.pool.tryOf(ctx, list, func(ctx context.Context, e *endpoint) error {
		err := read(ctx, e, false)
		if repeats == nil && errors.Is(err, errRepeatedIndex) {
			repeats = e
		}
		return err
	})
	if err == nil || repeats == nil || ctx.Err() != nil {
		return err
	}
	return s.pool.on(ctx, repeats, func(ctx context.Context, e *endpoint) error { return read(ctx, e, true) })
}

// ordered gives a block's logs in the order of their indices, which differ.
func (s *Source) ordered(block uint64, logs []Log, renumber bool) ([]Log, error) {
	byIndex := func(x, y Log) int { return cmp.Compare(x.Index, y.Index) }
	if renumber && repeatsIndex(logs) {
		s.tellRepeated(block)
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

func repeatsIndex(logs []Log) bool {
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
func renumbered(logs []Log) []Log {
	slices.SortStableFunc(logs, func(x, y Log) int { return cmp.Compare(x.TxIndex, y.TxIndex) })
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

func sameLog(a, b *Log) bool {
	return a.Address == b.Address && a.NumTopics == b.NumTopics && a.Topics == b.Topics && bytes.Equal(a.Data, b.Data)
}
