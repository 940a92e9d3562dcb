package solana

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/indexer/solana/digest"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// Not every slot has a block. That one has none is only believed when a later block names one before it as its parent: a node that lacks a block says the
// same of its slot as one that was skipped.

// errNamed is why a block has to be there.
var errNamed = errors.New("a block that was read names it, or one above it, as its parent")

// missing says that blocks are missing that others name as their parents.
func missing(first, last uint64, why error) error {
	return &chain.RangeMissingError{First: min(first, last), Last: last, Why: fmt.Errorf("%w: %w", rpc.ErrUnanswered, why)}
}

// probeSlots is how many slots are looked through at once for the next block, and mostProbed how many in all.
const (
	probeSlots = 256
	mostProbed = 1 << 16
)

// Header reads a block's header. ErrSkipped is in the error's tree where a later block says that the slot has none, ErrNoBlock where nobody knows.
func (s *Source) Header(ctx context.Context, number uint64) (chain.Header, error) {
	r, err := s.fetch(ctx, number, s.headerOn)
	if err == nil {
		return chain.Header{Header: r.Header}, nil
	}
	switch {
	case !errors.Is(err, chain.ErrNoBlock):
		return chain.Header{}, err
	case errors.Is(err, errGone): // later blocks tell nothing of it
		if oldest := s.oldest(ctx); oldest > number {
			err = missing(number, oldest-1, err)
		}
		return chain.Header{}, err
	}
	for from := number + 1; ; from += probeSlots {
		list, listErr := s.slots(ctx, from, from+probeSlots-1)
		if listErr != nil {
			return chain.Header{}, listErr
		}
		if len(list) > 0 {
			next, nextErr := s.fetch(ctx, list[0], s.headerOn)
			if nextErr != nil {
				return chain.Header{}, nextErr
			}
			if next.ParentSlot < number {
				return chain.Header{}, fmt.Errorf("slot %d: %w", number, chain.ErrSkipped)
			}
			return chain.Header{}, missing(number, next.ParentSlot, errNamed)
		}
		if from+probeSlots > min(s.highest(), number+mostProbed) {
			return chain.Header{}, err
		}
	}
}

// oldest is the lowest slot from which on an endpoint says that it keeps blocks; 0 where none tells.
func (s *Source) oldest(ctx context.Context) (slot uint64) {
	for _, e := range s.pool.Candidates() {
		var first uint64
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			first, err = e.oldest(ctx)
			return err
		})
		if err == nil && first > 0 && (slot == 0 || first < slot) {
			slot = first
		}
	}
	return slot
}

// highest is the highest slot that an endpoint has told lately which is asked.
func (s *Source) highest() (slot uint64) {
	now := s.pool.Now()
	for _, e := range s.pool.List {
		e.mu.Lock()
		if now.Sub(e.toldAt) < toldFor {
			slot = max(slot, e.told)
		}
		e.mu.Unlock()
	}
	return slot
}

// headersAtOnce is how many blocks are read at once for their headers, which their contents come with.
const headersAtOnce = 8

// Headers are those of the next blocks from one number to another, linked to each other, or of the next one after where those have none.
func (s *Source) Headers(ctx context.Context, parent market.Header, first, last uint64) (out []chain.Header, err error) {
	for _, r := range s.streamedAfter(parent, last) {
		out = append(out, chain.Header{Header: r.Header})
	}
	if len(out) > 0 {
		return out, nil
	}
	list, err := s.slots(ctx, first, last)
	for from := last + 1; err == nil && len(list) == 0; from += probeSlots {
		if from > min(s.highest(), last+mostProbed) {
			return nil, fmt.Errorf("slots %d to %d: %w", first, last, chain.ErrNoBlock)
		}
		if list, err = s.slots(ctx, from, from+probeSlots-1); len(list) > 1 {
			list = list[:1]
		}
	}
	if err != nil {
		return nil, err
	}
	blocks, err := s.chained(ctx, parent, list[:min(len(list), headersAtOnce)])
	for i := range blocks {
		out = append(out, chain.Header{Header: blocks[i].Header})
	}
	if len(out) > 0 {
		return out, nil // those of the newest blocks may be missing
	}
	return nil, err
}

