package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/block"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// aheadOfClock is how far ahead of this machine's clock a block's time may be. Clients refuse blocks from 15 s ahead
// on; the rest is for clocks that are wrong.
const aheadOfClock = 15 * time.Minute

// errEarly means that a block's time is before the time of the block below it. No chain allows that: one of both times is
// false.
var errEarly = errors.New("a block's time is before its parent's")

// isPast refuses a time that no node can have seen yet: what the index keeps follows from the chain's time.
func (e *endpoint) isPast(h *chain.Header) error {
	if latest := e.Now().Add(aheadOfClock).Unix(); h.Time > latest {
		return fmt.Errorf("%w: block %d has a time %d s ahead of this machine's clock", rpc.ErrGarbage, h.Number, h.Time-e.Now().Unix())
	}
	return nil
}

func early(number uint64, before int64) error {
	return fmt.Errorf("%w: block %d: %w by %d s", rpc.ErrGarbage, number, errEarly, before)
}

func takeBlock(h *chain.Header) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		header, read, err := block.Parse(raw)
		if *h = header; err == nil {
			h.Body = &transactions{Transactions: read}
		}
		return err
	}
}

// optional lets a node know nothing of a tag.
func optional(r *rpc.Request) *rpc.Request {
	take := r.Take
	r.Optional = true
	r.Take = func(raw json.RawMessage) error {
		if err := take(raw); err != nil && !errors.Is(err, chain.ErrNoBlock) {
			return err
		}
		return nil
	}
	return r
}

// Header reads one header by number. chain.ErrNoBlock is in the error's tree when no node has it.
func (s *Source) Header(ctx context.Context, number uint64) (h chain.Header, err error) {
	err = s.pool.Try(ctx, func(ctx context.Context, e *endpoint) error {
		if err := e.Do(ctx, node.HeaderRequest(number, &h)); err != nil {
			return err
		}
		return errors.Join(isNumber(&h, number), e.isPast(&h), s.sealed(ctx, &h))
	})
	return h, err
}

// AnyHas reports whether an endpoint still has a block. Endpoints that have another in its place are then left aside: they
// are on a fork of their own.
func (s *Source) AnyHas(ctx context.Context, known market.Header) bool {
	var others []*endpoint
	has := false
	for _, e := range s.pool.List {
		var h chain.Header
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
			return e.Do(ctx, node.HeaderRequest(known.Number, &h))
		})
		switch {
		case err != nil:
		case h.Hash == known.Hash:
			has = true
		default:
			others = append(others, e)
		}
	}
	for _, e := range others {
		if has {
			e.Failed(s.pool.Now())
		}
	}
	return has
}

// Headers reads several headers in one batch, in order and linked to each other, with their blocks' transactions where launches trade. parent is
// the block below the first as far as it is known. Those of the newest blocks may be missing, where the endpoint doesn't have them. chain.ErrNoBlock is in the error's tree
// when none has the first.
func (s *Source) Headers(ctx context.Context, parent market.Header, first, last uint64) ([]chain.Header, error) {
	out, err := s.headers(ctx, parent, first, last)
	if errors.Is(err, errEarly) {
		if t := s.earliestTime(ctx, parent); t < parent.Time {
			parent.Time = t
			return s.headers(ctx, parent, first, last)
		}
	}
	if errors.Is(err, chain.ErrNoBlock) {
		s.lacks(first)
	}
	return out, err
}

// earliestTime is the earliest time that any endpoint gives a block. Where all endpoints have the next block before the
// time that one gave this block, the false one is this time, and it must not stop the chain.
func (s *Source) earliestTime(ctx context.Context, known market.Header) int64 {
	earliest := known.Time
	for _, e := range s.pool.List {
		var h chain.Header
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error {
			if err := e.Do(ctx, node.HeaderRequest(known.Number, &h)); err != nil {
				return err
			}
			return s.sealed(ctx, &h)
		})
		if err == nil && h.Hash == known.Hash && h.Time < earliest {
			s.pool.Log.WarnContext(ctx, "endpoints disagree on a block's time", "block", known.Number, "endpoint", e.Name,
				"time", h.Time, "another_has", known.Time)
			earliest = h.Time
		}
	}
	return earliest
}

