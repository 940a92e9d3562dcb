package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// HolderJob reads a token's past transfers beside the head.
type HolderJob struct {
	Token market.Address
	// Final is the last block that the job reads, beyond the reach of reorgs; transfers after it wait in the queue.
	Final uint64
	// Next is the first block not read yet; the job is done when it is above Final.
	Next uint64
	// Broken says that the job has no result: a staged balance went below zero, or a recount wasn't proven.
	Broken  bool
	Recount RecountStep
}

// Done reports whether the job's balances can be merged, or there will be none.
func (j *HolderJob) Done() bool {
	return j.Broken || j.Next > j.Final && (j.Recount == NoRecount || j.Recount == RecountProven)
}

type jobRow struct {
	bun.BaseModel `bun:"table:holder_jobs"`

	Chain      string `bun:",pk"`
	Token      []byte `bun:",pk" image:"address"`
	FinalBlock int64
	NextBlock  int64
	Broken     bool
	Recount    string `image:"later"`
}

func jobToRow(chain string, j *HolderJob) jobRow {
	return jobRow{
		Chain: chain, Token: j.Token.Bytes(), FinalBlock: int64(j.Final), NextBlock: int64(j.Next), Broken: j.Broken, Recount: string(j.Recount),
	}
}

func (r *jobRow) job() (HolderJob, error) {
	c := columns{table: "holder_jobs"}
	return HolderJob{
		Token: c.address(r.Token), Final: uint64(r.FinalBlock), Next: uint64(r.NextBlock), Broken: r.Broken,
		Recount: RecountStep(r.Recount),
	}, c.err
}

type stagingRow struct {
	bun.BaseModel `bun:"table:holder_staging"`

	Chain   string `bun:",pk"`
	Token   []byte `bun:",pk" image:"address"`
	Account []byte `bun:",pk" image:"address"`
	Amount  []byte
}

// HolderGap is a token whose holders wait for a job that doesn't exist yet.
type HolderGap struct {
	Token market.Address
	// First is the first block that mentions the token: nothing is queued from before it.
	First uint64
	// Since is the block from which on every transfer is queued: the first, or that of the launch for which alone a token is
	// followed that was known before.
	Since uint64
}

// HolderGaps lists up to limit tokens without a job whose transfers are queued since a final block: no reorg moves its
// beginning any more. only names the tokens that are looked at; nil is all.
func (s *Store) HolderGaps(ctx context.Context, chain string, final uint64, only []market.Address, limit int64) ([]HolderGap, error) {
	if only != nil && len(only) == 0 {
		return nil, nil
	}
	const since = "CASE WHEN l.block > t.first_block THEN l.block ELSE t.first_block END"
	q := s.write.NewSelect().TableExpr("tokens t").Join("LEFT JOIN launches l ON l.chain = t.chain AND l.mint = t.mint").
		ColumnExpr("t.mint AS token, t.first_block AS first, "+since+" AS since").
		Where("t.chain = ? AND t.holders_status = 'indexing'", chain). // as its index has it
		Where("NOT EXISTS (SELECT 1 FROM holder_jobs j WHERE j.chain = t.chain AND j.token = t.mint)").
		Where(since+" <= ?", int64(final)).Order("t.mint").Limit(limit)
	if only != nil {
		q = q.Where("t.mint IN (?)", among(s.postgres != nil, addressKeys(only)))
	}
	var rows []struct {
		Token        []byte
		First, Since int64
	}
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: list tokens without holders: %w", err)
	}
	out := make([]HolderGap, len(rows))
	c := columns{table: "tokens"}
	for i, r := range rows {
		out[i] = HolderGap{Token: c.address(r.Token), First: uint64(r.First), Since: uint64(r.Since)}
	}
	return out, c.err
}