// chained reads the blocks of slots, and those between them that a node left out although a later one follows them. Each is the parent of the next; the first
// may follow another block than the one below it, which is a reorg.
func (s *Source) chained(ctx context.Context, parent market.Header, slots []uint64) (out []read, err error) {
	below := parent
	blocks, errs := s.inParallel(slots, func(slot uint64) (read, error) { return s.block(ctx, slot) })
	for i := range blocks {
		b := blocks[i]
		if errs[i] != nil {
			return out, errs[i]
		}
		between, err := s.between(ctx, below, &b)
		if err != nil {
			return out, err
		}
		for _, r := range append(between, b) {
			if len(out) > 0 && r.Parent != below.Hash {
				return out, nil // the nodes changed their minds, and will be asked again
			}
			s.findTime(ctx, &r, below)
			s.kept.add(r) // as it was read: after another block it may have another time
			r.after(below)
			out, below = append(out, r), r.Header
		}
	}
	return out, nil
}

// mostBetween is how many blocks are looked for between two, one after the other. errLeftOut says that there are more.
const mostBetween = 64

var errLeftOut = errors.New("an endpoint left out many blocks")

// between are the blocks between one and a later one that the later one follows, in order.
func (s *Source) between(ctx context.Context, below market.Header, b *read) (out []read, err error) {
	for next := b; !below.Hash.IsZero() && next.ParentSlot > below.Number; next = &out[len(out)-1] {
		if len(out) == mostBetween {
			return nil, fmt.Errorf("%w: %w: more than %d below block %d", rpc.ErrUnanswered, errLeftOut, mostBetween, b.Number)
		}
		r, err := s.fetch(ctx, next.ParentSlot, s.blockOn)
		switch {
		case errors.Is(err, chain.ErrNoBlock):
			return nil, missing(below.Number+1, next.ParentSlot, err)
		case err != nil:
			return nil, err
		case r.Hash != next.Parent:
			return nil, fmt.Errorf("block %d: its parent is another now: %w", next.Number, rpc.ErrUnanswered)
		}
		out = append(out, r)
	}
	slices.Reverse(out)
	return out, nil
}

// AnyHas reports whether an endpoint still has a block. Endpoints that have another in its place are then left aside.
func (s *Source) AnyHas(ctx context.Context, block market.Header) bool {
	var others []*endpoint
	has := false
	for _, e := range s.pool.List {
		var r read
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			r, err = s.headerOn(ctx, e, block.Number)
			return err
		})
		switch {
		case err != nil:
		case r.Hash == block.Hash:
			has = true
		default:
			others = append(others, e)
		}
	}
	if has {
		for _, e := range others {
			e.Failed(s.pool.Now())
		}
	}
	return has
}

// Blocks gives the blocks of headers, which were read with them.
func (s *Source) Blocks(ctx context.Context, headers []chain.Header) iter.Seq2[chain.BlockRead, error] {
	return func(yield func(chain.BlockRead, error) bool) {
		for i := range headers {
			h := &headers[i].Header
			r, ok := s.kept.of(h.Number, h.Hash)
			if !ok {
				var err error
				if r, err = s.fetch(ctx, h.Number, s.blockOn); err == nil && r.Hash != h.Hash {
					err = fmt.Errorf("block %d is another now: %w", h.Number, rpc.ErrUnanswered)
				}
				if err != nil {
					yield(chain.BlockRead{}, err)
					return
				}
			}
			r.Time = h.Time
			if !yield(chain.BlockRead{Block: r.Block.Block, Word: &word{by: r.by, digest: digest.Block(&r.Block.Block)}}, nil) {
				return
			}
		}
	}
}

