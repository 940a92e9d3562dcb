package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// UnsureBlock is a block within the undo horizon for whose logs one endpoint alone vouches.
type UnsureBlock struct {
	market.Header
	// LogsHash is the digest of the logs with which the block was committed.
	LogsHash []byte
}

// UnsureBlocks lists the remembered blocks that rest on one endpoint's word, oldest first. Blocks of before the column aren't among
// them: nothing is known of their logs.
func (s Facts) UnsureBlocks(ctx context.Context, chain string) ([]UnsureBlock, error) {
	var rows []blockRow
	if err := s.Write.NewSelect().Model(&rows).Where("chain = ? AND logs_hash IS NOT NULL", chain).Order("number").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the blocks of one endpoint's word: %w", err)
	}
	return rowsTo(rows, func(r *blockRow) (UnsureBlock, error) {
		h, err := r.header()
		return UnsureBlock{h, r.LogsHash}, err
	})
}

// writeUnsure notes which of a commit's facts are unsure, and which earlier facts and blocks are sure by now. rows are those of its facts.
func writeUnsure(ctx context.Context, tx *database.Transaction, chain string, c *Commit, rows []factRow) error {
	if err := forgetWords(ctx, tx, chain, c.Sure); err != nil {
		return err
	}
	sure, err := factsToRows(chain, c.SureFacts)
	if err != nil {
		return err
	}
	for i := range sure {
		f := &sure[i]
		_, err := tx.NewRaw("DELETE FROM unsure_facts WHERE chain = ? AND block = ? AND kind = ? AND ref = ? AND hash = ?", chain, f.Block, f.Kind,
			f.Ref, f.Hash).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: note which facts are sure: %w", err)
		}
	}
	var unsure []unsureFactRow
	for i := range rows {
		if r := &rows[i]; c.Facts[i].Unsure {
			unsure = append(unsure, unsureFactRow{Chain: chain, Block: r.Block, Kind: r.Kind, Ref: r.Ref, Hash: r.Hash})
		}
	}
	return database.Upsert(ctx, tx, unsure)
}

// Unsure lists the newest facts of a chain that no two endpoints gave, up to limit, oldest first.
func (s Facts) Unsure(ctx context.Context, chain string, limit int) ([]StoredFact, error) {
	var rows []factRow
	err := s.Write.NewRaw("SELECT f.chain, f.block, f.kind, f.ref, f.hash, f.body FROM unsure_facts u JOIN facts f ON f.chain = u.chain AND "+
		"f.block = u.block AND f.kind = u.kind AND f.ref = u.ref AND f.hash = u.hash WHERE u.chain = ? ORDER BY u.block DESC, u.kind, u.ref LIMIT ?",
		chain, limit).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("database: read unsure facts: %w", err)
	}
	slices.Reverse(rows)
	return rowsTo(rows, func(r *factRow) (StoredFact, error) {
		f, err := r.fact()
		f.Unsure = true
		return f, err
	})
}

// forgetWords drops the digests of blocks that two endpoints vouch for by now.
func forgetWords(ctx context.Context, tx *database.Transaction, chain string, blocks []uint64) error {
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
