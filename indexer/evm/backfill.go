package evm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// batchSource says where a batch came from: chain.Batch's Known.
type batchSource struct {
	from  uint64
	words []loneWord // each is of an endpoint that gave logs of a part of the batch that no other endpoint was asked for
}

// loneWord is the word of one endpoint alone, with how often the endpoint had been outvoted when it gave the blocks.
type loneWord struct {
	by       *endpoint
	outvoted int
}

// workersPerEndpoint keeps a node busy while its answers are decoded.
const workersPerEndpoint = 2

// Backfill reads the blocks from first to last, which must be beyond the reach of reorgs, in order. Ranges are read in
// parallel over the endpoints, each as wide as its endpoint allows. parent is the block below the first as far as it is
// known. It ends with the first error that no endpoint is free of, or when the caller stops.
func (s *Source) Backfill(ctx context.Context, parent market.Header, first, last uint64) iter.Seq2[chain.Batch, error] {
	return func(yield func(chain.Batch, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		order, taken := s.readAhead(ctx, &plan{next: first, last: last}, &running)
		for out := range order {
			var r ranged
			select {
			case r = <-out:
			case <-ctx.Done():
				yield(chain.Batch{}, ctx.Err())
				return
			}
			taken()
			if r.err == nil && firstTime(&r.batch) < parent.Time {
				r.batch, r.err = s.read(ctx, s.earliestTime(ctx, parent), r.from, r.to)
			}
			parent = r.batch.Last.Header
			if !yield(r.batch, r.err) || r.err != nil {
				return
			}
		}
	}
}

// readAhead reads the ranges of a plan, each of them a channel in the order of the chain. So many are read at once as keep the endpoints busy;
// the next begins when taken is called for one that was received.
func (s *Source) readAhead(ctx context.Context, p *plan, running *sync.WaitGroup) (order <-chan chan ranged, taken func()) {
	workers := workersPerEndpoint * len(s.pool.List)
	pending, tickets := make(chan chan ranged, workers), make(chan struct{}, workers)
	running.Go(func() {
		defer close(pending)
		for {
			select {
			case tickets <- struct{}{}:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				return
			}
			from, to, ok := p.take(s.rangeLen())
			if !ok {
				return
			}
			out := make(chan ranged, 1)
			pending <- out
			running.Go(func() {
				b, err := s.read(ctx, 0, from, to)
				out <- ranged{b, err, from, to}
			})
		}
	})
	return pending, func() { <-tickets }
}

type ranged struct {
	batch    chain.Batch
	err      error
	from, to uint64
}

// firstTime is the time of the first block that a batch knows.
func firstTime(b *chain.Batch) int64 {
	if len(b.Blocks) > 0 {
		return b.Blocks[0].Time
	}
	return b.Last.Time
}

// plan deals out the ranges of a backfill.
type plan struct{ next, last uint64 }

func (p *plan) take(n uint64) (from, to uint64, ok bool) {
	if p.next > p.last {
		return 0, 0, false
	}
	from, to = p.next, min(p.next+n-1, p.last)
	p.next = to + 1
	return from, to, true
}

// rangeLen is how many blocks the endpoint with the widest range takes at the moment.
func (s *Source) rangeLen() uint64 {
	n := uint64(1)
	for _, e := range s.pool.List {
		e.mu.Lock()
		n = max(n, e.rangeLen)
		e.mu.Unlock()
	}
	return n
}

// read reads and decodes one range, in as many pieces as the endpoints that serve it need. Some of them two endpoints have to agree on.
func (s *Source) read(ctx context.Context, earliest int64, from, to uint64) (chain.Batch, error) {
	words := &batchSource{from: from}
	out := chain.Batch{Known: words}
	for from <= to {
		earliest = max(earliest, out.Last.Time)
		piece, err := s.readPiece(ctx, earliest, from, to)
		if err != nil {
			return out, err
		}
		alone := piece.logs > 0 && !piece.agreed
		if alone && s.isSampled(&piece) {
			if piece, alone, err = s.agreePast(ctx, earliest, from, piece); err != nil {
				return out, err
			}
		}
		if alone {
			words.words = append(words.words, loneWord{piece.by, piece.by.Outvotes()})
		}
		out.Blocks, out.Last = append(out.Blocks, piece.found.Blocks...), piece.found.Last
		from = piece.upTo + 1
	}
	return out, nil
}

// readPiece reads as much of a range as the endpoint that serves it takes at once. That it holds no logs is believed by
// the rules of empty.go.
func (s *Source) readPiece(ctx context.Context, earliest int64, from, to uint64) (answer[chain.Batch], error) {
	return readLogs(ctx, s, to, s.pastReading(earliest, from))
}

func (s *Source) pastReading(earliest int64, from uint64) *logReading[chain.Batch] {
	return &logReading[chain.Batch]{
		prove: func(ctx context.Context, empty answer[chain.Batch]) bool {
			return s.proveEmpty(ctx, from, empty.upTo, empty.found.Last.Hash, func(h *chain.Header) bool { return block.ProofOf(h).MayHold(s.topics) })
		},
		ask: func(ctx context.Context, e *endpoint, a asking) (answer[chain.Batch], error) {
			out, err := s.rangeOn(ctx, e, from, a)
			if err == nil {
				err = inOrder(&out.found, earliest)
			}
			return out, err
		},
	}
}

// rangeOn reads the beginning of a range from an endpoint, which learns how wide a range it takes.
func (s *Source) rangeOn(ctx context.Context, e *endpoint, from uint64, a asking) (out answer[chain.Batch], err error) {
	for {
		e.mu.Lock()
		out.upTo = min(a.to, from+e.rangeLen-1)
		e.mu.Unlock()
		logs, last, got, err := e.logRange(ctx, s, from, out.upTo)
		if err == nil {
			defer got.Done()
			e.fitted(len(logs), out.upTo-from+1)
			out.logs = len(logs)
			out.found, err = s.assemble(got.Within(ctx), e, logs, last, a.lenient)
			return out, err
		}
		var narrow *node.RangeError
		if err = node.AsRangeError(err); !errors.As(err, &narrow) || out.upTo == from {
			return out, err
		}
		e.tooWide(narrow.Fits, out.upTo-from+1)
	}
}

// inOrder refuses times that go back.
func inOrder(b *chain.Batch, earliest int64) error {
	for i := range b.Blocks {
		if h := &b.Blocks[i].Header; h.Time < earliest {
			return early(h.Number, earliest-h.Time)
		}
		earliest = b.Blocks[i].Time
	}
	if b.Last.Time < earliest {
		return early(b.Last.Number, earliest-b.Last.Time)
	}
	return nil
}

func (e *endpoint) fitted(logs int, blocks uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if blocks < e.rangeLen {
		return // the end of the chain says nothing about the limit
	}
	switch {
	case logs < wantedLogs/2:
		e.rangeLen = min(e.rangeLen*2, node.LongestRange)
	case logs > 2*wantedLogs:
		e.rangeLen = max(e.rangeLen/2, 1)
	}
}

func (e *endpoint) tooWide(fits, asked uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rangeLen = max(min(asked/2, e.rangeLen), 1)
	if fits > 0 && fits < asked {
		e.rangeLen = fits
	}
}

// logRange reads the logs of a range and the header of its last block.
func (e *endpoint) logRange(ctx context.Context, s *Source, from, to uint64) (logs []decode.Log, last chain.Header, got *rpc.Reply, err error) {
	if err := e.Do(ctx, node.HeaderRequest(to, &last)); err != nil {
		return nil, last, nil, err
	}
	if err := errors.Join(isNumber(&last, to), e.isPast(&last), s.sealed(ctx, &last)); err != nil {
		return nil, last, nil, err
	}
	if logs, got, err = e.Logs(ctx, &node.LogQuestion{
		Where: map[string]any{"fromBlock": rpc.HexQuantity(from), "toBlock": rpc.HexQuantity(to)}, Topics: s.topics, Single: from == to,
	}); err != nil {
		return nil, last, nil, err
	}
	if err := areOfRange(logs, from, &last); err != nil {
		got.Done()
		return nil, last, nil, err
	}
	return logs, last, got, nil
}

// areOfRange refuses logs that aren't of the blocks from one to another, in order.
func areOfRange(logs []decode.Log, from uint64, last *chain.Header) error {
	to := last.Number
	for i := range logs {
		l := &logs[i]
		switch {
		case l.Block < from || l.Block > to || l.Removed:
			return fmt.Errorf("%w: asked for blocks %d to %d, got a log of block %d", rpc.ErrGarbage, from, to, l.Block)
		case i > 0 && l.Block < logs[i-1].Block:
			return fmt.Errorf("%w: the logs of blocks %d to %d are out of order", rpc.ErrGarbage, from, to)
		case l.Block == to && l.BlockHash != last.Hash:
			return fmt.Errorf("%w: block %d has two hashes", rpc.ErrGarbage, to)
		}
	}
	return nil
}

// assemble groups logs by block, finds the blocks' times and decodes.
func (s *Source) assemble(ctx context.Context, e *endpoint, logs []decode.Log, last chain.Header, renumber bool) (chain.Batch, error) {
	out := chain.Batch{Last: last}
	headers, err := e.times(ctx, logs, last.Time)
	if err != nil {
		return out, err
	}
	for i := 0; i < len(logs); {
		j := i + 1
		for j < len(logs) && logs[j].Block == logs[i].Block {
			if logs[j].BlockHash != logs[i].BlockHash {
				return out, fmt.Errorf("%w: block %d has two hashes", rpc.ErrGarbage, logs[i].Block)
			}
			j++
		}
		h := market.Header{Number: logs[i].Block, Hash: logs[i].BlockHash, Time: logs[i].BlockTime}
		if known, ok := headers[h.Number]; ok {
			if known.Hash != h.Hash {
				return out, fmt.Errorf("%w: block %d has two hashes", rpc.ErrGarbage, h.Number)
			}
			h = known.Header
		}
		b, err := s.decode(h, logs[i:j], renumber)
		if err != nil {
			return out, err
		}
		if len(b.Txs) > 0 {
			out.Blocks = append(out.Blocks, b)
		}
		i = j
	}
	return out, nil
}

// times reads the headers of blocks whose logs carry no time, or none that can be: many nodes put it there, many don't.
func (e *endpoint) times(ctx context.Context, logs []decode.Log, latest int64) (map[uint64]chain.Header, error) {
	var missing []uint64
	for i := range logs {
		if t := logs[i].BlockTime; t > 0 && t <= latest && (i == 0 || t >= logs[i-1].BlockTime) {
			continue
		}
		if len(missing) == 0 || missing[len(missing)-1] != logs[i].Block {
			missing = append(missing, logs[i].Block)
		}
	}
	const atOnce = 100
	out := make(map[uint64]chain.Header, len(missing))
	for len(missing) > 0 {
		n := min(atOnce, len(missing))
		headers := make([]chain.Header, n)
		reqs := make([]*rpc.Request, n)
		for i, number := range missing[:n] {
			reqs[i] = node.HeaderRequest(number, &headers[i])
		}
		if err := e.Do(ctx, reqs...); err != nil {
			return nil, err
		}
		for i, number := range missing[:n] {
			if err := isNumber(&headers[i], number); err != nil {
				return nil, err
			}
			out[number] = headers[i]
		}
		missing = missing[n:]
	}
	return out, nil
}
