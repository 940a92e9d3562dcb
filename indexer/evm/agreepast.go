package evm

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/budget"
	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The past is committed many blocks at once, and can't be taken back. So some of its ranges are read from two endpoints first: one range in ten, the
// first range of each endpoint, and every range of an endpoint that was outvoted. Where two endpoints differ a third one decides, or the blocks'
// receipts, as at the head. A range without logs is believed by the rules of empty.go.

const (
	// probation is how many of the first ranges of an endpoint are held against another: one that always forges is found out before the
	// first commit.
	probation = 4
	// pastTime is how long another endpoint may take to give a range. One that takes longer is left alone for a while (TookTooLong).
	pastTime = 20 * time.Second
	// toldBlocks is the most blocks of one range that are told as doubtful.
	toldBlocks = 64
)

// isSampled reports whether another endpoint is asked for a range that one has given.
func (s *Source) isSampled(a *answer[chain.Batch]) bool {
	drawn := chain.Drawn(a.found.Last.Hash) && (s.givesUp == nil || !s.givesUp(budget.Agreement))
	return len(s.pool.List) > 1 && (drawn || a.by.IsDistrusted() || a.by.useProbation())
}

// useProbation counts one more range that the endpoint gave on probation; it is false where the probation is over.
func (e *endpoint) useProbation() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.probation == probation {
		return false
	}
	e.probation++
	return true
}

// agreePast asks other endpoints for a range that one endpoint has given, until two give the same range, which it returns. Where they differ about a
// block, Agree decides who is wrong. Where nothing decides, it returns the range of the endpoint that was outvoted least, and reports the blocks that
// they differ about. Where no other endpoint answers, the range stays as it is, on the word of one alone.
func (s *Source) agreePast(ctx context.Context, earliest int64, from uint64, first answer[chain.Batch]) (a answer[chain.Batch], alone bool, err error) {
	votes := []answer[chain.Batch]{first}
	for _, e := range s.pool.Others(first.by) {
		if e.IsSlow() {
			continue
		}
		vote, err := s.pastOf(ctx, e, earliest, from, first.upTo)
		if ctx.Err() != nil {
			return first, false, ctx.Err()
		}
		if err != nil {
			continue
		}
		if votes = append(votes, vote); decided(s, votes, vote, sameBlocks) {
			return vote, false, nil
		}
	}
	if len(votes) == 1 {
		return first, true, nil
	}
	a, err = s.settlePast(ctx, votes)
	return a, false, err
}

// pastOf asks one endpoint for a whole range, in as many pieces as it needs.
func (s *Source) pastOf(ctx context.Context, e *endpoint, earliest int64, from, to uint64) (out answer[chain.Batch], err error) {
	timed, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	out.by = e
	for from <= to && err == nil {
		reading := s.pastReading(max(earliest, out.found.Last.Time), from)
		err = s.pool.On(timed, e, func(ctx context.Context, e *endpoint) error {
			piece, err := reading.ask(ctx, e, asking{to: to})
			if err == nil {
				out.found.Blocks, out.found.Last = append(out.found.Blocks, piece.found.Blocks...), piece.found.Last
				out.logs, out.upTo = out.logs+piece.logs, piece.upTo
				from = piece.upTo + 1
			}
			return err
		})
	}
	if ctx.Err() == nil && timed.Err() != nil {
		e.TookTooLong(pastTime)
	}
	return out, err
}

// settlePast has the blocks that endpoints differ about decided, one after the other: whoever had a wrong one is left out.
func (s *Source) settlePast(ctx context.Context, votes []answer[chain.Batch]) (answer[chain.Batch], error) {
	for len(votes) > 1 {
		differ := differences(votes)
		if len(differ) == 0 {
			break
		}
		h, err := s.Header(ctx, differ[0])
		var is chain.BlockRead
		if err == nil {
			_, err = s.Agree(ctx, h, &is)
		}
		if ctx.Err() != nil {
			return votes[0], ctx.Err()
		}
		var right []answer[chain.Batch]
		if err == nil && is.Agreed {
			right = s.outvoteWrong(votes, &is.Block)
		}
		if len(right) == 0 {
			for _, number := range differ[:min(len(differ), toldBlocks)] {
				s.tellBlock(number, chain.EndpointsDiffer)
			}
			break
		}
		votes = right
	}
	return leastOutvoted(votes), nil
}

// outvoteWrong gives the votes that have a block as it is, and notes whose have another.
func (s *Source) outvoteWrong(votes []answer[chain.Batch], is *market.Block) (right []answer[chain.Batch]) {
	for i := range votes {
		has := blockOf(&votes[i].found, is.Number)
		if sameBlock(&has, is) {
			right = append(right, votes[i])
		} else {
			s.outvoted(votes[i].by)
		}
	}
	return right
}

// blockOf is a block of a batch; one without events where it has none of that number.
func blockOf(b *chain.Batch, number uint64) market.Block {
	if i, ok := slices.BinarySearchFunc(b.Blocks, number, func(b market.Block, n uint64) int { return cmp.Compare(b.Number, n) }); ok {
		return b.Blocks[i]
	}
	return market.Block{Header: market.Header{Number: number}}
}

// sameBlock reports whether two endpoints have the same events of a block, at the same time. Blocks without events are alike.
func sameBlock(a, b *market.Block) bool {
	if len(a.Txs) == 0 && len(b.Txs) == 0 {
		return true
	}
	return a.Hash == b.Hash && a.Time == b.Time && reflect.DeepEqual(a.Txs, b.Txs)
}

func sameBlocks(a, b *answer[chain.Batch]) bool {
	return a.found.Last.Hash == b.found.Last.Hash && len(differing(&a.found, &b.found)) == 0
}

// differences are the numbers of the blocks that the first vote has otherwise than another one.
func differences(votes []answer[chain.Batch]) []uint64 {
	var out []uint64
	for i := range votes[1:] {
		out = append(out, differing(&votes[0].found, &votes[i+1].found)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// differing are the numbers of the blocks that two batches have otherwise.
func differing(a, b *chain.Batch) (numbers []uint64) {
	for i, k := 0, 0; i < len(a.Blocks) || k < len(b.Blocks); {
		switch {
		case k == len(b.Blocks) || i < len(a.Blocks) && a.Blocks[i].Number < b.Blocks[k].Number:
			numbers = append(numbers, a.Blocks[i].Number)
			i++
		case i == len(a.Blocks) || b.Blocks[k].Number < a.Blocks[i].Number:
			numbers = append(numbers, b.Blocks[k].Number)
			k++
		default:
			if !sameBlock(&a.Blocks[i], &b.Blocks[k]) {
				numbers = append(numbers, a.Blocks[i].Number)
			}
			i, k = i+1, k+1
		}
	}
	return numbers
}

// RereadPast reads a batch again where it rests on the word of an endpoint that has been outvoted since. That one is asked last, and not
// believed alone while another answers. parent is the block below the batch.
func (s *Source) RereadPast(ctx context.Context, parent market.Header, b *chain.Batch) error {
	known, ok := b.Known.(*batchSource)
	if !ok || !slices.ContainsFunc(known.words, func(w loneWord) bool { return w.by.Outvotes() > w.outvoted }) {
		return nil
	}
	again, err := s.read(ctx, parent.Time, known.from, b.Last.Number)
	if errors.Is(err, errEarly) {
		again, err = s.read(ctx, s.earliestTime(ctx, parent), known.from, b.Last.Number)
	}
	if err == nil {
		*b = again
	}
	return err
}
