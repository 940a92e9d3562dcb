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
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// The head decides which blocks are past: those are taken with less agreement, and can't be undone. So what is reached is what two endpoints have told,
// where there are several; and a head far above it is believed from nobody.

const (
	// ahead is how many slots a head may be above what two endpoints have reached: some 13 seconds.
	ahead = 32
	// comparedEvery is the pace at which the other endpoints are asked for their heads.
	comparedEvery = 2 * time.Second
	// finalityEvery is the pace at which the final slot is asked for.
	finalityEvery = 6 * time.Second
	// highestSlot is above any that a chain comes to.
	highestSlot = 1 << 53
	// unreadyBlocks is how many slots below the head are tried where nodes don't have its block yet.
	unreadyBlocks = 16
)

// heads keeps what is known of the head.
type heads struct {
	mu         sync.Mutex
	comparedAt time.Time
	finalAt    time.Time
	final      uint64
	finalTime  int64
}

var (
	errAhead  = errors.New("no other endpoint is near the endpoint's head")
	errBehind = errors.New("the endpoint's head stands still, and others' have gone on")
)

// newestFinal is the final slot that was told last.
func (h *heads) newestFinal() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.final
}

// Head is the newest block that has been voted for.
func (s *Source) Head(ctx context.Context) (chain.Head, error) {
	h := &s.heads
	h.mu.Lock()
	defer h.mu.Unlock()
	now := s.pool.Now()
	if len(s.endpoints()) > 1 && now.Sub(h.comparedAt) >= comparedEvery {
		h.comparedAt = now
		for _, e := range s.pool.List {
			_ = s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error { _, err := s.slotOn(ctx, e, commitment); return err })
		}
		s.compareStreams(ctx)
	}
	b, ok := s.streamedHead()
	if !ok {
		var err error
		if b, err = s.askedHead(ctx); err != nil {
			return chain.Head{}, err
		}
	}
	if now.Sub(h.finalAt) >= finalityEvery {
		if err := s.finality(ctx); err != nil {
			return chain.Head{}, err
		}
		h.finalAt = now
	}
	out := chain.Head{Header: chain.Header{Header: b.Header}, Reached: b.Number}
	if reached, alone := s.reached(b.by, b.Number); !alone {
		out.Reached = min(b.Number, reached)
	}
	if out.Final, out.FinalTime = h.final, h.finalTime; out.Final > out.Reached {
		out.Final = out.Reached
	}
	out.Safe = out.Reached
	return out, nil
}

// askedHead asks for the newest slot, and for its block.
func (s *Source) askedHead(ctx context.Context) (read, error) {
	var slot uint64
	err := s.pool.Try(ctx, func(ctx context.Context, e *endpoint) (err error) {
		if slot, err = s.slotOn(ctx, e, commitment); err != nil {
			return err
		}
		if s.isBehind(e, slot) {
			return fmt.Errorf("%w: it is %d", errBehind, slot)
		}
		if reached, alone := s.reached(e, slot); !alone && slot > reached+ahead {
			return fmt.Errorf("%w: it is %d, and others have reached %d", errAhead, slot, reached)
		}
		return nil
	})
	if err != nil {
		return read{}, err
	}
	return s.newest(ctx, slot)
}

// slotOn asks an endpoint for its newest slot.
func (s *Source) slotOn(ctx context.Context, e *endpoint, commitment string) (slot uint64, err error) {
	if err := e.Do(ctx, &rpc.Request{Method: "getSlot", Params: []any{map[string]any{"commitment": commitment}}, Take: take(&slot)}); err != nil {
		return 0, err
	}
	if slot > highestSlot {
		return 0, fmt.Errorf("%w: slot %d", rpc.ErrGarbage, slot)
	}
	if commitment != "finalized" {
		s.noteSlot(e, slot)
	}
	return slot, nil
}

// noteSlot notes that an endpoint told its newest slot.
func (s *Source) noteSlot(e *endpoint, slot uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.toldAt = s.pool.Now()
	if slot > e.told {
		e.risenAt = e.toldAt
	}
	e.told = slot
}

const (
	// toldFor is for how long what an endpoint told counts.
	toldFor = time.Minute
	// standstill is for how long an endpoint may tell the same before it counts as one that stands still.
	standstill = 20 * time.Second
	// shortestSlot is less than any slot lasts.
	shortestSlot = 100 * time.Millisecond
)