// headers is Headers with a parent's time that is taken as true. Where an endpoint turns out to omit transactions, those that give them are asked.
func (s *Source) headers(ctx context.Context, parent market.Header, first, last uint64) (out []chain.Header, err error) {
	for range s.pool.List {
		out, err = s.headersOfOne(ctx, parent, first, last)
		if err != nil || !slices.ContainsFunc(out, omitsTransactions) || !s.anyGivesBlocks() {
			break
		}
	}
	return out, err
}

func omitsTransactions(h chain.Header) bool {
	body := transactionsOf(&h)
	return body != nil && body.Omitted
}

// headersOfOne asks one endpoint after the other until one has the headers: first those that are likely to give transactions, where these are read.
func (s *Source) headersOfOne(ctx context.Context, parent market.Header, first, last uint64) (out []chain.Header, err error) {
	err = s.pool.TryOf(ctx, s.preferGiving(s.pool.Candidates()), func(ctx context.Context, e *endpoint) error {
		out = make([]chain.Header, last-first+1)
		reqs, err := s.askHeaders(ctx, e, first, out)
		if err != nil {
			return err
		}
		for i := range out {
			if err := reqs[i].Err; node.RateRefused(err) {
				return err
			}
			if out[i].Hash.IsZero() {
				out = out[:i]
				break
			}
			below := parent
			if i > 0 {
				below = out[i-1].Header
			}
			err := errors.Join(isNumber(&out[i], first+uint64(i)), e.isPast(&out[i]), s.sealed(ctx, &out[i]), follows(&out[i], below, i > 0))
			if err != nil {
				e.failedQuestion()
				return err
			}
			e.tells(&out[i])
		}
		e.answered()
		if s.readsBlocks {
			s.heardBodies(ctx, e, out)
		}
		return nil
	})
	return out, err
}

// heardBodies is heardBody for several blocks of one answer: one that omits its transactions counts for all.
func (s *Source) heardBodies(ctx context.Context, e *endpoint, list []chain.Header) {
	if i := slices.IndexFunc(list, omitsTransactions); i >= 0 {
		list = list[i : i+1]
	}
	for i := range list {
		s.heardBody(ctx, e, &list[i])
	}
}

// askHeaders asks an endpoint for headers from a number on, the first of which it has to have: with their blocks' transactions, where it gives
// these.
func (s *Source) askHeaders(ctx context.Context, e *endpoint, first uint64, out []chain.Header) ([]*rpc.Request, error) {
	reqs, whole := make([]*rpc.Request, len(out)), s.givesBlocks(e)
	for i := range out {
		reqs[i] = node.HeaderRequest(first+uint64(i), &out[i])
		if whole {
			reqs[i] = blockRequest(rpc.HexQuantity(first+uint64(i)), &out[i])
		}
		if i > 0 {
			reqs[i] = optional(reqs[i])
		}
	}
	err := e.Do(ctx, reqs...)
	if err != nil {
		s.failedBlocks(ctx, e, whole, err)
	}
	return reqs, err
}

// follows refuses a header that can't be of the block after another: one with an earlier time, or, where both come from one endpoint, with
// another parent. Where the other was read before, another parent is a reorg.
func follows(h *chain.Header, below market.Header, together bool) error {
	switch linked := h.Parent == below.Hash; {
	case !linked && together:
		return fmt.Errorf("%w: block %d is not the child of the one before", rpc.ErrGarbage, h.Number)
	case linked && h.Time < below.Time:
		return early(h.Number, below.Time-h.Time)
	}
	return nil
}

// blockRequest is headerRequest for a header with its block's transactions, by the block's number or tag.
func blockRequest(at string, h *chain.Header) *rpc.Request {
	return &rpc.Request{Method: "eth_getBlockByNumber", Params: []any{at, true}, Take: takeBlock(h), Whole: true}
}

func isNumber(h *chain.Header, number uint64) error {
	if h.Number != number {
		return fmt.Errorf("%w: asked for block %d, got %d", rpc.ErrGarbage, number, h.Number)
	}
	return nil
}
