package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Staged reads the balances that a job has arrived at, of some accounts; one without a balance is left out.
func (s Jobs) Staged(ctx context.Context, chain string, token market.Address, accounts []market.Address,
) (map[market.Address]market.Amount, error) {
	keys := make([]any, len(accounts))
	for i, a := range accounts {
		keys[i] = []any{chain, token.Bytes(), a.Bytes()}
	}
	rows, err := in[model.Staging](ctx, s.rows, chain, "(chain, token, account)", keys)
	if err != nil {
		return nil, fmt.Errorf("database: read staged balances: %w", err)
	}
	list, err := model.To(rows, (*model.Staging).Value)
	out := make(map[market.Address]market.Amount, len(list))
	for _, b := range list {
		out[b.Account] = b.Amount
	}
	return out, err
}

// StagedFrom reads up to limit staged balances, from an account on in the order of the accounts' bytes; with none, from the first.
func (s Jobs) StagedFrom(ctx context.Context, chain string, token, from market.Address, limit int) ([]market.AccountBalance, error) {
	return s.stagedWhere(ctx, chain, token, "account >= ?", from, limit)
}

// StagedAfter is StagedFrom without the account itself.
func (s Jobs) StagedAfter(ctx context.Context, chain string, token, after market.Address, limit int) ([]market.AccountBalance, error) {
	return s.stagedWhere(ctx, chain, token, "account > ?", after, limit)
}

func (s Jobs) stagedWhere(ctx context.Context, chain string, token market.Address, where string, account market.Address, limit int,
) ([]market.AccountBalance, error) {
	var rows []model.Staging
	err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).Where(where, orEmpty(account)).
		Order("account").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read staged balances: %w", err)
	}
	return model.To(rows, (*model.Staging).Value)
}

// orEmpty is an account's bytes, and of none a key below all others.
func orEmpty(a market.Address) []byte { return append([]byte{}, a.Bytes()...) }

// EachStaged walks a job's staged balances without holding more than one, in no order.
func (s Jobs) EachStaged(ctx context.Context, chain string, token market.Address, each func(market.Amount)) error {
	rows, err := s.db.Read.NewSelect().Model((*model.Staging)(nil)).Column("amount").Where("chain = ? AND token = ?", chain, token.Bytes()).Rows(ctx)
	if err != nil {
		return fmt.Errorf("database: read staged balances: %w", err)
	}
	defer func() { _ = rows.Close() }()
	c := model.Columns{Table: "holder_staging"}
	for rows.Next() {
		var amount []byte
		if err := rows.Scan(&amount); err != nil {
			return fmt.Errorf("database: read staged balances: %w", err)
		}
		each(c.Amount(amount))
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("database: read staged balances: %w", err)
	}
	return c.Err
}

// Unmerged is a slice of what a merge takes over: the next accounts in the order of their bytes.
type Unmerged struct {
	// Staged are the balances that the job arrived at; accounts of which it found nothing have nought.
	Staged []market.AccountBalance
	// Rows are the balances that the database has of these accounts so far.
	Rows map[market.BalanceKey]market.Balance
	// Whole says that no account comes after these.
	Whole bool
}

// Unmerged reads up to limit accounts behind a merge's cursor: accounts with a staged balance, and accounts that have a row of the token already. It
// reads through the writer's connection, so that it sees the last commit.
func (s Jobs) Unmerged(ctx context.Context, chain string, token, cursor market.Address, limit int) (Unmerged, error) {
	out := Unmerged{Rows: map[market.BalanceKey]market.Balance{}}
	staged, err := s.stagedWhere(ctx, chain, token, "account > ?", cursor, limit)
	if err != nil {
		return out, err
	}
	var rows []model.Balance
	err = s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND token = ? AND account > ?", chain, token.Bytes(), orEmpty(cursor)).
		Order("account").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return out, fmt.Errorf("database: read balances: %w", err)
	}
	out.Whole = len(staged) < limit && len(rows) < limit
	has := make(map[market.Address]bool, len(staged))
	for _, b := range staged {
		has[b.Account] = true
	}
	out.Staged = staged
	for i := range rows {
		k, b, err := rows[i].Value()
		if err != nil {
			return out, err
		}
		out.Rows[k] = b
		if !has[k.Account] {
			out.Staged = append(out.Staged, market.AccountBalance{Account: k.Account})
		}
	}
	slices.SortFunc(out.Staged, func(a, b market.AccountBalance) int { return bytes.Compare(a.Account.Bytes(), b.Account.Bytes()) })
	// Of either kind everything up to the limit-th account is known, whatever kind that is.
	if len(out.Staged) > limit {
		for _, b := range out.Staged[limit:] {
			delete(out.Rows, market.BalanceKey{Token: token, Account: b.Account})
		}
		out.Staged, out.Whole = out.Staged[:limit], false
	}
	return out, nil
}

