package evm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// A node that has dropped its logs, hasn't indexed them yet, or lies, answers a question for logs with an empty list, as
// an honest node does where there are none. So an empty list is believed only
//   - where headers prove it: a block's own header, or, where no second endpoint answers, those of all blocks of a range
//     of at most provedBlocks;
//   - or where a second endpoint says so too (one that fails says nothing);
//   - or where no second one answers and the first says so again rereads times, after pauses, over seconds.
//
// A block whose header allows logs of ours seldom has none: at the head a quiet chain costs no further requests. An empty
// range costs one. A chain whose blooms are full of others' logs costs one or two for each block without ours.

const (
	// rereads is how often an endpoint has to repeat an empty answer that nobody else confirms. rereadPause is the pause
	// before the first time; the second is twice as long, the third three times. rereadFailures may happen in between.
	rereads, rereadFailures = 3, 4
	rereadPause             = 500 * time.Millisecond
	// waitShare is the part of the time, one of so many, that may be spent at the head waiting for answers that stay empty.
	// Beyond it one further read at once has to do, or a fast chain would be lost sight of.
	waitShare = 10
	// provedBlocks is the most blocks whose headers are read to prove that a range holds nothing: one batch. Thus an index
	// near the head of a quiet chain doesn't wait, and gets there.
	provedBlocks = 64
)

// answer is an endpoint's answer about the blocks up to a given one.
type answer[T any] struct {
	found T
	// digest and content are hashes of a block's logs, the latter of what receipts prove; of ranges there are none.
	digest, content [32]byte
	logs            int
	upTo            uint64
	by              *endpoint
	// agreed says that a second endpoint gave the same, denied that the block's header denies it.
	agreed, denied bool
}

// asking says how an endpoint is asked for logs.
type asking struct {
	// to is the last block that is wanted; an endpoint may answer for fewer.
	to uint64
	// lenient takes logs of which two have one index, and those that the block's header denies.
	lenient bool
	// byNumber asks for a block by its number, which is asked for by its hash otherwise.
	byNumber bool
}

// logReading is a read of logs that may be asked of several endpoints.
type logReading[T any] struct {
	ask func(ctx context.Context, e *endpoint, a asking) (answer[T], error)
	// proved reports whether it is known without a question that there are no logs; prove asks for a proof. Either may be
	// nil.
	proved func() bool
	prove  func(ctx context.Context, empty answer[T]) bool
	// atHead says that the chain goes on while this waits.
	atHead bool
}

// readLogs reads logs from endpoints until one has some, or until it can be believed that there are none.
func readLogs[T any](ctx context.Context, s *Source, to uint64, r *logReading[T]) (answer[T], error) {
	first, err := askFor(ctx, s, s.pool.Candidates(), asking{to: to}, r)
	if err != nil || first.logs > 0 || r.proved != nil && r.proved() {
		return first, err
	}
	second, err := askOthers(ctx, s, first, r)
	switch {
	case err == nil:
		return second, nil
	case ctx.Err() != nil:
		return first, ctx.Err()
	case r.prove != nil && r.prove(ctx, first):
		return first, nil
	}
	return askAgain(ctx, s, first, r)
}

// askFor asks the endpoints, one after the other, until one answers.
func askFor[T any](ctx context.Context, s *Source, list []*endpoint, a asking, r *logReading[T]) (out answer[T], err error) {
	err = s.orderedOn(ctx, list, func(ctx context.Context, e *endpoint, lenient bool) (err error) {
		a.lenient = lenient
		out, err = r.ask(ctx, e, a)
		out.by = e
		return err
	})
	return out, err
}

// askOthers asks a second endpoint about what the first has no logs of. Where that one has some, the first is left
// aside for a while.
func askOthers[T any](ctx context.Context, s *Source, first answer[T], r *logReading[T]) (answer[T], error) {
	second, err := askFor(ctx, s, s.pool.Others(first.by), asking{to: first.upTo}, r)
	if second.agreed = err == nil && second.logs == 0; err == nil && !second.agreed {
		first.by.Failed(s.pool.Now())
	}
	return second, err
}

// askAgain asks the endpoint that has no logs again and again, and the others before each time.
func askAgain[T any](ctx context.Context, s *Source, first answer[T], r *logReading[T]) (out answer[T], err error) {
	times, began := rereads, s.pool.Now()
	if r.atHead && !s.waits.allowed(began) {
		times = 1
	} else if r.atHead {
		defer func() { s.waits.took(began, s.pool.Now(), out.logs > 0) }()
	}
	for said, failures := 0, 0; said < times; {
		if times == rereads && !wait.For(ctx, time.Duration(said+1)*s.rereadPause) {
			return first, ctx.Err()
		}
		if second, err := askOthers(ctx, s, first, r); err == nil {
			return second, nil
		}
		again, err := askFor(ctx, s, []*endpoint{first.by}, asking{to: first.upTo, byNumber: said%2 == 0}, r)
		switch {
		case ctx.Err() != nil:
			return first, ctx.Err()
		case err == nil && again.logs > 0:
			return again, nil
		case err == nil:
			first = again
			said++
		default:
			if failures++; failures == rereadFailures {
				return first, fmt.Errorf("whether there are no logs up to block %d: %w", first.upTo, err)
			}
		}
	}
	return first, nil
}

// waits bounds the time that is spent waiting at the head.
type waits struct {
	mu    sync.Mutex
	until time.Time // there is no wait until then
}

func (w *waits) allowed(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !now.Before(w.until)
}

// took notes a wait, and whether it was worth while: then the next one is, too.
func (w *waits) took(began, now time.Time, found bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.until = now.Add((waitShare - 1) * now.Sub(began)); found {
		w.until = time.Time{}
	}
}

// proveEmpty reports whether the headers of a short range, of which the last one's hash may be known, prove that no block
// of it holds certain logs.
func (s *Source) proveEmpty(ctx context.Context, from, to uint64, last market.Hash, mayHold func(*chain.Header) bool) bool {
	if to-from >= provedBlocks {
		return false
	}
	if s.headersFail.Load() {
		return false
	}
	headers, err := s.Headers(ctx, market.Header{}, from, to)
	if err != nil || uint64(len(headers)) != to-from+1 || !last.IsZero() && headers[len(headers)-1].Hash != last {
		return false
	}
	for i := range headers {
		if mayHold(&headers[i]) {
			return false
		}
	}
	return true
}
