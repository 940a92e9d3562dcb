package social

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// Challenge keeps a text that a wallet's owner may sign until a time, in unix seconds.
func (s Registry) Challenge(ctx context.Context, text string, until int64) error {
	_, err := s.db.Write.NewRaw("INSERT INTO wallet_challenges (text, expires_at) VALUES (?, ?)", text, until).Exec(ctx)
	return database.Interruption(ctx, wrap("keep a challenge", err))
}

// revocable is for how long a member who left, and a wallet's proof, are kept whole, in seconds: until then a later record of the app takes the leaving
// back.
const revocable = 60 * 60

// erasedAtOnce is how many members are erased in one transaction.
const erasedAtOnce = 100

// Clean deletes what need not be kept any more: challenges that can't be answered, old answers, handles that are free again, the proofs of wallets that
// were taken away, and all that was known of members who left an hour ago. now is unix seconds. It gives how many members were erased.
func (s Upkeep) Clean(ctx context.Context, now int64) (erased int, err error) {
	for _, old := range []struct{ what, statement string }{
		{"challenges", "DELETE FROM wallet_challenges WHERE expires_at <= ?"},
		{"kept answers", "DELETE FROM kept_answers WHERE kept_until <= ?"},
		{"released handles", "DELETE FROM released_handles WHERE until <= ?"},
	} {
		if _, err := s.db.Write.NewRaw(old.statement, now).Exec(ctx); err != nil {
			return 0, database.Interruption(ctx, wrap("clean "+old.what, err))
		}
	}
	for {
		n, err := s.eraseSome(ctx, now)
		if erased += n; err != nil || n < erasedAtOnce {
			return erased, err
		}
	}
}

// Overdue says, by kind of rows that are kept for a time, for how many seconds the oldest row has been kept beyond its time; 0 where none has. now is unix seconds.
// The kind members stands for what is known of members who left.
func (s Upkeep) Overdue(ctx context.Context, now int64) (map[string]int64, error) {
	var rows []struct {
		Kind  string
		DueAt *int64
	}
	err := s.db.Read.NewRaw("SELECT 'challenges' AS kind, MIN(expires_at) AS due_at FROM wallet_challenges UNION ALL "+
		"SELECT 'answers', MIN(kept_until) FROM kept_answers UNION ALL SELECT 'handles', MIN(until) FROM released_handles UNION ALL "+
		"SELECT 'members', MIN(left_at) + ? FROM members WHERE left_at > 0 AND handle_key IS NOT NULL UNION ALL "+
		"SELECT 'proofs', MIN(removed_at) + ? FROM member_wallets WHERE removed_at > 0 AND checked_at > 0", revocable, revocable).Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("look for rows that should be gone", err)
	}
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.Kind] = 0
		if r.DueAt != nil {
			out[r.Kind] = max(now-*r.DueAt, 0)
		}
	}
	return out, nil
}

// eraseSome erases up to erasedAtOnce members. It locks the registry only where there is something to do.
func (s *rows) eraseSome(ctx context.Context, now int64) (erased int, err error) {
	const wallets, members = "removed_at > 0 AND removed_at <= ? AND checked_at > 0", "left_at > 0 AND left_at <= ? AND handle_key IS NOT NULL"
	var due bool
	err = s.db.Read.NewRaw("SELECT EXISTS (SELECT 1 FROM members WHERE "+members+") OR EXISTS (SELECT 1 FROM member_wallets WHERE "+wallets+")",
		now-revocable, now-revocable).Scan(ctx, &due)
	if err != nil || !due {
		return 0, wrap("look for members who left", err)
	}
	err = s.write(ctx, func(tx *database.Transaction, last int64) (int64, []streamlog.Row, error) {
		_, err := tx.NewRaw("UPDATE member_wallets SET proof_text = '', signature = '', checked_at = 0 WHERE "+wallets, now-revocable).Exec(ctx)
		if err != nil {
			return last, nil, wrap("forget proofs of wallets that were taken away", err)
		}
		var gone []memberRow
		if err := tx.NewSelect().Model(&gone).Where(members, now-revocable).Limit(erasedAtOnce).Scan(ctx); err != nil {
			return last, nil, wrap("look for members who left", err)
		}
		secret, err := secretOf(ctx, tx)
		if err != nil {
			return last, nil, err
		}
		var retractions []streamlog.Row
		for i := range gone {
			last++
			if err := erase(ctx, tx, &gone[i], secret, last, now); err != nil {
				return last, nil, err
			}
			if err := eraseGame(ctx, tx, member.Number(gone[i].Number)); err != nil {
				return last, nil, err
			}
			if err := erasePosts(ctx, tx, member.Number(gone[i].Number)); err != nil {
				return last, nil, err
			}
			more, err := eraseCalls(ctx, tx, member.Number(gone[i].Number), now)
			if err != nil {
				return last, nil, err
			}
			retractions = append(retractions, more...)
		}
		erased = len(gone)
		return last, retractions, nil
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
