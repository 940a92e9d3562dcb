package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

const (
	// prunedPayments is over how many numbers of blocks one commit deletes rows of payments that aren't needed any more.
	prunedPayments = 5_000
	// paymentsAtOnce is how many blocks' rows of payments are written at once: a block may have 1,000 payments of 56 bytes.
	paymentsAtOnce = 200
)

// writePayments writes the rows of the blocks that were read with their transactions, and deletes some of those that aren't needed any more.
func writePayments(ctx context.Context, tx *database.Transaction, chain string, ch *market.Changes) error {
	for piece := range slices.Chunk(ch.Payments, paymentsAtOnce) {
		rows := make([]model.Payments, len(piece))
		for i := range piece {
			var err error
			if rows[i], err = model.OfPayments(chain, &piece[i]); err != nil {
				return err
			}
		}
		if err := database.Upsert(ctx, tx, rows); err != nil { // a binary of before may have left a row of another branch
			return err
		}
	}
	if !ch.HasPaymentsFrom {
		return nil
	}
	_, err := tx.NewRaw("DELETE FROM payments WHERE chain = ? AND block < ? AND block < ? + (SELECT min(block) FROM payments WHERE chain = ?)",
		chain, int64(ch.PaymentsFrom), prunedPayments, chain).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: delete payments that aren't needed: %w", err)
	}
	return nil
}

// Payments walks over up to limit blocks of a chain that were read with their transactions, from one number on.
func (s *Store) Payments(ctx context.Context, chain string, from uint64, limit int) iter.Seq2[market.BlockPayments, error] {
	q := s.db.Write.NewRaw("SELECT block, hash, time, body, firsts FROM payments WHERE chain = ? AND block >= ? ORDER BY block LIMIT ?", chain, int64(from), limit)
	return database.Walk(ctx, s.db.Write, q, "payments", func(rows *sql.Rows) (market.BlockPayments, error) {
		var r model.Payments
		if err := rows.Scan(&r.Block, &r.Hash, &r.Time, &r.Body, &r.Firsts); err != nil {
			return market.BlockPayments{}, err
		}
		return r.Value()
	})
}

// DropStrayPayments deletes the rows of payments of blocks that the index hasn't. Only a binary that knows no payments leaves any, when it takes blocks
// back.
func (s *Store) DropStrayPayments(ctx context.Context, l *Lease) error {
	const stray = "chain = ? AND (block > (SELECT number FROM chains WHERE id = ?) OR " +
		"block IN (SELECT b.number FROM blocks b JOIN payments p ON p.chain = b.chain AND p.block = b.number WHERE b.chain = ? AND p.hash <> b.hash))"
	args := []any{l.Chain, l.Chain, l.Chain}
	var found bool
	if err := s.db.Write.NewRaw("SELECT EXISTS (SELECT 1 FROM payments WHERE "+stray+")", args...).Scan(ctx, &found); err != nil {
		return fmt.Errorf("database: look for stray payments: %w", err)
	}
	if !found {
		return nil
	}
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		if _, err := tx.NewRaw("DELETE FROM payments WHERE "+stray, args...).Exec(ctx); err != nil {
			return fmt.Errorf("database: delete stray payments: %w", err)
		}
		return nil
	})
}
