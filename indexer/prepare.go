package indexer

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/enrich"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// prepare asks the registry whose wallets are members', takes in what one of them did before it was watched, loads what the blocks need, asks the nodes what logs don't tell, and takes a slice of finished holder backfills in.
// The answers are put into the blocks as facts.
func (ix *Indexer) prepare(ctx context.Context, blocks []market.Block, until market.Header, undo bool) (facts []store.StoredFact, err error) {
	ix.state.ForgetBooks()
	before := ix.wallets
	defer func() {
		if err != nil { // the blocks may be prepared again
			ix.wallets.last, ix.wallets.kept, ix.wallets.keptPasts = before.last, before.kept, before.keptPasts
		}
	}()
	watched, err := ix.watchWallets(ctx, blocks)
	if err != nil {
		return nil, err
	}
	pasts, err := ix.tellPasts(ctx, blocks, undo)
	if err != nil {
		return nil, err
	}
	watched = append(watched, pasts...)
	if err := ix.load(ctx, ix.machine.LaunchKeys(ix.state, blocks)); err != nil {
		return nil, err
	}
	if err := ix.load(ctx, ix.machine.Keys(ix.state, blocks, until)); err != nil {
		return nil, err
	}
	more := func() error { return ix.load(ctx, ix.machine.MoreKeys(ix.state, blocks, until)) }
	if err := more(); err != nil {
		return nil, err
	}
	facts, err = ix.enricher.Enrich(ctx, enrich.Batch{State: ix.state, Blocks: blocks, Following: undo, Corrections: ix.facts.corrections, More: more})
	if err != nil {
		return nil, err
	}
	facts = append(facts, watched...)
	// From here on the state takes in what isn't written.
	ix.unwritten = true
	return facts, ix.mergeHolders(ctx, until.Number, undo)
}

// balancesAtOnce is how many balances are loaded between two beats: two statements, each of which a minute bounds.
const balancesAtOnce = 4_000

// load loads rows into the state. The balances of a token whose holders are merged may be millions, which come in pieces.
func (ix *Indexer) load(ctx context.Context, w market.Wanted) error {
	for {
		piece := w
		piece.Balances = w.Balances[:min(len(w.Balances), balancesAtOnce)]
		rows, err := ix.store.Load(ctx, ix.rows.id(), piece)
		if err != nil {
			return err
		}
		ix.state.Put(piece, rows)
		ix.pulse.beat()
		w = market.Wanted{Balances: w.Balances[len(piece.Balances):], ExpireFrom: 1}
		if len(w.Balances) == 0 {
			return nil
		}
	}
}
