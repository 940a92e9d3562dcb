package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// lost reports whether the chain has moved off the block that was indexed last, while nobody looked.
func (ix *Indexer) lost(ctx context.Context, last market.Header) (bool, error) {
	if last.Hash.IsZero() {
		return false, nil
	}
	h, err := ix.nodes.Header(ctx, last.Number)
	if errors.Is(err, chain.ErrSkipped) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return h.Hash != last.Hash, nil
}

// belowCursor decides what a head below the cursor means: nodes that are late, or a chain that became shorter.
func (ix *Indexer) belowCursor(ctx context.Context) error {
	last := ix.state.Last()
	h, err := ix.nodes.Header(ctx, last.Number)
	switch {
	case err == nil && h.Hash == last.Hash:
		ix.short = 0
		return nil
	case err == nil, errors.Is(err, chain.ErrSkipped):
		ix.short = 0
		return ix.rewind(ctx)
	case !errors.Is(err, chain.ErrNoBlock):
		return err // nobody says that the block is gone
	}
	const enough = 3
	if ix.short++; ix.short < enough {
		return nil
	}
	ix.short = 0
	return ix.rewind(ctx)
}

// rewind goes back to the newest block that the nodes still have. The chain halts only when they have other blocks where
// ours are; nodes that merely lack them are behind.
func (ix *Indexer) rewind(ctx context.Context) error {
	known, err := ix.store.RecentBlocks(ctx, ix.rows.id())
	if err != nil {
		return err
	}
	last := ix.state.Last()
	differs := false
	for _, b := range known {
		ix.pulse.beat()
		if b.Number > ix.head.Number {
			continue
		}
		h, err := ix.nodes.Header(ctx, b.Number)
		if err != nil && !errors.Is(err, chain.ErrSkipped) {
			return err
		}
		if err != nil || h.Hash != b.Hash {
			differs = true
			continue
		}
		if b.Number == last.Number {
			return nil // the nodes changed their mind once more
		}
		if err := ix.goBackTo(ctx, b); err != nil {
			return err
		}
		ix.log.InfoContext(ctx, "reorg undone", "from", last.Number, "to", b.Number, "depth", last.Number-b.Number)
		ix.o.Metrics.reorg(ix.cfg.ID, last.Number-b.Number)
		return nil
	}
	if !differs {
		err := fmt.Errorf("chain %s: the nodes' head is %d, below every indexed block that could be undone: they are behind",
			ix.cfg.ID, ix.head.Number)
		ix.degraded(ctx, err)
		return err
	}
	if oldest := known[len(known)-1]; ix.nodes.AnyHas(ctx, oldest) {
		err := fmt.Errorf("chain %s: the nodes disagree on block %d: one is on a fork deeper than can be undone", ix.cfg.ID,
			oldest.Number)
		ix.degraded(ctx, err)
		return err
	}
	chainID, instead := ix.cfg.ID, ""
	if ix.successor != nil {
		chainID, _ = chainconfig.ChainOfIndex(ix.cfg.ID)
		instead = ". To give this generation up, put the served one's number back there, or run boardwalk reindex --cancel " + chainID
	}
	return fmt.Errorf("%w: a reorg reaches below block %d, deeper than reorgBlocks (%d) can undo: raise reorgBlocks, "+
		"and have the chain indexed anew by raising spec.indexer.generation, or by boardwalk reindex %s%s", ErrHalted,
		last.Number-min(last.Number, ix.cfg.ReorgBlocks), ix.cfg.ReorgBlocks, chainID, instead)
}

// goBackTo takes every block above one back, in the database and in the state, which forgets the rows that this changes and keeps the others.
// After a failure the state may be of another block than the database: the error ends the session, and the next one loads the state anew.
func (ix *Indexer) goBackTo(ctx context.Context, block market.Header) error {
	var touched market.Touched
	err := ix.untilWritten(ctx, func() (err error) {
		touched, err = ix.store.Rewind(ctx, ix.lease, block.Number)
		return err
	})
	if err != nil {
		return err
	}
	ix.enricher.ForgetSupplies()
	// A recount's job can come back as it was before the chain document ceased to ask for its token.
	if err := ix.endRecounts(ctx, ix.lease); err != nil {
		return err
	}
	if ix.cfg.Tracking.Holders != chainconfig.HoldersAll {
		// A token's row can come back as it was before the chain document ceased to ask for its balances.
		// So can one that was launched, whose launch the rewind took.
		tokens := slices.Concat(touched.Tokens, touched.Launches)
		kept, err := ix.store.Upkeep.AnyUnfollowed(ctx, ix.rows.id(), tokens, ix.machine.Majors())
		if err != nil {
			return err
		}
		if kept {
			return ix.resume(ctx)
		}
		err = ix.untilWritten(ctx, func() error { return ix.store.Upkeep.NoteFollowed(ctx, ix.lease, ix.machine.Majors()) })
		if err != nil {
			return err
		}
	}
	if err := ix.forget(ctx, block, &touched); err != nil {
		return err
	}
	ix.account.indexed(block)
	return nil
}

// forget takes the state back to the newest block that the database has, without what was touched.
func (ix *Indexer) forget(ctx context.Context, last market.Header, touched *market.Touched) error {
	b, err := ix.beginning(ctx, last)
	if err != nil {
		return err
	}
	rows, err := ix.store.Load(ctx, ix.rows.id(), market.Wanted{Watched: touched.Watched, ExpireFrom: 1})
	if err != nil {
		return err
	}
	b.Watched = rows.Watched
	ix.rewound(touched)
	ix.state.Rewind(b, touched)
	return nil
}
