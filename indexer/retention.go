package indexer

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// prune deletes a piece of what the chain's retention lets go; the rest goes between later blocks. What goes follows
// from the chain's time, by the hour, so that every index of the same blocks keeps the same rows. A block whose time is
// false can't let more go than this machine's clock does, and nothing goes that isn't final.
func (ix *Indexer) prune(ctx context.Context) error {
	keep, final := ix.cfg.Retention, ix.finalHeader()
	hour := min(ix.state.Last().Time, ix.o.Now().Unix()) / 3600 * 3600
	if hour <= ix.pruned || final.Number == 0 || (keep.Trades == 0 && keep.MinuteCandles == 0) {
		return nil
	}
	before := func(d chainconfig.Duration) int64 {
		if d == 0 {
			return 0
		}
		return hour - int64(time.Duration(d).Seconds())
	}
	more := true
	err := ix.untilWritten(ctx, func() (err error) {
		more, err = ix.store.Prune(ctx, ix.lease, store.Pruning{
			TradesBefore: before(keep.Trades), MinutesBefore: min(before(keep.MinuteCandles), final.Time), Final: final.Number,
		})
		return err
	})
	if err == nil && !more {
		ix.pruned = hour
	}
	return err
}

// finalHeader is the number of the newest block that is beyond the reach of reorgs, whatever a node calls final, and
// the time of the one that the nodes call final.
func (ix *Indexer) finalHeader() market.Header {
	reach := ix.head.Number - min(ix.head.Number, ix.cfg.ReorgBlocks)
	return market.Header{Number: min(ix.head.Final, reach), Time: ix.head.FinalTime}
}
