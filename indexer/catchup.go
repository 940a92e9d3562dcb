package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/rpc"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

const (
	// backfillEvents is how many events a commit of the past gathers.
	backfillEvents = 20_000
	// shortPast is the number of blocks up to which reading them isn't worth a progress report.
	shortPast = 100
	// headersAtOnce is how many headers are read at once when catching up within the undo horizon.
	headersAtOnce = 20
)

// catchUp indexes up to the head that was read last; it reports whether nothing is left to do.
func (ix *Indexer) catchUp(ctx context.Context) (bool, error) {
	last := ix.state.Last()
	next := last.Number + 1
	if last.Hash.IsZero() {
		next = 0
	}
	if sure := ix.head.Reached - min(ix.head.Reached, ix.cfg.ReorgBlocks); sure > 0 && next <= sure && (!ix.near || ix.isFar(next, sure)) {
		ix.near = true
		// Nothing checks the parents of blocks this far back, so the one to build on is checked here.
		if lost, err := ix.lost(ctx, last); err != nil {
			return false, err
		} else if lost {
			return false, ix.rewind(ctx)
		}
		if err := ix.backfill(ctx, next, sure); err != nil || ix.state.Last().Hash != last.Hash {
			return false, err
		}
		// All that is left of the past is a gap.
	}
	ix.near = true
	if ix.head.Number < last.Number {
		return true, ix.belowCursor(ctx)
	}
	ix.short = 0
	if ix.head.Number == last.Number {
		if ix.head.Hash != last.Hash {
			return false, ix.rewind(ctx)
		}
		return true, nil
	}
	return ix.follow(ctx, next)
}

// begin sets the first block of a chain that was never indexed. It lies beyond the reach of reorgs even where the head was
// asked for: there would be no block to go back to.
func (ix *Indexer) begin(ctx context.Context) error {
	if !ix.state.Last().Hash.IsZero() || ix.cfg.Start.Block == 0 && !ix.cfg.Start.Now {
		return nil
	}
	if ix.cfg.Start.Block > ix.head.Number {
		return fmt.Errorf("chain %s: start block %d is above the head %d", ix.cfg.ID, ix.cfg.Start.Block, ix.head.Number)
	}
	safe := ix.head.Reached - min(ix.head.Reached, ix.cfg.ReorgBlocks)
	if !ix.cfg.Start.Now {
		safe = min(safe, ix.cfg.Start.Block-1)
	}
	h, err := ix.headerToBeginAfter(ctx, safe)
	if err != nil {
		return err
	}
	began := ix.o.Now()
	c, err := ix.derived(ctx, nil, h.Header, false)
	if err != nil {
		return err
	}
	c.First = h.Number + 1
	return ix.write(ctx, c, began)
}

// mostSkipped is how many numbers without a block are looked through below a start.
const mostSkipped = 64

// headerToBeginAfter is the header of the newest block up to a number, or of the next one above where many numbers have none. Where no endpoint has the block, and the
// declared start is right above those that are missing, it is the header of the block at the start, which is then not read: nothing but a hash is known of the one below.
func (ix *Indexer) headerToBeginAfter(ctx context.Context, number uint64) (h chain.Header, err error) {
	for below := range min(mostSkipped, number) + 1 {
		if h, err = ix.nodes.Header(ctx, number-below); !errors.Is(err, chain.ErrSkipped) {
			break
		}
	}
	_, isMissing := errors.AsType[*chain.RangeMissingError](err)
	if !errors.Is(err, chain.ErrSkipped) && (!isMissing || ix.cfg.Start.Now) {
		return h, err
	}
	next, nextErr := ix.nodes.Headers(ctx, market.Header{}, number+1, number+1)
	switch {
	case nextErr != nil:
		return h, nextErr
	case next[0].Number+ix.cfg.ReorgBlocks > ix.head.Reached, isMissing && next[0].Number != ix.cfg.Start.Block:
		return h, err // a reorg may reach it, or the start is among the missing ones
	}
	return next[0], nil
}

// isFar reports whether so many blocks are left up to one that no reorg reaches that reading them as the past is worth its requests: on a fast
// chain others are made meanwhile, and reading a few as the past again and again never comes to the head.
func (ix *Indexer) isFar(next, sure uint64) bool {
	return sure-next >= max(ix.cfg.ReorgBlocks, headersAtOnce)
}

