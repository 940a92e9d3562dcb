package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
)

// Prune deletes a chain's trades before one time and its 1-minute candles before another (unix seconds; 0 keeps all).
// Both must lie far below the undo horizon.
func (s *Store) Prune(ctx context.Context, l *Lease, tradesBefore, minutesBefore int64) error {
	return s.writeUnderLease(ctx, l, func(tx *transaction, _ *position) error {
		if tradesBefore > 0 {
			first, err := firstTradeBlock(ctx, tx, l.Chain, tradesBefore)
			if err != nil {
				return err
			}
			if _, err := tx.NewRaw("DELETE FROM trades WHERE chain = ? AND block < ?", l.Chain, first).Exec(ctx); err != nil {
				return fmt.Errorf("database: prune the trades of %s: %w", l.Chain, err)
			}
		}
		if minutesBefore > 0 {
			_, err := tx.NewRaw("DELETE FROM candles WHERE chain = ? AND interval_s = 60 AND open_at < ?", l.Chain, minutesBefore).
				Exec(ctx)
			if err != nil {
				return fmt.Errorf("database: prune the candles of %s: %w", l.Chain, err)
			}
		}
		return nil
	})
}

// firstTradeBlock is the first block with a trade of at least time t, or the one after the last trade. Trades are
// ordered by block and time rises with it, so that a bisection by the primary key spares an index on time.
func firstTradeBlock(ctx context.Context, db bun.IDB, chain string, t int64) (int64, error) {
	var low, high sql.NullInt64
	err := db.NewRaw("SELECT (SELECT min(block) FROM trades WHERE chain = ?), "+
		"(SELECT max(block) + 1 FROM trades WHERE chain = ?)", chain, chain).Scan(ctx, &low, &high)
	if err != nil {
		return 0, fmt.Errorf("database: find the first trade of a time: %w", err)
	}
	for low.Int64 < high.Int64 {
		mid := low.Int64 + (high.Int64-low.Int64)/2
		var block, time int64
		err := db.NewRaw("SELECT block, time FROM trades WHERE chain = ? AND block >= ? ORDER BY block LIMIT 1", chain, mid).
			Scan(ctx, &block, &time)
		if errors.Is(err, sql.ErrNoRows) { // a reorg took them meanwhile
			high.Int64 = mid
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("database: find the first trade of a time: %w", err)
		}
		if time >= t {
			high.Int64 = mid
		} else {
			low.Int64 = block + 1
		}
	}
	return high.Int64, nil
}
