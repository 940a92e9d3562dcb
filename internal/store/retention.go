package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

// pruneRows is how many rows of a table one call of Prune deletes: few enough that a block that comes meanwhile hardly
// waits.
const pruneRows = 5_000

// Pruning says what a chain doesn't keep.
type Pruning struct {
	// TradesBefore and MinutesBefore are the times (unix seconds) before which trades and 1-minute candles go; 0 keeps
	// all.
	TradesBefore, MinutesBefore int64
	// StreamBefore is the same for items of the stream, of all chains.
	StreamBefore int64
	// Final is the block above which no trade goes, whatever its time: what goes can't be had again.
	Final uint64
}

// Prune deletes some of what p lets go, the oldest first, in one transaction of bounded size; more says that there may
// be more. In PostgreSQL whole partitions go first.
func (s Upkeep) Prune(ctx context.Context, l *Lease, p Pruning) (more bool, err error) {
	// Where somebody reads from them just now their rows go one by one, as others do.
	if err := database.Interruption(ctx, s.emptyPartitions(ctx, l, p)); err != nil && !errors.Is(err, database.ErrLocked) {
		return false, fmt.Errorf("database: empty partitions of %s: %w", l.Chain, err)
	}
	err = s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		trades, err := pruneTrades(ctx, tx, l.Chain, p)
		if err != nil {
			return fmt.Errorf("database: prune the trades of %s: %w", l.Chain, err)
		}
		minutes, err := pruneMinutes(ctx, tx, l.Chain, p)
		if err != nil {
			return fmt.Errorf("database: prune the candles of %s: %w", l.Chain, err)
		}
		items, err := pruneStream(ctx, tx, p.StreamBefore)
		if err != nil {
			return fmt.Errorf("database: prune the stream of %s: %w", l.Chain, err)
		}
		more = trades || minutes || items
		return nil
	})
	return more, err
}

func pruneTrades(ctx context.Context, tx *database.Transaction, chain string, p Pruning) (more bool, err error) {
	if p.TradesBefore <= 0 {
		return false, nil
	}
	first, err := firstTradeBlock(ctx, tx, chain, p.TradesBefore)
	if err != nil {
		return false, err
	}
	first = min(first, int64(p.Final)+1)
	// A block's trades go together, so that the last block of a piece may make it longer.
	var piece int64
	err = tx.NewRaw("SELECT block + 1 FROM trades WHERE chain = ? AND block < ? ORDER BY block, log_index LIMIT 1 OFFSET ?", chain, first,
		pruneRows-1).Scan(ctx, &piece)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		piece = first
	case err != nil:
		return false, err
	}
	_, err = tx.NewRaw("DELETE FROM trades WHERE chain = ? AND block < ?", chain, piece).Exec(ctx)
	return piece < first, err
}

func pruneMinutes(ctx context.Context, tx *database.Transaction, chain string, p Pruning) (more bool, err error) {
	if p.MinutesBefore <= 0 {
		return false, nil
	}
	res, err := tx.NewRaw("DELETE FROM candles WHERE chain = ? AND (pool, interval_s, open_at) IN (SELECT pool, interval_s, open_at "+
		"FROM candles WHERE chain = ? AND interval_s = 60 AND open_at < ? ORDER BY open_at LIMIT ?)",
		chain, chain, p.MinutesBefore, pruneRows).Exec(ctx)
	if err != nil {
		return false, err
	}
	gone, err := res.RowsAffected()
	return gone == pruneRows, err
}

// emptyPartitions empties the closed partitions of which p lets every row go. They stay, without rows: whatever comes late has its place.
func (s Upkeep) emptyPartitions(ctx context.Context, l *Lease, p Pruning) error {
	if !s.db.IsPostgres() {
		return nil
	}
	var gone []string
	trades, err := s.expired(ctx, schema.PartitionOf("trades", l.Chain), p.TradesBefore)
	if err != nil {
		return err
	}
	if trades, err = s.withRows(ctx, trades); err != nil { // those without may be joined meanwhile, and gone then
		return err
	}
	for _, name := range trades {
		var final bool
		err := s.db.Write.NewRaw("SELECT COALESCE((SELECT max(block) FROM ? WHERE chain = ?), 0) <= ?", bun.Ident(name), l.Chain, int64(p.Final)).Scan(ctx, &final)
		if err != nil {
			return err
		}
		if final {
			gone = append(gone, name)
		}
	}
	candles, err := s.expired(ctx, schema.PartitionOf("candles", l.Chain), p.MinutesBefore)
	if err != nil {
		return err
	}
	minutes := make([]string, len(candles))
	for i, name := range candles {
		minutes[i] = name + schema.MinutesOnly
	}
	if minutes, err = s.withRows(ctx, minutes); err != nil {
		return err
	}
	gone = append(gone, minutes...)
	for _, name := range gone {
		err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
			_, err := tx.NewRaw(schema.SetBriefLock+"; TRUNCATE ?", bun.Ident(name)).Exec(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expired lists the partitions by time of a table that end before a time.
func (s Upkeep) expired(ctx context.Context, table string, before int64) (names []string, err error) {
	if before <= 0 {
		return nil, nil
	}
	all, err := schema.TimedPartitions(ctx, s.db.Write, table)
	for _, t := range all {
		if t.Until != 0 && t.Until <= before {
			names = append(names, t.Name)
		}
	}
	return names, err
}

// withRows finds out which of some tables exist and have rows.
func (s Upkeep) withRows(ctx context.Context, names []string) (filled []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	list := make([]any, len(names))
	for i, n := range names {
		list[i] = n
	}
	err = s.db.Write.NewRaw("SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() "+
		"AND c.relname IN (?) AND pg_relation_size(c.oid) > 0 ORDER BY c.relname", database.Among(true, list)).Scan(ctx, &filled)
	return filled, err
}
