package evm

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
)

const (
	// blocksAhead is how many blocks are read at once near the head: where a block takes no longer to make than an answer to come, reading one
	// after the other never arrives there.
	blocksAhead = 8
	// logsAhead is how many logs may wait to be taken in before no further block is read ahead.
	logsAhead = wantedLogs
)

// readBlock is the result of reading a block.
type readBlock struct {
	block chain.BlockRead
	err   error
}

// Blocks reads blocks by their headers, in order, each as Block does. While the caller takes one in, the next ones are read. It ends
// with the first error, or when the caller stops.
func (s *Source) Blocks(ctx context.Context, headers []chain.Header) iter.Seq2[chain.BlockRead, error] {
	return func(yield func(chain.BlockRead, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		var waiting atomic.Int64 // the logs of blocks that were read and not taken
		ahead := make([]chan readBlock, 0, len(headers))
		for i, h := range headers {
			for n := len(ahead); n < min(i+blocksAhead, len(headers)) && (n <= i+1 || waiting.Load() < logsAhead); n++ {
				out := make(chan readBlock, 1)
				ahead = append(ahead, out)
				running.Go(func() {
					b, err := s.readBlock(ctx, headers[n], n > i)
					waiting.Add(int64(restsOn(&b).answer.logs))
					out <- readBlock{b, err}
				})
			}
			r := <-ahead[i]
			waiting.Add(-int64(restsOn(&r.block).answer.logs))
			if r.err != nil && ctx.Err() == nil {
				// It may succeed now: the node didn't have the block yet, or its answer is too long for several at once.
				r.block, r.err = s.Block(ctx, h)
			}
			if r.err == nil {
				s.took(h.Header)
			}
			if !yield(r.block, r.err) || r.err != nil {
				return
			}
		}
	}
}
