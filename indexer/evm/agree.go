package evm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"golang.org/x/crypto/sha3"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/wait"
)

// blockWord is what endpoints said of a block: chain.BlockRead's Word.
type blockWord struct {
	// answer is what was said first, or what two say; its endpoint is nil in a read that was recalled.
	answer answer[market.Block]
	pool   *rpc.Pool[*endpoint] // of a read that was recalled
}

// restsOn says which endpoints gave a read's contents; none before it was read.
func restsOn(r *chain.BlockRead) *blockWord {
	if of, ok := r.Word.(*blockWord); ok {
		return of
	}
	return &blockWord{}
}

var _ chain.Word = (*blockWord)(nil)

// IsSuspect reports whether an endpoint gave the logs that has been outvoted since.
func (w *blockWord) IsSuspect() bool {
	if w.answer.by == nil {
		return w.pool != nil && slices.ContainsFunc(w.pool.List, (*endpoint).IsDistrusted)
	}
	return w.answer.by.IsDistrusted()
}

// Same compares digests.
func (w *blockWord) Same(other chain.Word) bool {
	o, ok := other.(*blockWord)
	return ok && w.answer.digest == o.answer.digest
}

// Bare leaves the decoded block out.
func (w *blockWord) Bare() chain.Word {
	out := *w
	out.answer.found = market.Block{}
	return &out
}

// LogsHash is what Recall makes a read of again, in another process too: the first 8 bytes of a hash of what endpoints are asked for, the
// digest of the logs (32 bytes), and 1 where the read is doubtful, else 0. It doesn't tell the endpoint: its number may be another's later.
func (s *Source) LogsHash(r *chain.BlockRead) []byte {
	doubtful := byte(0)
	if r.Doubtful {
		doubtful = 1
	}
	out := slices.Concat(s.asked[:], restsOn(r).answer.digest[:])
	return append(out, doubtful)
}

// Recall makes a read of what LogsHash gave. ok is false where endpoints are asked for other logs now, or digests are made otherwise: then
// nobody can say whether a block was committed with the logs that it has.
func (s *Source) Recall(logsHash []byte) (r chain.BlockRead, ok bool) {
	digest, ok := bytes.CutPrefix(logsHash, s.asked[:])
	of := &blockWord{pool: s.pool}
	if !ok || len(digest) != len(of.answer.digest)+1 {
		return r, false
	}
	r.Word, r.Doubtful = of, digest[len(digest)-1] == 1
	copy(of.answer.digest[:], digest)
	return r, true
}

// digestForm is the form of LogsHash's digests. Whoever changes digestOf or the order of a block's logs raises it.
const digestForm = 1

// hashAsked is the first bytes of a hash of the topics that logs are asked for by, and of the form of digests.
func hashAsked(topics [][32]byte) (sum [8]byte) {
	k := sha3.NewLegacyKeccak256()
	_, _ = k.Write([]byte{digestForm})
	for _, t := range slices.SortedFunc(slices.Values(topics), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) }) {
		_, _ = k.Write(t[:])
	}
	copy(sum[:], k.Sum(nil))
	return sum
}

// digestOf is a hash of a block's logs, which are in order.
func digestOf(logs []decode.Log) [32]byte {
	return hashLogs(logs, func(l *decode.Log) []byte { return l.TxHash[:] })
}

// hashLogs is a hash of logs, with tx as the name of each log's transaction.
func hashLogs(logs []decode.Log, tx func(*decode.Log) []byte) (sum [32]byte) {
	k := sha3.NewLegacyKeccak256()
	for i := range logs {
		l := &logs[i]
		_, _ = k.Write(l.Address[:])
		_, _ = k.Write([]byte{byte(l.NumTopics)})
		for t := range l.NumTopics {
			_, _ = k.Write(l.Topics[t][:])
		}
		_, _ = k.Write(binary.BigEndian.AppendUint32(nil, uint32(len(l.Data))))
		_, _ = k.Write(l.Data)
		_, _ = k.Write(tx(l))
		_, _ = k.Write(binary.BigEndian.AppendUint32(nil, l.Index))
	}
	k.Sum(sum[:0])
	return sum
}