// rises reports whether an endpoint's head has risen lately.
func (e *endpoint) rises(now time.Time) bool {
	return !e.risenAt.IsZero() && now.Sub(e.risenAt) < standstill
}

// couldTell is an endpoint's newest slot, or the highest that it could be by now of one that stands still: it must not hold up the others, and no other one may
// run away from it.
func (e *endpoint) couldTell(now time.Time) uint64 {
	if e.rises(now) {
		return e.told
	}
	return e.told + uint64(now.Sub(e.risenAt)/shortestSlot)
}

// isBehind reports whether an endpoint's head stands still while another's, far above it, rises.
func (s *Source) isBehind(e *endpoint, slot uint64) bool {
	now := s.pool.Now()
	e.mu.Lock()
	rises := e.rises(now)
	e.mu.Unlock()
	if rises {
		return false
	}
	for _, other := range s.pool.List {
		other.mu.Lock()
		above := other != e && other.told > slot+ahead && other.rises(now)
		other.mu.Unlock()
		if above {
			return true
		}
	}
	return false
}

// reached is the highest slot that two endpoints have told, or could have, one of which has just told its own. Alone says that no other one has told any lately.
// The slots of streams are left out, except that of a stream which is itself judged: a stream that has ended, or is slow, must not make others look too far ahead.
func (s *Source) reached(by *endpoint, slot uint64) (reached uint64, alone bool) {
	now, others := s.pool.Now(), []uint64{}
	for _, e := range s.pool.List {
		e.mu.Lock()
		if e != by && now.Sub(e.toldAt) < toldFor && !e.toldAt.IsZero() {
			others = append(others, e.couldTell(now))
		}
		e.mu.Unlock()
	}
	if len(others) == 0 {
		return slot, true
	}
	others = append(others, slot)
	slices.Sort(others)
	return others[len(others)-2], false
}

// newest is the newest block up to a slot: that slot may be one without a block, or nodes may not have it yet.
func (s *Source) newest(ctx context.Context, slot uint64) (read, error) {
	b, err := s.block(ctx, slot)
	if err == nil || !errors.Is(err, chain.ErrNoBlock) {
		return b, err
	}
	list, listErr := s.slots(ctx, slot-min(slot, unreadyBlocks), slot)
	if listErr != nil {
		return b, listErr
	}
	for _, below := range slices.Backward(list) {
		if below == slot {
			continue
		}
		if b, err = s.block(ctx, below); err == nil || !errors.Is(err, chain.ErrNoBlock) {
			return b, err
		}
	}
	return b, err
}

// slots are those with a block from one to another, in their order, as one endpoint has them.
func (s *Source) slots(ctx context.Context, from, to uint64) (out []uint64, err error) {
	err = s.pool.Try(ctx, func(ctx context.Context, e *endpoint) (err error) {
		out, err = e.slots(ctx, from, to)
		return err
	})
	return out, err
}

func (e *endpoint) slots(ctx context.Context, from, to uint64) (out []uint64, err error) {
	params := []any{from, to, map[string]any{"commitment": commitment}}
	if err := e.Do(ctx, &rpc.Request{Method: "getBlocks", Params: params, Take: take(&out)}); err != nil {
		return nil, err
	}
	for i, slot := range out {
		if slot < from || slot > to || i > 0 && slot <= out[i-1] {
			return nil, fmt.Errorf("%w: asked for the blocks of slots %d to %d, got %d", rpc.ErrGarbage, from, to, slot)
		}
	}
	return out, nil
}

// finality asks for the final slot, and for the time of its block. Of two endpoints the lower slot counts.
func (s *Source) finality(ctx context.Context) error {
	var told []uint64
	for _, e := range s.pool.Candidates() {
		var slot uint64
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			slot, err = s.slotOn(ctx, e, "finalized")
			return err
		})
		if err != nil {
			continue
		}
		if told = append(told, slot); len(told) == 2 {
			break
		}
	}
	if len(told) == 0 {
		return ctx.Err() // what was final still is
	}
	final := slices.Min(told)
	b, ok := s.kept.of(final, market.Hash{})
	if !ok || b.streamed {
		var err error
		if b, err = s.fetch(ctx, final, s.headerOn); err != nil {
			return ctx.Err()
		}
	}
	if b.HasTime {
		s.heads.final, s.heads.finalTime = final, b.Time
	}
	return nil
}