// pastSlots is how many slots of the past are asked for at once, and batchBlocks how many of their blocks make a batch.
const (
	pastSlots   = chainconfig.PastSlots
	batchBlocks = 32
	// workersPerEndpoint is how many blocks are asked of an endpoint at once: a node is kept busy while its answers are on their way and decoded.
	workersPerEndpoint = 4
)

// pastWord is what is known of a batch: chain.Batch's Known.
type pastWord struct {
	first uint64
	by    map[*endpoint]int // how often each had been outvoted when it gave a block of the batch
}

// Backfill reads the blocks from first to last, which must be beyond the reach of reorgs, in order. Blocks are read in parallel over the endpoints. It ends
// with the first error that no endpoint is free of, or when the caller stops.
func (s *Source) Backfill(ctx context.Context, parent market.Header, first, last uint64) iter.Seq2[chain.Batch, error] {
	return func(yield func(chain.Batch, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for from := first; from <= last; from += pastSlots {
			list, err := s.slots(ctx, from, min(last, from+pastSlots-1))
			if err != nil {
				yield(chain.Batch{}, err)
				return
			}
			for len(list) > 0 {
				var batch chain.Batch
				batch, list, err = s.nextPast(ctx, parent, list)
				if err != nil {
					yield(chain.Batch{}, err)
					return
				}
				if parent = batch.Last.Header; !yield(batch, nil) {
					return
				}
			}
		}
	}
}

// nextPast reads the next batch of some slots, and gives the slots that are left. Where the endpoint that listed them left out many, the others' lists count as well. A batch
// ends before a slot whose block no endpoint has: what comes behind it tells whether it has one.
func (s *Source) nextPast(ctx context.Context, parent market.Header, list []uint64) (batch chain.Batch, left []uint64, err error) {
	n := min(batchBlocks, len(list))
	batch, err = s.pastBatch(ctx, parent, list[:n])
	if errors.Is(err, errLeftOut) {
		list = append(s.everyonesSlots(ctx, parent.Number+1, min(list[n-1], parent.Number+pastSlots)), list...)
		slices.Sort(list)
		list = slices.Compact(list)
		n = min(batchBlocks, len(list))
		batch, err = s.pastBatch(ctx, parent, list[:n])
	}
	if _, isGap := errors.AsType[*chain.RangeMissingError](err); isGap && len(batch.Blocks) > 0 {
		n, err = slices.IndexFunc(list, func(slot uint64) bool { return slot > batch.Last.Number }), nil
	}
	return batch, list[n:], err
}

// everyonesSlots are the slots from one to another that any endpoint lists.
func (s *Source) everyonesSlots(ctx context.Context, from, to uint64) (all []uint64) {
	for _, e := range s.pool.Candidates() {
		_ = s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) error { // where one fails, the others tell
			told, err := e.slots(ctx, from, to)
			all = append(all, told...)
			return err
		})
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pastBatch reads the blocks of some slots of the past, and those that a node left out between them. With an error it returns the blocks before the one that
// failed.
func (s *Source) pastBatch(ctx context.Context, parent market.Header, slots []uint64) (out chain.Batch, err error) {
	blocks, errs := s.inParallel(slots, func(slot uint64) (read, error) { return s.fetch(ctx, slot, s.blockOn) })
	known := &pastWord{first: slots[0], by: map[*endpoint]int{}}
	out.Known = known
	var parentBy *endpoint // nil of the batch before
	for i := range blocks {
		if err := lacking(parent, slots[i:], blocks[i:], errs[i:]); errors.Is(err, chain.ErrSkipped) {
			continue
		} else if err != nil {
			return out, err
		}
		between, err := s.between(ctx, parent, &blocks[i])
		if err != nil {
			return out, err
		}
		for _, r := range append(between, blocks[i]) {
			if !parent.Hash.IsZero() && r.Parent != parent.Hash {
				if r, err = s.linked(ctx, parent, parentBy, r); err != nil {
					return out, err
				}
			}
			s.findTime(ctx, &r, parent)
			r.after(parent)
			if r, err = s.agreedPast(ctx, r); err != nil {
				return out, err
			}
			parentBy, known.by[r.by] = r.by, r.by.Outvotes()
			parent = r.Header
			out.Last = chain.Header{Header: parent}
			out.Blocks = append(out.Blocks, r.Block.Block) // one without events, too: an index that followed the chain may have kept a supply of it
		}
	}
	return out, nil
}

// lacking is why the block of the first of some slots isn't there. ErrSkipped is in the error's tree where a later block says that the slot has none.
func lacking(parent market.Header, slots []uint64, blocks []read, errs []error) error {
	if !errors.Is(errs[0], chain.ErrNoBlock) {
		return errs[0]
	}
	later := slices.IndexFunc(errs, func(err error) bool { return err == nil })
	if later > 0 && blocks[later].ParentSlot < slots[0] {
		return fmt.Errorf("slot %d: %w", slots[0], chain.ErrSkipped)
	}
	first := slots[0]
	if !parent.Hash.IsZero() {
		first = parent.Number + 1 // a node that began anew from a snapshot lists the snapshot's slot, but none of the gap below
	}
	return missing(first, slots[0], errs[0])
}

// linked is the block of a slot as another endpoint has it, where the one that was read doesn't follow the block below it. Who gave the one that is wrong is left
// aside for a while: where no endpoint has one that follows, that is who gave the block below.
func (s *Source) linked(ctx context.Context, parent market.Header, parentBy *endpoint, wrong read) (read, error) {
	for _, e := range s.pool.Candidates() {
		if e == wrong.by {
			continue
		}
		var r read
		err := s.pool.On(ctx, e, func(ctx context.Context, e *endpoint) (err error) {
			r, err = s.blockOn(ctx, e, wrong.Number)
			return err
		})
		if err == nil && r.Parent == parent.Hash {
			wrong.by.Failed(s.pool.Now())
			return r, nil
		}
		if ctx.Err() != nil {
			return wrong, ctx.Err()
		}
	}
	if parentBy != nil {
		parentBy.Failed(s.pool.Now())
	}
	return wrong, fmt.Errorf("%w: block %d follows no block %d of hash %s", rpc.ErrGarbage, wrong.Number, parent.Number, parent.Hash)
}

// inParallel reads the blocks of slots.
func (s *Source) inParallel(slots []uint64, block func(slot uint64) (read, error)) (out []read, errs []error) {
	out, errs = make([]read, len(slots)), make([]error, len(slots))
	tickets := make(chan struct{}, workersPerEndpoint*len(s.pool.List))
	var running sync.WaitGroup
	for i, slot := range slots {
		tickets <- struct{}{}
		running.Go(func() {
			defer func() { <-tickets }()
			out[i], errs[i] = block(slot)
		})
	}
	running.Wait()
	return out, errs
}

// RereadPast reads a batch again if a block of it rests on the word of an endpoint that was outvoted since.
func (s *Source) RereadPast(ctx context.Context, parent market.Header, b *chain.Batch) error {
	known, ok := b.Known.(*pastWord)
	if !ok {
		return nil
	}
	for e, outvoted := range known.by {
		if e.Outvotes() == outvoted {
			continue
		}
		list := s.everyonesSlots(ctx, known.first, b.Last.Number)
		if len(list) == 0 || list[len(list)-1] != b.Last.Number {
			return missing(b.Last.Number, b.Last.Number, errNamed)
		}
		again, err := s.pastBatch(ctx, parent, list)
		if err != nil {
			return err
		}
		if again.Last.Hash != b.Last.Hash {
			return fmt.Errorf("block %d is another now: %w", b.Last.Number, rpc.ErrUnanswered) // what was read after it follows the one before
		}
		*b = again
		return nil
	}
	return nil
}
