package solana

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/digest"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// rereads is how often endpoints that differ about a block are asked again.
const rereads = 2

// vote is what an endpoint says of a block.
type vote struct {
	read

	digest [32]byte
}

// Agree asks other endpoints for a block that was read from one, until two have the same; then that is the block. Where nothing decides, even when all are asked
// again after pauses, the block is what the endpoint has that was outvoted least, and is doubtful. Where no other endpoint answers, it stays as it is:
// nobody's silence or dissent stops a chain.
func (s *Source) Agree(ctx context.Context, h chain.Header, r *chain.BlockRead) (changed bool, err error) {
	if r.Agreed || len(s.endpoints()) == 1 {
		return false, nil
	}
	first, ok := r.Word.(*word)
	if !ok {
		return false, nil
	}
	var votes []vote
	if first.by != nil {
		v := vote{digest: first.digest}
		v.Block.Block, v.by, v.streamed = r.Block, first.by, slices.Contains(s.streams, first.by)
		votes = append(votes, v)
	}
	for round := 0; ; round++ {
		found, late, err := s.poll(ctx, h, &votes, round > 0 || r.Doubtful)
		if err != nil {
			return false, err
		}
		if found != nil && found.Hash != h.Hash {
			// A hash tells nothing of what is in a block, so that one that was made up is known by this alone.
			return false, fmt.Errorf("block %d is another one at two endpoints: %w", h.Number, rpc.ErrUnanswered)
		}
		if found != nil {
			found.Time = h.Time
			r.Block, r.Word, r.Agreed, r.Doubtful = found.Block.Block, &word{by: found.by, digest: found.digest}, true, false
			return first.digest != found.digest, nil
		}
		if len(votes) <= 1 && (!late || round == rereads) {
			return false, nil
		}
		if round == rereads || r.Doubtful {
			break
		}
		if !wait.For(ctx, s.pause(round, len(votes) > 1)) {
			return false, ctx.Err()
		}
	}
	if !r.Doubtful {
		s.tell(chain.Aside{Kind: "block", Subject: strconv.FormatUint(h.Number, 10), Reason: chain.EndpointsDiffer})
	}
	r.Doubtful = true
	best := slices.MinFunc(votes, func(a, b vote) int {
		return cmp.Or(a.by.Outvotes()-b.by.Outvotes(), order(a.streamed)-order(b.streamed))
	})
	if best.Hash != h.Hash {
		return false, nil // it has another block there: the loop finds out by its parents
	}
	best.Time = h.Time
	r.Block, r.Word = best.Block.Block, &word{by: best.by, digest: best.digest}
	return first.digest != best.digest, nil
}

// order has endpoints that are asked before those that stream.
func order(isStreamed bool) int {
	if isStreamed {
		return 1
	}
	return 0
}

// pause is how long to wait after a round of questions: where endpoints differ longer than where others will have the block soon.
func (s *Source) pause(round int, differ bool) time.Duration {
	pause := time.Duration(round+1) * s.rereadPause
	if !differ {
		pause /= 4
	}
	return pause
}

// poll asks the endpoints, the one that the block was read from only if it is asked again. Found is the vote that two of them gave, maybe for another block of the
// slot; nil where there is none. Late says that one of them doesn't have the block yet.
func (s *Source) poll(ctx context.Context, h chain.Header, votes *[]vote, again bool) (found *vote, late bool, err error) {
	for _, e := range s.pool.Candidates() {
		if !again && len(*votes) > 0 && (*votes)[0].by == e {
			continue // it has just been asked
		}
		var r read
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			r, err = s.blockOn(ctx, e, h.Number)
			return err
		})
		if ctx.Err() != nil {
			return nil, late, ctx.Err()
		}
		if err != nil {
			late = late || lacks(err)
			continue
		}
		v := vote{read: r, digest: digest.Block(&r.Block.Block)}
		v.by = e
		*votes = slices.DeleteFunc(*votes, func(old vote) bool { return old.by == e })
		*votes = append(*votes, v)
		if s.decided(*votes, &v) {
			return &v, late, nil
		}
	}
	return nil, late, nil
}

// decided reports whether two endpoints gave a vote, and if so remembers who said otherwise of the same block. Who has another block there may be on a fork, and
// is left aside for a while.
func (s *Source) decided(votes []vote, v *vote) bool {
	alike := 0
	for i := range votes {
		if votes[i].digest == v.digest {
			alike++
		}
	}
	if alike < 2 {
		return false
	}
	for i := range votes {
		switch {
		case votes[i].digest == v.digest:
			votes[i].by.Agree()
		case votes[i].Hash == v.Hash:
			s.outvoted(votes[i].by)
		case votes[i].streamed:
			s.setAside(votes[i].by)
		default:
			votes[i].by.Failed(s.pool.Now())
		}
	}
	return true
}

// agreedPast is a block of the past as two endpoints have it, where it was drawn or came from one that was outvoted.
func (s *Source) agreedPast(ctx context.Context, r read) (read, error) {
	if len(s.endpoints()) == 1 || !chain.Drawn(r.Hash) && !r.by.IsDistrusted() {
		return r, nil
	}
	b := chain.BlockRead{Block: r.Block.Block, Word: &word{by: r.by, digest: digest.Block(&r.Block.Block)}}
	if _, err := s.Agree(ctx, chain.Header{Header: r.Header}, &b); err != nil {
		return r, err
	}
	r.Block.Block = b.Block
	if w, ok := b.Word.(*word); ok && w.by != nil {
		r.by = w.by
	}
	return r, nil
}

// LogsHash is what Recall makes a read of again, in another process too: the first 8 bytes of a hash of what blocks are decoded for, the digest, and 1 where the
// read is doubtful, else 0.
func (s *Source) LogsHash(r *chain.BlockRead) []byte {
	w, ok := r.Word.(*word)
	if !ok {
		return nil
	}
	doubtful := byte(0)
	if r.Doubtful {
		doubtful = 1
	}
	return append(append(slices.Clone(s.decodedFor[:]), w.digest[:]...), doubtful)
}

// Recall makes a read of what LogsHash gave. ok is false where blocks are decoded for something else now, or digests are made otherwise.
func (s *Source) Recall(logsHash []byte) (r chain.BlockRead, ok bool) {
	sum, ok := bytes.CutPrefix(logsHash, s.decodedFor[:])
	w := &word{pool: s.all()}
	if !ok || len(sum) != len(w.digest)+1 {
		return r, false
	}
	copy(w.digest[:], sum)
	r.Word, r.Doubtful = w, sum[len(sum)-1] == 1
	return r, true
}
