package indexer

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// prune deletes a piece of what the chain's retention lets go; the rest goes between later blocks. What goes follows
// from the hour of the newest final block alone, so that every index of the same blocks keeps the same rows, whenever
// it prunes and whatever reorgs it saw. A block whose time is false can't let more go than this machine's clock does.
func (ix *Indexer) prune(ctx context.Context) error {
	keep := ix.cfg.Retention
	if ix.pruningHour(ix.head.FinalTime) <= ix.pruned {
		return nil
	}
	final, err := ix.finalHeader(ctx)
	if err != nil {
		return err
	}
	hour := ix.pruningHour(final.Time)
	if hour <= ix.pruned || final.Number == 0 {
		return nil
	}
	before := func(d chainconfig.Duration) int64 {
		if d == 0 {
			return 0
		}
		return hour - int64(time.Duration(d).Seconds())
	}
	more := true
	err = ix.untilWritten(ctx, func() (err error) {
		more, err = ix.store.Upkeep.Prune(ctx, ix.lease, store.Pruning{
			TradesBefore: before(keep.Trades), MinutesBefore: before(keep.MinuteCandles), Final: final.Number,
			StreamBefore: before(store.StreamKept),
		})
		return err
	})
	if err == nil && !more {
		ix.pruned = hour
	}
	return err
}

// pruningHour is the hour that retention is counted from when the final block has this time.
func (ix *Indexer) pruningHour(final int64) int64 {
	return min(final, ix.state.Last().Time, ix.o.Now().Unix()) / 3600 * 3600
}

// finalHeader is the number and the time of the newest block that the nodes call final and that is beyond the reach of
// reorgs, whatever a node calls final. Its number is 0 where there is none.
func (ix *Indexer) finalHeader(ctx context.Context) (final market.Header, err error) {
	reach := ix.head.Reached - min(ix.head.Reached, ix.cfg.ReorgBlocks)
	if ix.head.Final <= reach {
		return market.Header{Number: ix.head.Final, Time: ix.head.FinalTime}, nil
	}
	recent, err := ix.store.RecentBlocks(ctx, ix.rows.id())
	for _, h := range recent {
		if h.Number <= reach && h.Number > final.Number {
			final = h
		}
	}
	return final, err
}
