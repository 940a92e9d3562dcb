package indexer

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// lost reports whether the chain has moved off the block that was indexed last, while nobody looked.
func (ix *Indexer) lost(ctx context.Context, last market.Header) (bool, error) {
	if last.Hash.IsZero() {
		return false, nil
	}
	h, err := ix.source.Header(ctx, last.Number)
	if err != nil {
		ix.degraded(ctx, err)
		return false, err
	}
	return h.Hash != last.Hash, nil
}

// belowCursor decides what a head below the cursor means: nodes that are late, or a chain that became shorter.
func (ix *Indexer) belowCursor(ctx context.Context) error {
	last := ix.state.Last()
	h, err := ix.source.Header(ctx, last.Number)
	if err == nil && h.Hash == last.Hash {
		ix.short = 0
		return nil
	}
	const enough = 3
	if ix.short++; err == nil || ix.short >= enough {
		ix.short = 0
		return ix.rewind(ctx)
	}
	return nil
}

// rewind goes back to the newest block that the nodes still have.
func (ix *Indexer) rewind(ctx context.Context) error {
	known, err := ix.store.RecentBlocks(ctx, ix.cfg.ID)
	if err != nil {
		return err
	}
	last := ix.state.Last()
	for _, b := range known {
		if b.Number > ix.head.Number {
			continue
		}
		h, err := ix.source.Header(ctx, b.Number)
		if err != nil {
			return err
		}
		if h.Hash != b.Hash {
			continue
		}
		if b.Number == last.Number {
			return nil // the nodes changed their mind once more
		}
		if err := ix.store.Rewind(ctx, ix.lease, b.Number); err != nil {
			return err
		}
		ix.log.InfoContext(ctx, "reorg undone", "from", last.Number, "to", b.Number, "depth", last.Number-b.Number)
		ix.o.Metrics.reorg(ix.cfg.ID, last.Number-b.Number)
		return ix.resume(ctx)
	}
	return fmt.Errorf("%w: a reorg reaches below block %d, deeper than reorgBlocks (%d) can undo: raise reorgBlocks, "+
		"delete the rows of chain %s and let it be indexed anew", ErrHalted, last.Number-min(last.Number, ix.cfg.ReorgBlocks),
		ix.cfg.ReorgBlocks, ix.cfg.ID)
}
