package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// UnsureBlock is a block within the undo horizon for whose logs one endpoint alone vouches.
type UnsureBlock struct {
	market.Header
	// LogsHash is the digest of the logs with which the block was committed.
	LogsHash []byte
}

// UnsureBlocks lists the remembered blocks that rest on one endpoint's word, oldest first. Blocks of before the column aren't among
// them: nothing is known of their logs.
func (s *Store) UnsureBlocks(ctx context.Context, chain string) ([]UnsureBlock, error) {
	var rows []blockRow
	if err := s.write.NewSelect().Model(&rows).Where("chain = ? AND logs_hash IS NOT NULL", chain).Order("number").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the blocks of one endpoint's word: %w", err)
	}
	return rowsTo(rows, func(r *blockRow) (UnsureBlock, error) {
		h, err := r.header()
		return UnsureBlock{h, r.LogsHash}, err
	})
}

// forgetWords drops the digests of blocks that two endpoints vouch for by now.
func forgetWords(ctx context.Context, tx *transaction, chain string, blocks []uint64) error {
	if len(blocks) == 0 {
		return nil
	}
	numbers := make([]int64, len(blocks))
	for i, b := range blocks {
		numbers[i] = int64(b)
	}
	_, err := tx.NewRaw("UPDATE blocks SET logs_hash = NULL WHERE chain = ? AND number IN (?)", chain, bun.List(numbers)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("database: note which blocks are sure: %w", err)
	}
	return nil
}