// Agree asks other endpoints for the logs of a block that was read from one, until two have the same; then those are the
// block's. Where they differ the block's receipts decide, if an endpoint has them. Where nothing decides, even when all are
// asked again after pauses, the block has the logs of the endpoint that was outvoted least, and is doubtful. Where no other
// endpoint answers, the block stays as it is: nobody's silence or dissent stops a chain. Changed says that the block has
// other logs now. Of a read that was recalled nobody knows who gave it, so that two others have to say the same.
func (s *Source) Agree(ctx context.Context, h chain.Header, r *chain.BlockRead) (changed bool, err error) {
	if r.Agreed || len(s.pool.List) == 1 {
		return false, nil
	}
	first := restsOn(r).answer
	before, began, round := first.digest, s.pool.Now(), 0
	var votes []answer[market.Block]
	if first.by != nil {
		votes = append(votes, first)
	}
	defer func() {
		if round > 0 {
			s.waits.took(began, s.pool.Now(), r.Agreed)
		}
	}()
	for ; ; round++ {
		found, err := s.vote(ctx, h, r, &votes, round > 0 || r.Doubtful)
		if err != nil {
			return false, err
		}
		if found == nil {
			found = s.proven(ctx, &h, votes)
		}
		if found != nil {
			take(r, *found, true)
			return before != found.digest, nil
		}
		if len(votes) <= 1 {
			return false, nil
		}
		if round == rereads || r.Doubtful || !s.waits.allowed(began) {
			break
		}
		if !wait.For(ctx, time.Duration(round+1)*s.rereadPause) {
			return false, ctx.Err()
		}
	}
	if !r.Doubtful {
		s.tellBlock(h.Number, chain.EndpointsDiffer)
	}
	r.Doubtful = true
	best := leastOutvoted(votes)
	take(r, best, false)
	return before != best.digest, nil
}

// vote asks the endpoints, the one that the block was read from only if it is asked again, and adds what they say to the votes. Found is the
// vote that two of them gave; nil when there is none.
func (s *Source) vote(ctx context.Context, h chain.Header, r *chain.BlockRead, votes *[]answer[market.Block], again bool) (found *answer[market.Block], err error) {
	reading := s.blockReading(h, false)
	for _, e := range s.pool.Candidates() {
		if e == restsOn(r).answer.by && !again {
			continue // it has just been asked
		}
		var first *answer[market.Block]
		if len(*votes) > 0 {
			first = &(*votes)[0]
		}
		vote, err := s.voteOf(ctx, e, h, reading, first)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue
		}
		if first != nil && first.denied && !vote.denied {
			s.outvoted(first.by)
			*votes = (*votes)[1:]
		}
		if *votes = cast(*votes, vote); decided(s, *votes, vote, sameDigest) {
			return &vote, nil
		}
	}
	return nil, nil //nolint:nilnil // nothing is decided, and nothing failed
}

// leastOutvoted is the vote of the endpoint that was contradicted the fewest times.
func leastOutvoted[T any](votes []answer[T]) answer[T] {
	best := votes[0]
	for _, v := range votes[1:] {
		if v.by.Outvotes() < best.by.Outvotes() {
			best = v
		}
	}
	return best
}

// voteOf asks one endpoint for a block's logs. Logs that the header denies are no vote, unless the first endpoint gave the
// same ones; first is nil before there is one.
func (s *Source) voteOf(ctx context.Context, e *endpoint, h chain.Header, reading *logReading[market.Block], first *answer[market.Block],
) (vote answer[market.Block], err error) {
	err = s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
		vote, err = reading.ask(ctx, e, asking{to: h.Number})
		return err
	})
	vote.by = e
	if d, isDenied := asDenied(err); isDenied && first != nil && d.digest == first.digest {
		s.judgeDenied(map[*endpoint][32]byte{e: d.digest, first.by: d.digest}, false)
		vote, err = *first, nil
		vote.by = e
	} else if isDenied && (first == nil || !first.denied) {
		s.outvoted(e)
	}
	return vote, err
}

// take makes an answer the read's.
func take(r *chain.BlockRead, a answer[market.Block], agreed bool) {
	r.Word, r.Block, r.Agreed = &blockWord{answer: a}, a.found, agreed
	r.Doubtful = r.Doubtful && !agreed
}

