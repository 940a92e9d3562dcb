package social

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// Challenge keeps a text that a wallet's owner may sign until a time, in unix seconds.
func (s *Store) Challenge(ctx context.Context, text string, until int64) error {
	_, err := s.db.Write.NewRaw("INSERT INTO wallet_challenges (text, expires_at) VALUES (?, ?)", text, until).Exec(ctx)
	return database.Interruption(ctx, wrap("keep a challenge", err))
}

// answersKept is for how long answers to requests with an Idempotency-Key are kept, in seconds.
const answersKept = 7 * 24 * 60 * 60

// revocable is for how long a member who left is kept whole, in seconds: until then a later record of the app takes the leaving back.
const revocable = 60 * 60

// erasedAtOnce is how many members are erased in one transaction.
const erasedAtOnce = 1000

// Clean deletes what need not be kept any more: challenges that can't be answered, old answers, handles that are free again, and all that was known
// of members who left an hour ago. now is unix seconds. It gives how many members were erased.
func (s *Store) Clean(ctx context.Context, now int64) (erased int, err error) {
	for _, old := range []struct {
		table, condition string
		before           int64
	}{
		{"wallet_challenges", "expires_at <= ?", now},
		{"kept_answers", "made_at <= ?", now - answersKept},
		{"released_handles", "until <= ?", now},
	} {
		if _, err := s.db.Write.NewRaw("DELETE FROM "+old.table+" WHERE "+old.condition, old.before).Exec(ctx); err != nil {
			return 0, database.Interruption(ctx, wrap("clean "+old.table, err))
		}
	}
	err = s.write(ctx, func(tx *database.Transaction, last int64) (int64, error) {
		var gone []memberRow
		if err := tx.NewSelect().Model(&gone).Where("left_at > 0 AND left_at <= ? AND handle_key IS NOT NULL", now-revocable).Limit(erasedAtOnce).Scan(ctx); err != nil {
			return last, wrap("look for members who left", err)
		}
		if len(gone) == 0 {
			return last, nil
		}
		secret, err := secretOf(ctx, tx)
		if err != nil {
			return last, err
		}
		for i := range gone {
			last++
			if err := erase(ctx, tx, &gone[i], secret, last, now); err != nil {
				return last, err
			}
		}
		erased = len(gone)
		return last, nil
	})
	return erased, err
}

// erase leaves of a member that there was one with this id, so that no older record brings them back.
func erase(ctx context.Context, tx *database.Transaction, m *memberRow, secret []byte, change, now int64) error {
	for _, q := range []struct {
		text string
		args []any
	}{
		{"DELETE FROM member_wallets WHERE member = ?", []any{m.Number}},
		{"DELETE FROM presence_minutes WHERE member = ?", []any{m.Number}},
		{
			"INSERT INTO released_handles (hash, member, until) VALUES (?, 0, ?) ON CONFLICT (hash) DO UPDATE SET member = 0, until = excluded.until",
			[]any{hidden(secret, *m.HandleKey), now + member.HandleRest},
		},
		{"UPDATE released_handles SET member = 0 WHERE member = ?", []any{m.Number}},
		{"UPDATE members SET handle = '', handle_key = NULL, avatar_url = '', joined_at = 0, change = ? WHERE number = ?", []any{change, m.Number}},
	} {
		if _, err := tx.NewRaw(q.text, q.args...).Exec(ctx); err != nil {
			return wrap("erase a member who left", err)
		}
	}
	return nil
}
