package indexer

import (
	"context"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
)

// prune deletes what the chain's retention lets go. What goes follows from the chain's time, by the hour, so that every
// index of the same blocks keeps the same rows.
func (ix *Indexer) prune(ctx context.Context) error {
	keep := ix.cfg.Retention
	hour := ix.state.Last().Time / 3600 * 3600
	if hour <= ix.pruned || (keep.Trades == 0 && keep.MinuteCandles == 0) {
		return nil
	}
	before := func(d chainconfig.Duration) int64 {
		if d == 0 {
			return 0
		}
		return hour - int64(time.Duration(d).Seconds())
	}
	if err := ix.store.Prune(ctx, ix.lease, before(keep.Trades), before(keep.MinuteCandles)); err != nil {
		return err
	}
	ix.pruned = hour
	return nil
}
