package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/decode"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// newestVersion is the newest version of transactions that is read. Nodes refuse a block with a newer one.
const newestVersion = 1

// aheadOfClock is how far a block's time may be ahead of this machine's clock: what the index keeps follows from the chain's time.
const aheadOfClock = 15 * time.Minute

// word says which endpoint gave a block: chain.BlockRead's Word.
type word struct {
	by *endpoint // nil of a read that was recalled
	// pool has the endpoints of a read that was recalled.
	pool   *rpc.Pool[*endpoint]
	digest [32]byte
}

var _ chain.Word = (*word)(nil)

// IsSuspect reports whether an endpoint gave the block that has been outvoted since.
func (w *word) IsSuspect() bool {
	if w.by != nil {
		return w.by.IsDistrusted()
	}
	if w.pool != nil {
		for _, e := range w.pool.List {
			if e.IsDistrusted() {
				return true
			}
		}
	}
	return false
}

// Same compares digests.
func (w *word) Same(other chain.Word) bool {
	o, ok := other.(*word)
	return ok && w.digest == o.digest
}

// Bare is the word itself, which has no contents.
func (w *word) Bare() chain.Word { return w }

// read is a block as one endpoint has it.
type read struct {
	decode.Block

	by *endpoint
	// bytes is how long the endpoint's answer was.
	bytes int
	// streamed says that the endpoint sent the block by itself.
	streamed bool
}

// blockOn reads the block of a slot from an endpoint. The error says that it lacks it where it does.
func (s *Source) blockOn(ctx context.Context, e *endpoint, slot uint64) (out read, err error) {
	return s.ask(ctx, e, slot, "full", e.Reads.Whole)
}

// headerOn reads it without its transactions.
func (s *Source) headerOn(ctx context.Context, e *endpoint, slot uint64) (out read, err error) {
	return s.ask(ctx, e, slot, "none", e.Reads.Most)
}

func (s *Source) ask(ctx context.Context, e *endpoint, slot uint64, details string, most int64) (out read, err error) {
	params := []any{slot, map[string]any{
		"encoding": "json", "transactionDetails": details, "rewards": false, "commitment": commitment, "maxSupportedTransactionVersion": newestVersion,
	}}
	got, err := e.PostCall(ctx, "getBlock", params, most)
	if err != nil {
		return out, err
	}
	defer got.Done()
	b, told, err := s.decoder.ParseAnswer(slot, got.Raw)
	switch {
	case told == decode.ToldRefusal:
		return out, refusalOf(e, got.Raw)
	case err != nil:
		return out, err
	case told == decode.ToldNull:
		return out, chain.ErrNoBlock
	case told == decode.ToldNothing:
		return out, fmt.Errorf("%w: an answer without a result", rpc.ErrGarbage)
	}
	if details == "full" && !b.HasTransactions {
		return out, fmt.Errorf("%w: block %d is told without its transactions", rpc.ErrGarbage, slot)
	}
	out = read{Block: b, by: e, bytes: len(got.Raw)}
	return out, out.plausible(e.Now())
}

// plausible says what can't be right about a block by this machine's clock.
func (r *read) plausible(now time.Time) error {
	if r.Time > now.Add(aheadOfClock).Unix() {
		return fmt.Errorf("%w: block %d has a time %d s ahead of this machine's clock", rpc.ErrGarbage, r.Number, r.Time-now.Unix())
	}
	return nil
}

// refusalOf is the error that a node answered with.
func refusalOf(e *endpoint, raw []byte) error {
	_, err := rpc.ResultOf(raw)
	if refusal, ok := errors.AsType[*rpc.NodeError](err); ok {
		e.Redact(refusal)
	}
	if err == nil {
		return fmt.Errorf("%w: an answer with an error and a result", rpc.ErrGarbage)
	}
	return err
}

// fetch reads the block of a slot from the first endpoint that has it. ErrNoBlock is in the error's tree where those that answer lack it.
func (s *Source) fetch(ctx context.Context, slot uint64, ask func(context.Context, *endpoint, uint64) (read, error)) (out read, err error) {
	missing, gone := false, true
	err = s.pool.Try(ctx, func(ctx context.Context, e *endpoint) (err error) {
		out, err = ask(ctx, e, slot)
		missing = missing || lacks(err)
		refusal, ok := errors.AsType[*rpc.NodeError](err)
		gone = gone && ok && refusal.Code == blockCleanedUp
		return err
	})
	switch {
	case err == nil || !missing || ctx.Err() != nil:
		return out, err
	case gone:
		return out, fmt.Errorf("block %d: %w: %w: %w", slot, chain.ErrNoBlock, errGone, err)
	default:
		return out, fmt.Errorf("block %d: %w: %w", slot, chain.ErrNoBlock, err)
	}
}

