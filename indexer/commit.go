package indexer

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/telemetry/span"
)

// commit derives blocks up to until and writes what changed. After a failure the state may hold what was never committed: the error
// ends the session, and the next one loads the state anew.
func (ix *Indexer) commit(ctx context.Context, blocks []market.Block, until market.Header, undo bool) error {
	began := ix.o.Now()
	c, err := ix.derived(ctx, blocks, until, undo)
	if err != nil {
		return err
	}
	return ix.write(ctx, c, began)
}

// derived derives blocks up to until.
func (ix *Indexer) derived(ctx context.Context, blocks []market.Block, until market.Header, undo bool) (*store.Commit, error) {
	facts, err := ix.prepare(ctx, blocks, until, undo)
	if err != nil {
		return nil, err
	}
	var recount *store.Recount
	if undo {
		if recount, err = ix.beginRecount(ctx, until); err != nil {
			return nil, err
		}
	}
	if err := ix.machine.Apply(ix.state, blocks, until); err != nil {
		return nil, err
	}
	c := &store.Commit{
		Last: until, Blocks: []market.Header{until}, Undo: undo, Head: ix.heard.status(), Facts: facts, Recount: recount, Caps: ix.holders.Caps().String(),
		Changes: ix.state.Flush(ix.o.CachedRows), Beat: ix.pulse.beat, Sure: ix.sure,
		SureFacts: ix.facts.sureFacts(facts), Endpoints: ix.changedRecords(),
	}
	// Blocks that were read as the past can't be undone: no block below the newest of them may be kept to go back to.
	c.Horizon = until.Number
	if undo {
		c.Horizon -= min(until.Number, ix.cfg.ReorgBlocks)
	}
	return c, nil
}

// write commits what was derived.
func (ix *Indexer) write(ctx context.Context, c *store.Commit, began time.Time) error {
	until := c.Last
	within, writing := ix.startSpan(ctx, "commit", trace.SpanKindClient)
	err := ix.untilWritten(within, func() error {
		c.Head = c.Head.WrittenAt(ix.o.Now())
		return ix.store.Commit(within, ix.lease, c)
	})
	span.End(writing, err)
	if err != nil {
		return err
	}
	ix.progressed, ix.unwritten, ix.sure = true, false, nil
	if c.Endpoints != nil {
		ix.records = ix.records[:0]
		for _, r := range c.Endpoints {
			ix.records = append(ix.records, chain.Record(r))
		}
	}
	ix.facts.written(c, ix.o.Now())
	ix.account.indexed(until)
	if c.Undo {
		ix.holders.Committed(until.Number)
	}
	ix.merged(ctx, c.Changes.Jobs)
	if len(c.Changes.Watched) > 0 {
		ix.pasts.Watched()
	}
	ix.log.DebugContext(ctx, "committed", "block", until.Number, "hash", until.Hash.String(), "undo", c.Undo,
		"trades", len(c.Changes.Trades), "facts", len(c.Facts))
	ix.o.Metrics.commit(ix.cfg.ID, until, &c.Changes, holds{ix.state.Waiting(), ix.state.WatchedWallets()}, ix.o.Now().Sub(began))
	ix.tellSetAside(c.Facts)
	ix.enricher.Committed()
	return nil
}