// backfill reads blocks that no reorg reaches, many per commit. Each commit is a trace of its own, and what is read ahead of it is in none: it may take hours.
func (ix *Indexer) backfill(ctx context.Context, first, last uint64) error {
	ctx = span.Detach(ctx)
	p := Progress{Chain: ix.cfg.ID, First: first, Last: last}
	report := func() {
		if ix.o.Progress != nil && last-first >= shortPast {
			ix.o.Progress(p)
		}
	}
	report()
	if last-first >= shortPast {
		ix.account.phase(chainconfig.PhaseBackfilling, "")
	}
	var batches []chain.Batch
	events := 0
	commit := func() error {
		if len(batches) == 0 {
			return nil
		}
		newest := batches[len(batches)-1].Last.Number
		if err := ix.commitPast(ctx, batches); err != nil {
			return err
		}
		p.Blocks, p.Events = newest-first+1, p.Events+events
		report()
		batches, events = nil, 0
		return nil
	}
	for batch, err := range ix.nodes.Backfill(ctx, ix.state.Last(), first, last) {
		ix.pulse.beat()
		if err != nil {
			if ctx.Err() != nil || leavesDoubt(err) {
				return err
			}
			return cmp.Or(commit(), err)
		}
		events += eventsOf(&batch)
		batches = append(batches, batch)
		if events < backfillEvents && batch.Last.Number < last {
			continue
		}
		if err := commit(); err != nil {
			return err
		}
		if ix.mustWait() {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return commit() // what lies before a gap that the range ends with
}

func eventsOf(b *chain.Batch) (n int) {
	for i := range b.Blocks {
		for j := range b.Blocks[i].Txs {
			n += len(b.Blocks[i].Txs[j].Logs)
		}
	}
	return n
}

// leavesDoubt reports whether an error that ends the reading of past blocks leaves the blocks before it in doubt: where one doesn't follow another, either may be wrong.
func leavesDoubt(err error) bool {
	_, isGap := errors.AsType[*chain.RangeMissingError](err)
	return !isGap && errors.Is(err, rpc.ErrGarbage)
}

// commitPast commits batches of the past. No batch can be taken back, so a batch is read again if its endpoint was outvoted since.
func (ix *Indexer) commitPast(ctx context.Context, batches []chain.Batch) (err error) {
	var blocks []market.Block
	parent := ix.state.Last()
	for i := range batches {
		b := &batches[i]
		if err := ix.nodes.RereadPast(ctx, parent, b); err != nil {
			return err
		}
		ix.pulse.beat()
		blocks, parent = append(blocks, b.Blocks...), b.Last.Header
	}
	ctx, past := ix.startBlocks(ctx, "index past blocks", parent, blocks...)
	defer func() { span.End(past, err) }()
	return ix.commit(ctx, blocks, parent, false)
}

// follow indexes the blocks within the undo horizon, one per commit. It reports whether nothing is left to do.
func (ix *Indexer) follow(ctx context.Context, next uint64) (caughtUp bool, err error) {
	headers, err := ix.headers(ctx, next)
	if errors.Is(err, chain.ErrNoBlock) && next > ix.head.Reached {
		return true, nil // one node told a head that none has
	}
	if err != nil {
		return false, err
	}
	if last := ix.state.Last(); !last.Hash.IsZero() && headers[0].Parent != last.Hash {
		return false, ix.rewind(ctx)
	}
	i := 0
	for b, err := range ix.nodes.Blocks(ctx, headers) {
		ix.pulse.beat()
		if err != nil {
			return false, err
		}
		h := headers[i]
		i++
		if err := ix.commitHead(ctx, h, &b); err != nil {
			return false, err
		}
		if back, err := ix.doubt(ctx, h, &b); back || err != nil {
			return false, err
		}
		if back, err := ix.doubtFacts(ctx, h); back || err != nil {
			return false, err
		}
	}
	return false, nil
}

// headers reads the headers of the next blocks up to the head.
func (ix *Indexer) headers(ctx context.Context, next uint64) ([]chain.Header, error) {
	last := ix.state.Last()
	if h := ix.head; next == h.Number && !h.IsBare && (h.Parent != last.Hash || h.Time >= last.Time) {
		return []chain.Header{h.Header}, nil
	}
	return ix.nodes.Headers(ctx, last, next, min(ix.head.Number, next+headersAtOnce-1))
}
