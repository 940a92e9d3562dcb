package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// HolderGap is a token whose holders wait for a job that doesn't exist yet.
type HolderGap struct {
	Token market.Address
	// First is the first block that mentions the token: nothing is queued from before it.
	First uint64
	// Since is the block from which on every transfer is queued: the first block, or the block of the launch for which alone a token is
	// followed that was known before.
	Since uint64
}

// Gaps lists up to limit tokens without a job whose transfers are queued since a final block: no reorg moves its
// beginning any more. only names the tokens that are looked at; nil is all.
func (s Jobs) Gaps(ctx context.Context, chain string, final uint64, only []market.Address, limit int64) ([]HolderGap, error) {
	if only != nil && len(only) == 0 {
		return nil, nil
	}
	const since = "CASE WHEN l.block > t.first_block THEN l.block ELSE t.first_block END"
	q := s.db.Write.NewSelect().TableExpr("tokens t").Join("LEFT JOIN launches l ON l.chain = t.chain AND l.mint = t.mint").
		ColumnExpr("t.mint AS token, t.first_block AS first, "+since+" AS since").
		Where("t.chain = ? AND t.holders_status = 'indexing'", chain). // as its index has it
		Where("NOT EXISTS (SELECT 1 FROM holder_jobs j WHERE j.chain = t.chain AND j.token = t.mint)").
		Where(since+" <= ?", int64(final)).Order("t.mint").Limit(limit)
	if only != nil {
		q = q.Where("t.mint IN (?)", database.Among(s.db.IsPostgres(), addressKeys(only)))
	}
	var rows []struct {
		Token        []byte
		First, Since int64
	}
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list tokens without holders: %w", err)
	}
	out := make([]HolderGap, len(rows))
	c := model.Columns{Table: "tokens"}
	for i, r := range rows {
		out[i] = HolderGap{Token: c.Address(r.Token), First: uint64(r.First), Since: uint64(r.Since)}
	}
	return out, c.Err
}

// QueuedBefore walks the waiting transfers of some tokens up to the block before a chain's newest one, of each token the oldest
// first, and gives that newest block. All of it is of one moment.
func (s Jobs) QueuedBefore(ctx context.Context, chain string, tokens []market.Address, each func(*market.QueuedTransfer)) (market.Header, error) {
	marks, args := database.List(addressKeys(tokens))
	rows, err := s.db.Ask(ctx, "SELECT c.number, c.hash, c.parent, c.block_time, q.token, q.block, q.seq, q.sender, q.recipient, q.amount "+
		"FROM chains c LEFT JOIN holder_queue q ON q.chain = c.id AND q.block < c.number AND q.token IN ("+marks+") "+
		"WHERE c.id = ? ORDER BY q.token, q.block, q.seq", append(args, chain)...)
	if err != nil {
		return market.Header{}, fmt.Errorf("database: read queued transfers: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var b blockRow
	for rows.Next() {
		var q model.Queued
		var block, seq sql.NullInt64
		if err := rows.Scan(&b.Number, &b.Hash, &b.Parent, &b.Time, &q.Token, &block, &seq, &q.Sender, &q.Recipient, &q.Amount); err != nil {
			return market.Header{}, fmt.Errorf("database: read queued transfers: %w", err)
		}
		if !block.Valid {
			continue // nothing waits
		}
		q.Block, q.Seq = block.Int64, seq.Int64
		t, err := q.Value()
		if err != nil {
			return market.Header{}, err
		}
		each(&t)
	}
	if err := rows.Err(); err != nil {
		return market.Header{}, fmt.Errorf("database: read queued transfers: %w", err)
	}
	return b.header()
}

// List lists a chain's jobs that haven't ended.
func (s Jobs) List(ctx context.Context, chain string) ([]market.HolderJob, error) {
	return s.list(ctx, chain, "step <> ?", market.MergeEnded)
}

func (s Jobs) list(ctx context.Context, chain, where string, args ...any) ([]market.HolderJob, error) {
	var rows []model.Job
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ?", chain).Where(where, args...).Order("token").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: list holder jobs: %w", err)
	}
	return model.To(rows, (*model.Job).Value)
}

// Begin writes new jobs.
func (s Jobs) Begin(ctx context.Context, l *Lease, jobs []market.HolderJob) error {
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		rows := make([]model.Job, len(jobs))
		for i := range jobs {
			rows[i] = model.OfJob(l.Chain, &jobs[i])
		}
		return database.Upsert(ctx, tx, rows)
	})
}

// ErrJobChanged means that a job isn't as it was read: a reorg or a changed chain document took it back, or the loop took it over.
var ErrJobChanged = errors.New("the holder job was changed meanwhile")

// HolderProgress is what a step beside the head makes of a job.
type HolderProgress struct {
	Before, After market.HolderJob
	// Staged are the balances (absolute) that the step arrived at.
	Staged map[market.Address]market.Amount
	// Taken says that the balances contain the waiting transfers up to After's: these go.
	Taken bool
}

// Save writes what a step made of a job. ErrJobChanged leaves everything as it was.
func (s Jobs) Save(ctx context.Context, l *Lease, p *HolderProgress) error {
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		if err := isAsBefore(ctx, tx, l.Chain, &p.Before); err != nil {
			return err
		}
		var set, gone []model.Staging
		for account, amount := range p.Staged {
			row := model.Staging{Chain: l.Chain, Token: p.After.Token.Bytes(), Account: account.Bytes(), Amount: model.BytesOf(&amount)}
			if amount.IsZero() {
				gone = append(gone, row)
			} else {
				set = append(set, row)
			}
		}
		// Rows that are written in the order of their key are written several times as fast.
		slices.SortFunc(set, func(a, b model.Staging) int { return bytes.Compare(a.Account, b.Account) })
		if err := database.Upsert(ctx, tx, set); err != nil {
			return err
		}
		if err := database.Remove(ctx, tx, gone); err != nil {
			return err
		}
		if p.Taken {
			if _, err := tx.NewRaw("DELETE FROM holder_queue WHERE chain = ? AND token = ? AND (block, seq) <= (?, ?)", l.Chain,
				p.After.Token.Bytes(), int64(p.After.QueueBlock), int64(p.After.QueueSeq)).Exec(ctx); err != nil {
				return fmt.Errorf("database: drop transfers that were taken out of the queue: %w", err)
			}
		}
		return database.Upsert(ctx, tx, []model.Job{model.OfJob(l.Chain, &p.After)})
	})
}

// isAsBefore fails with ErrJobChanged where a job isn't as it was read.
func isAsBefore(ctx context.Context, tx *database.Transaction, chain string, j *market.HolderJob) error {
	var row model.Job
	err := tx.NewSelect().Model(&row).Where("chain = ? AND token = ?", chain, j.Token.Bytes()).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrJobChanged
	}
	if err != nil {
		return fmt.Errorf("database: read a holder job: %w", err)
	}
	is, err := row.Value()
	if err == nil && is != *j {
		err = ErrJobChanged
	}
	return err
}
