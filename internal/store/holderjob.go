package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// HolderJob reads a token's past transfers, up to a final block, beside the head.
type HolderJob struct {
	Token market.Address
	// Final is the last block that the job reads; transfers after it wait in the queue.
	Final uint64
	// Next is the first block not read yet; the job is done when it is above Final.
	Next uint64
	// Broken says that a staged balance went below zero.
	Broken bool
}

// Done reports whether the job's balances can be merged.
func (j *HolderJob) Done() bool { return j.Broken || j.Next > j.Final }

type jobRow struct {
	bun.BaseModel `bun:"table:holder_jobs"`

	Chain      string `bun:",pk"`
	Token      []byte `bun:",pk"`
	FinalBlock int64
	NextBlock  int64
	Broken     bool
}

func jobToRow(chain string, j *HolderJob) jobRow {
	return jobRow{Chain: chain, Token: j.Token.Bytes(), FinalBlock: int64(j.Final), NextBlock: int64(j.Next), Broken: j.Broken}
}

func (r *jobRow) job() (HolderJob, error) {
	c := columns{table: "holder_jobs"}
	return HolderJob{
		Token: c.address(r.Token), Final: uint64(r.FinalBlock), Next: uint64(r.NextBlock), Broken: r.Broken,
	}, c.err
}

type stagingRow struct {
	bun.BaseModel `bun:"table:holder_staging"`

	Chain   string `bun:",pk"`
	Token   []byte `bun:",pk"`
	Account []byte `bun:",pk"`
	Amount  []byte
}

// TokensToBackfill lists tokens whose holders wait for a job that does not exist yet.
func (s *Store) TokensToBackfill(ctx context.Context, chain string) ([]market.Token, error) {
	var rows []tokenRow
	err := s.write.NewSelect().Model(&rows).Where("chain = ? AND holders_status = 'indexing'", chain). // as its index has it
														Where("NOT EXISTS (SELECT 1 FROM holder_jobs j WHERE j.chain = token_row.chain AND j.token = token_row.mint)").
														Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: list tokens without holders: %w", err)
	}
	return rowsTo(rows, (*tokenRow).token)
}

// HolderJobs lists a chain's jobs.
func (s *Store) HolderJobs(ctx context.Context, chain string) ([]HolderJob, error) {
	var rows []jobRow
	if err := s.write.NewSelect().Model(&rows).Where("chain = ?", chain).Order("token").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: list holder jobs: %w", err)
	}
	return rowsTo(rows, (*jobRow).job)
}

// SaveHolderJob writes a job's cursor together with the balances (absolute) that it arrived at.
func (s *Store) SaveHolderJob(ctx context.Context, l *Lease, j *HolderJob, staged map[market.Address]market.Amount) error {
	return s.inTransaction(ctx, func(tx *transaction) error {
		if err := s.fenced(ctx, tx, l, "lease_holder = lease_holder"); err != nil {
			return err
		}
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

// ExcludedAccounts lists the accounts of a token that don't count as holders.
func (s *Store) ExcludedAccounts(ctx context.Context, chain string, token market.Address) ([]market.Address, error) {
	var rows []balanceRow
	err := s.write.NewSelect().Model(&rows).Where("chain = ? AND token = ? AND excluded = ?", chain, token.Bytes(), true).
		Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read excluded accounts: %w", err)
	}
	out := make([]market.Address, 0, len(rows))
	for i := range rows {
		k, _, err := rows[i].balance()
		if err != nil {
			return nil, err
		}
		out = append(out, k.Account)
	}
	return out, nil
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
	for i := range rows {
		if err := note(u, rows[i], true); err != nil {
			return err
		}
	}
	return remove(ctx, tx, rows)
}