// proven is the vote that receipts prove, where endpoints differ; nil where they prove none, or more than one.
func (s *Source) proven(ctx context.Context, h *chain.Header, votes []answer[market.Block]) (proven *answer[market.Block]) {
	if len(votes) <= 1 {
		return nil
	}
	for i := range votes {
		content, err := s.provenContent(ctx, votes[i].by, h)
		if err != nil {
			s.pool.Log.DebugContext(ctx, "receipts prove nothing", "endpoint", votes[i].by.Name, "block", h.Number, "err", err.Error())
			continue
		}
		for k := range votes {
			if votes[k].content != content {
				continue
			}
			if proven != nil {
				return nil // they differ in the hashes of transactions, which no receipt has
			}
			proven = &votes[k]
		}
		if proven == nil {
			return nil
		}
		for k := range votes {
			if votes[k].content != content {
				s.outvoted(votes[k].by)
			}
		}
		return proven
	}
	return nil
}

// cast adds a vote; an endpoint's newest is the one that counts.
func cast(votes []answer[market.Block], v answer[market.Block]) []answer[market.Block] {
	for i := range votes {
		if votes[i].by == v.by {
			votes[i] = v
			return votes
		}
	}
	return append(votes, v)
}

func sameDigest(a, b *answer[market.Block]) bool { return a.digest == b.digest }

// decided reports whether two endpoints gave the logs of a vote, and if so remembers who said otherwise.
func decided[T any](s *Source, votes []answer[T], v answer[T], same func(a, b *answer[T]) bool) bool {
	n := 0
	for i := range votes {
		if same(&votes[i], &v) {
			n++
		}
	}
	if n < 2 {
		return false
	}
	for i := range votes {
		if same(&votes[i], &v) {
			votes[i].by.Agree()
		} else {
			s.outvoted(votes[i].by)
		}
	}
	return true
}

// outvoted notes that an endpoint said what two others, or a header, contradict.
func (s *Source) outvoted(e *endpoint) {
	e.Outvote()
	if s.aside != nil {
		s.aside(chain.Aside{Kind: "endpoint", Subject: e.Name, Reason: chain.Outvoted})
	}
	s.pool.Log.Warn("endpoint contradicted by others", "endpoint", e.Name)
}

// deniedError means that a block's header denies a log that an endpoint gives: the log's address or a topic isn't in the
// bloom.
type deniedError struct{ digest [32]byte }

func (deniedError) Error() string { return "the block's logs bloom denies a log" }

// deniedBy reports whether a header denies one of a block's logs.
func deniedBy(h *chain.Header, logs []decode.Log) bool {
	p := block.ProofOf(h)
	for i := range logs {
		if !p.Allows(logs[i].Address[:]) {
			return true
		}
		for t := range logs[i].NumTopics {
			if !p.Allows(logs[i].Topics[t][:]) {
				return true
			}
		}
	}
	return false
}

// denies holds logs against the bloom of the block's header and, where it denies one, against that of the header as the logs'
// own endpoint has it: the first may be another's lie. Polygon's state synchronisation, for one, stands in no bloom: a chain
// of whose blocks two endpoints have the same denied logs is not judged by its headers any more.
func (s *Source) denies(ctx context.Context, e *endpoint, h *chain.Header, logs []decode.Log) error {
	if s.headersFail.Load() || !deniedBy(h, logs) {
		return nil
	}
	var own chain.Header
	if err := e.Do(ctx, node.HeaderRequest(h.Number, &own)); err != nil {
		return err
	}
	if own.Hash == h.Hash && !deniedBy(&own, logs) {
		return nil
	}
	return deniedError{digestOf(logs)}
}

// judgeDenied looks at the endpoints of which the header denies what they gave, after one read. Where another's answer isn't
// denied they lied. Where two of them gave the same, the chain's headers don't tell.
func (s *Source) judgeDenied(denied map[*endpoint][32]byte, other bool) {
	seen := map[[32]byte]bool{}
	for e, digest := range denied {
		switch {
		case other:
			s.outvoted(e)
		case seen[digest] && !s.headersFail.Swap(true):
			s.pool.Log.Warn("the chain's headers don't tell which logs its blocks hold; they prove nothing from here on")
		}
		seen[digest] = true
	}
}

func asDenied(err error) (d deniedError, ok bool) {
	ok = errors.As(err, &d)
	return d, ok
}