// QueuedBefore walks the waiting transfers of some tokens up to the block before a chain's newest one, of each token the oldest
// first, and gives that newest block. All of it is of one moment.
func (s *Store) QueuedBefore(ctx context.Context, chain string, tokens []market.Address, each func(*market.QueuedTransfer)) (market.Header, error) {
	marks, args := list(addressKeys(tokens))
	rows, err := s.ask(ctx, "SELECT c.number, c.hash, c.parent, c.block_time, q.token, q.block, q.seq, q.sender, q.recipient, q.amount "+
		"FROM chains c LEFT JOIN holder_queue q ON q.chain = c.id AND q.block < c.number AND q.token IN ("+marks+") "+
		"WHERE c.id = ? ORDER BY q.token, q.block, q.seq", append(args, chain)...)
	if err != nil {
		return market.Header{}, fmt.Errorf("database: read queued transfers: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var b blockRow
	for rows.Next() {
		var q queuedRow
		var block, seq sql.NullInt64
		if err := rows.Scan(&b.Number, &b.Hash, &b.Parent, &b.Time, &q.Token, &block, &seq, &q.Sender, &q.Recipient, &q.Amount); err != nil {
			return market.Header{}, fmt.Errorf("database: read queued transfers: %w", err)
		}
		if !block.Valid {
			continue // nothing waits
		}
		q.Block, q.Seq = block.Int64, seq.Int64
		t, err := q.queued()
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

// HolderJobs lists a chain's jobs.
func (s *Store) HolderJobs(ctx context.Context, chain string) ([]HolderJob, error) {
	var rows []jobRow
	if err := s.write.NewSelect().Model(&rows).Where("chain = ?", chain).Order("token").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: list holder jobs: %w", err)
	}
	return rowsTo(rows, (*jobRow).job)
}

// BeginHolderJobs writes new jobs.
func (s *Store) BeginHolderJobs(ctx context.Context, l *Lease, jobs []HolderJob) error {
	return s.writeUnderLease(ctx, l, func(tx *transaction, _ *position) error {
		rows := make([]jobRow, len(jobs))
		for i := range jobs {
			rows[i] = jobToRow(l.Chain, &jobs[i])
		}
		return upsert(ctx, tx, rows)
	})
}

// SaveHolderJob writes a job's cursor together with the balances (absolute) that it arrived at.
func (s *Store) SaveHolderJob(ctx context.Context, l *Lease, j *HolderJob, staged map[market.Address]market.Amount) error {
	return s.writeUnderLease(ctx, l, func(tx *transaction, _ *position) error {
		var set, gone []stagingRow
		for account, amount := range staged {
			row := stagingRow{Chain: l.Chain, Token: j.Token.Bytes(), Account: account.Bytes(), Amount: bytesOf(&amount)}
			if amount.IsZero() {
				gone = append(gone, row)
			} else {
				set = append(set, row)
			}
		}
		if err := upsert(ctx, tx, set); err != nil {
			return err
		}
		if err := remove(ctx, tx, gone); err != nil {
			return err
		}
		return upsert(ctx, tx, []jobRow{jobToRow(l.Chain, j)})
	})
}

// Staged reads the balances that a job has arrived at, for some accounts or, with none named, for all.
func (s *Store) Staged(ctx context.Context, chain string, token market.Address, accounts []market.Address,
) (map[market.Address]market.Amount, error) {
	var rows []stagingRow
	var err error
	if accounts == nil {
		err = s.write.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).Scan(ctx)
	} else {
		keys := make([]any, len(accounts))
		for i, a := range accounts {
			keys[i] = []any{token.Bytes(), a.Bytes()}
		}
		rows, err = in[stagingRow](ctx, s, chain, "(token, account)", keys)
	}
	if err != nil {
		return nil, fmt.Errorf("database: read staged balances: %w", err)
	}
	out := make(map[market.Address]market.Amount, len(rows))
	c := columns{table: "holder_staging"}
	for i := range rows {
		out[c.address(rows[i].Account)] = c.amount(rows[i].Amount)
	}
	return out, c.err
}

// Queued lists a token's waiting transfers, oldest first.
func (s *Store) Queued(ctx context.Context, chain string, token market.Address) ([]market.QueuedTransfer, error) {
	var rows []queuedRow
	err := s.write.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).
		Order("block", "seq").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read queued transfers: %w", err)
	}
	return rowsTo(rows, (*queuedRow).queued)
}

// dropHolderJob removes a merged job, its staged balances and its queue, each of them restorable.
func dropHolderJob(ctx context.Context, tx *transaction, u *undoLog, chain string, token market.Address) error {
	if err := dropNoted[jobRow](ctx, tx, u, chain, token); err != nil {
		return err
	}
	if err := dropNoted[stagingRow](ctx, tx, u, chain, token); err != nil {
		return err
	}
	return dropNoted[queuedRow](ctx, tx, u, chain, token)
}

func dropNoted[R any](ctx context.Context, tx *transaction, u *undoLog, chain string, token market.Address) error {
	var rows []R
	if err := tx.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).Scan(ctx); err != nil {
		return fmt.Errorf("database: read what a holder backfill leaves: %w", err)
	}
	for piece := range slices.Chunk(rows, pieceRows) {
		for i := range piece {
			if err := note(u, piece[i], true); err != nil {
				return err
			}
		}
		if err := remove(ctx, tx, piece); err != nil {
			return err
		}
	}
	return nil
}