// Queued lists up to limit of a token's waiting transfers, oldest first, from those behind a block's seq-th on.
func (s Jobs) Queued(ctx context.Context, chain string, token market.Address, block uint64, seq uint32, limit int,
) ([]market.QueuedTransfer, error) {
	return s.queued(ctx, chain, token, block, seq, limit, "TRUE")
}

// QueuedForGood is Queued without the blocks that a rewind can take back.
func (s Jobs) QueuedForGood(ctx context.Context, chain string, token market.Address, block uint64, seq uint32, limit int,
) ([]market.QueuedTransfer, error) {
	return s.queued(ctx, chain, token, block, seq, limit, "block <= (SELECT min(number) FROM blocks WHERE chain = ?)", chain)
}

func (s Jobs) queued(ctx context.Context, chain string, token market.Address, block uint64, seq uint32, limit int, where string, args ...any,
) ([]market.QueuedTransfer, error) {
	var rows []model.Queued
	err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).
		Where("(block, seq) > (?, ?)", int64(min(block, math.MaxInt64)), int64(seq)).Where(where, args...).
		Order("block", "seq").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read queued transfers: %w", err)
	}
	return model.To(rows, (*model.Queued).Value)
}

// DropEnded drops jobs whose end no reorg can take back any more, with their staged balances and what waited for them, a bounded number of
// rows at a time. It reports how many jobs are left.
func (s Jobs) DropEnded(ctx context.Context, l *Lease) (left int, err error) {
	jobs, err := s.list(ctx, l.Chain, "step = ?", market.MergeEnded)
	if err != nil || len(jobs) == 0 {
		return 0, err
	}
	var oldest sql.NullInt64 // the block to which a rewind can go at most
	if err := s.db.Write.NewRaw("SELECT min(number) FROM blocks WHERE chain = ?", l.Chain).Scan(ctx, &oldest); err != nil {
		return 0, fmt.Errorf("database: find the oldest block that is remembered: %w", err)
	}
	var over []market.Address
	for _, j := range jobs {
		if oldest.Valid && int64(j.EndedIn) <= oldest.Int64 {
			over = append(over, j.Token)
		}
	}
	left = len(jobs) - len(over)
	for some := range slices.Chunk(over, unfollowAtOnce) {
		for _, t := range [][2]string{{"holder_staging", "token, account"}, {"holder_queue", "token, block, seq"}} {
			if err := s.dropRows(ctx, l, t[0], t[1], "", some); err != nil {
				return left, err
			}
		}
		err := s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
			_, err := tx.NewRaw("DELETE FROM holder_jobs WHERE chain = ? AND step = ? AND token IN (?)", l.Chain, market.MergeEnded,
				database.Among(tx.Postgres, addressKeys(some))).Exec(ctx)
			if err != nil {
				return fmt.Errorf("database: drop holder jobs that have ended: %w", err)
			}
			return nil
		})
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// applyJobs writes how far merges have come. Tokens that are beyond a cap are remembered with the caps of now, whatever a rewind takes back.
func applyJobs(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, c *Commit) error {
	err := apply(ctx, tx, u, c.Changes.Jobs, func(k market.Address, j *market.HolderJob) model.Job {
		if j == nil {
			j = &market.HolderJob{Token: k}
		}
		return model.OfJob(chain, j)
	})
	if err != nil {
		return err
	}
	for _, ch := range c.Changes.Jobs {
		if ch.After == nil || ch.After.Step != market.MergeEnded || ch.After.Beyond == "" {
			continue
		}
		_, err := tx.NewRaw("INSERT INTO holder_recounts (chain, token, times, next_at, caps) VALUES (?, ?, 0, 0, ?) "+
			"ON CONFLICT (chain, token) DO UPDATE SET caps = excluded.caps", chain, ch.Key.Bytes(), c.Caps).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: remember that a token is beyond a cap: %w", err)
		}
	}
	return nil
}
