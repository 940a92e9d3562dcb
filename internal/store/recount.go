package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Recount is one more count of a token's holders, after a count of them was given up.
type Recount struct {
	Token market.Address
	// First is the first block that can have transfers of the token; 0 where that isn't known.
	First uint64
	// Times is how often the token's holders were counted anew, this time included.
	Times int32
	// NextAt is from when on (unix seconds) they may be again.
	NextAt int64
}

type recountRow struct {
	bun.BaseModel `bun:"table:holder_recounts"`

	Chain  string `bun:",pk"`
	Token  []byte `bun:",pk"`
	Times  int32
	NextAt int64
	Caps   string
}

// beginRecount writes the job of a recount. A rewind takes the job back, and leaves that there was one: tokens whose transfers don't tell their
// balances are not to cost more on a chain with many reorgs.
func beginRecount(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, c *Commit) error {
	r, before := c.Recount, c.Last.Number-1
	job := model.OfJob(chain, &market.HolderJob{Token: r.Token, Final: before, Next: min(r.First, before), Recount: market.RecountBegun})
	if err := add(ctx, tx, u, []model.Job{job}); err != nil {
		return err
	}
	return database.Upsert(ctx, tx, []recountRow{{Chain: chain, Token: r.Token.Bytes(), Times: r.Times, NextAt: r.NextAt, Caps: c.Caps}})
}

// dueRecount spells the condition of the index tokens_given_up. The chain is written so that SQLite can't take the primary key for as good.
const dueRecount = "SELECT t.mint, CASE WHEN t.since_creation THEN t.first_block ELSE 0 END, COALESCE(r.times, 0) FROM tokens t " +
	"LEFT JOIN holder_recounts r ON r.chain = t.chain AND r.token = t.mint " +
	"WHERE t.holders_status = 'unavailable' AND t.chain || '' = ? AND COALESCE(r.next_at, 0) <= ? " +
	"AND (t.holders_reason <> 'too_many' OR COALESCE(r.caps, '') <> ?) " +
	"AND NOT EXISTS (SELECT 1 FROM holder_jobs j WHERE j.chain = t.chain AND j.token = t.mint) "

// ofLaunches is for dueRecount, with the tokens beside launches that are followed.
const ofLaunches = "AND (t.mint IN (?) OR EXISTS (SELECT 1 FROM launches l WHERE l.chain = t.chain AND l.mint = t.mint)) "

// recountOrder is for dueRecount, whose tokens from an address on come first.
const recountOrder = "ORDER BY COALESCE(r.times, 0), t.mint < ?, t.mint LIMIT 1"

// DueRecount finds a token of a chain whose count of holders was given up and that may be counted anew at a time (unix seconds): of those that
// were counted anew least often the first from an address on. One with too many accounts or transfers is counted anew when the caps are others
// than those under which it had. With a list, tokens beside launches and those on the list aren't looked at; nil
// is all. It reads through the writer's connection, so that it sees the last commit.
func (s Jobs) DueRecount(ctx context.Context, chain string, at int64, caps string, from market.Address, besideLaunches []market.Address,
) (r Recount, ok bool, err error) {
	query, args := dueRecount, []any{chain, at, caps}
	if besideLaunches != nil {
		query, args = query+ofLaunches, append(args, orNone(s.db.IsPostgres(), besideLaunches))
	}
	var mint []byte
	var first int64
	err = s.db.Write.NewRaw(query+recountOrder, append(args, from.Bytes())...).Scan(ctx, &mint, &first, &r.Times)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("database: find a token to be counted anew: %w", err)
	}
	c := model.Columns{Table: "tokens"}
	r.Token, r.First, r.Times = c.Address(mint), uint64(first), r.Times+1
	return r, true, c.Err
}

// EndRecounts ends the recounts of tokens that are neither launches nor among declared: their transfers aren't queued any more.
func (s Jobs) EndRecounts(ctx context.Context, l *Lease, declared []market.Address) error {
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		_, err := tx.NewRaw("UPDATE holder_jobs SET broken = ? WHERE chain = ? AND recount <> '' AND step <> 'ended' AND token NOT IN (?) "+
			"AND NOT EXISTS (SELECT 1 FROM launches l WHERE l.chain = holder_jobs.chain AND l.mint = holder_jobs.token)",
			true, l.Chain, orNone(tx.Postgres, declared)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: end recounts of tokens that aren't followed any more: %w", err)
		}
		return nil
	})
}

// orNone makes a list of addresses one for IN (?), which can't be empty.
func orNone(postgres bool, list []market.Address) schema.QueryAppender {
	return database.Among(postgres, append(addressKeys(list), []byte{}))
}