// errGone says that no endpoint keeps a block any more.
var errGone = errors.New("no endpoint keeps it any more")

// mostKept is how many blocks are kept that were read before their turn, and mostKeptBytes how long the answers with them were together.
const mostKept, mostKeptBytes = 64, 1 << 30

// kept are blocks that were read before their turn, as when the head was asked for or their links were followed.
type kept struct {
	mu   sync.Mutex
	list []read // the oldest first
}

// add keeps a block. Of one block one copy is kept: one that was asked for rather than one that was streamed, else the later one.
func (k *kept) add(r read) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.streamed && slices.ContainsFunc(k.list, func(old read) bool { return old.Hash == r.Hash && !old.streamed }) {
		return
	}
	k.list = append(slices.DeleteFunc(k.list, func(old read) bool { return old.Hash == r.Hash }), r)
	from, bytes := max(0, len(k.list)-mostKept), 0
	for i := len(k.list) - 1; i >= from; i-- {
		if bytes += k.list[i].bytes; bytes > mostKeptBytes {
			from = i + 1
		}
	}
	k.list = slices.Delete(k.list, 0, min(from, len(k.list)-1))
}

// dropFrom forgets the blocks that an endpoint streamed of a slot and those above it.
func (k *kept) dropFrom(e *endpoint, slot uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(r read) bool { return r.streamed && r.by == e && r.Number >= slot })
}

// streamedBy is the newest block up to a slot that an endpoint streamed.
func (k *kept) streamedBy(e *endpoint, last uint64) (out read, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.list {
		if r := &k.list[i]; r.streamed && r.by == e && r.Number <= last && r.Number > out.Number {
			out, ok = *r, true
		}
	}
	return out, ok
}

// of is the block of a slot, with the hash if that is known; ok is false where it isn't kept.
func (k *kept) of(slot uint64, hash market.Hash) (out read, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := len(k.list) - 1; i >= 0; i-- {
		if r := &k.list[i]; r.Number == slot && (hash.IsZero() || r.Hash == hash) {
			return *r, true
		}
	}
	return out, false
}

// block is the block that a slot has now, with its contents. Of one that was read before only the header is asked for: another may stand there since, and one
// that a node lied about isn't kept.
func (s *Source) block(ctx context.Context, slot uint64) (read, error) {
	if r, ok := s.kept.of(slot, market.Hash{}); ok {
		now, err := s.fetch(ctx, slot, s.headerOn)
		if err != nil || now.Hash == r.Hash && now.Parent == r.Parent && now.ParentSlot == r.ParentSlot {
			return r, err
		}
	}
	r, err := s.fetch(ctx, slot, s.blockOn)
	if err == nil {
		s.kept.add(r)
	}
	return r, err
}

// findTime asks other endpoints for the time of a block, where the one that gave it tells none, or one before the block below.
func (s *Source) findTime(ctx context.Context, r *read, below market.Header) {
	now := s.pool.Now().Unix()
	if r.HasTime && r.Time >= below.Time || now < s.noTimeUntil.Load() {
		return
	}
	for _, e := range s.pool.Candidates() {
		if e == r.by {
			continue
		}
		var other read
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			other, err = s.headerOn(ctx, e, r.Number)
			return err
		})
		if err == nil && other.Hash == r.Hash && other.HasTime && other.Time >= below.Time {
			r.Time, r.HasTime = other.Time, true
			return
		}
	}
	if len(s.pool.List) > 1 {
		s.noTimeUntil.Store(now + noTimePause)
	}
}

// noTimePause is how many seconds findTime asks nobody after it has found no better time: perhaps the block below was given too late a time.
const noTimePause = 10

// after gives a block the time of the one below it where it has none, or an earlier one: a chain's time doesn't go back.
func (r *read) after(parent market.Header) {
	if r.Time < parent.Time {
		r.Time = parent.Time
	}
}
