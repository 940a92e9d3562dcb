package social

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// membersProgram is the name under which the members program takes its lease and writes its count.
const membersProgram = "members"

// Lease is the right to count who is present. One process has it at a time.
type Lease struct {
	holder string
	epoch  int64
}

// ErrLeaseLost means that another process counts by now.
var ErrLeaseLost = errors.New("another process has taken over")

// nowMS is the database's own clock in unix milliseconds, which all processes share.
func (s *rows) nowMS() string {
	if s.db.IsPostgres() {
		return "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
	}
	return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

// Acquire takes the lease for ttlMS milliseconds where it is free or the holder's own; nil where another process has it.
func (s Leases) Acquire(ctx context.Context, holder string, ttlMS int64) (*Lease, error) {
	l := &Lease{holder: holder}
	now := s.nowMS()
	err := s.db.Write.NewRaw("INSERT INTO program_leases (program, holder, epoch, expires_ms) VALUES (?, ?, 1, "+now+" + ?) ON CONFLICT (program) DO UPDATE SET "+
		"holder = excluded.holder, epoch = program_leases.epoch + 1, expires_ms = excluded.expires_ms "+
		"WHERE program_leases.expires_ms < "+now+" OR program_leases.holder IN ('', excluded.holder) RETURNING epoch", membersProgram, holder, ttlMS).Scan(ctx, &l.epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // another process has it, which is no error
	}
	if err != nil {
		return nil, database.Interruption(ctx, wrap("take the lease of the members program", err))
	}
	return l, nil
}

// Renew prolongs the lease by ttlMS milliseconds from now. ErrLeaseLost says that it is another's.
func (s Leases) Renew(ctx context.Context, l *Lease, ttlMS int64) error {
	return s.fenced(ctx, l, "prolong the lease of the members program", "UPDATE program_leases SET expires_ms = "+s.nowMS()+" + ? WHERE ", ttlMS)
}

// Release frees the lease for the next process.
func (s Leases) Release(ctx context.Context, l *Lease) error {
	return s.fenced(ctx, l, "free the lease of the members program", "UPDATE program_leases SET holder = '', expires_ms = 0 WHERE ")
}

// fenced runs a statement that ends in WHERE and changes one row, if the lease is still the holder's.
func (s *rows) fenced(ctx context.Context, l *Lease, what, statement string, args ...any) error {
	res, err := s.db.Write.NewRaw(statement+"program = ? AND EXISTS (SELECT 1 FROM program_leases l WHERE l.program = ? AND l.holder = ? AND l.epoch = ?)",
		append(args, membersProgram, membersProgram, l.holder, l.epoch)...).Exec(ctx)
	if err != nil {
		return database.Interruption(ctx, wrap(what, err))
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrLeaseLost
	}
	return wrap(what, err)
}

// SetOnline writes how many members are present, with the database's time.
func (s Presence) SetOnline(ctx context.Context, l *Lease, online int) error {
	_, err := s.db.Write.NewRaw("INSERT INTO presence (program, online, counted_ms) VALUES (?, 0, 0) ON CONFLICT (program) DO NOTHING", membersProgram).Exec(ctx)
	if err != nil {
		return database.Interruption(ctx, wrap("write the count of members who are present", err))
	}
	return s.fenced(ctx, l, "write the count of members who are present", "UPDATE presence SET online = ?, counted_ms = "+s.nowMS()+" WHERE ", online)
}

// Online is how many members are present, when that was counted, and the time by the same clock, both in unix milliseconds; known is false where it
// was never counted.
func (s Presence) Online(ctx context.Context) (online, countedMS, nowMS int64, known bool, err error) {
	err = s.db.AskOne(ctx, []any{&online, &countedMS, &nowMS}, "SELECT online, counted_ms, "+s.nowMS()+" FROM presence WHERE program = ?", membersProgram)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, 0, false, nil
	}
	return online, countedMS, nowMS, err == nil, wrap("read the count of members who are present", err)
}

type presenceMinute struct {
	bun.BaseModel `bun:"table:presence_minutes"`

	Minute int64 `bun:",pk"`
	Member int64 `bun:",pk"`
}

// KeepPresent notes who was present in a minute, which is unix seconds, and forgets the minutes before oldest, under the lease.
func (s Presence) KeepPresent(ctx context.Context, l *Lease, minute int64, present []member.Number, oldest int64) error {
	return s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		if err := holds(ctx, tx, l); err != nil {
			return err
		}
		if _, err := tx.NewRaw("DELETE FROM presence_minutes WHERE minute < ? OR minute = ?", oldest, minute).Exec(ctx); err != nil {
			return wrap("forget who was present", err)
		}
		for some := range slices.Chunk(present, database.PieceRows) {
			rows := make([]presenceMinute, len(some))
			for i, n := range some {
				rows[i] = presenceMinute{Minute: minute, Member: int64(n)}
			}
			if err := database.Insert(ctx, tx, rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// holds locks the lease in a transaction; ErrLeaseLost says that it is another's.
func holds(ctx context.Context, tx *database.Transaction, l *Lease) error {
	res, err := tx.NewRaw("UPDATE program_leases SET epoch = epoch WHERE program = ? AND holder = ? AND epoch = ?", membersProgram, l.holder, l.epoch).Exec(ctx)
	if err != nil {
		return wrap("look at the lease of the members program", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrLeaseLost)
	}
	return nil
}

// Present gives which members were present in the minutes from oldest on, with their newest minute. Who has left isn't one of them.
func (s Presence) Present(ctx context.Context, oldest int64) (map[member.Number]int64, error) {
	var rows []presenceMinute
	err := s.db.Read.NewRaw("SELECT p.minute, p.member FROM presence_minutes p JOIN members m ON m.number = p.member AND m.left_at = 0 WHERE p.minute >= ?",
		oldest).Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("read who was present", err)
	}
	out := make(map[member.Number]int64, len(rows))
	for _, r := range rows {
		out[member.Number(r.Member)] = max(out[member.Number(r.Member)], r.Minute)
	}
	return out, nil
}

// Numbers gives the numbers of members by their ids, of those who are there.
func (s Registry) Numbers(ctx context.Context, ids []member.ID) (map[member.ID]member.Number, error) {
	out := make(map[member.ID]member.Number, len(ids))
	for some := range slices.Chunk(ids, database.LoadKeys) {
		keys := make([]any, len(some))
		for i, id := range some {
			keys[i] = string(id)
		}
		var rows []struct {
			ID     string
			Number int64
		}
		err := s.db.Read.NewRaw("SELECT id, number FROM members WHERE left_at = 0 AND id IN (?)", database.Among(s.db.IsPostgres(), keys)).Scan(ctx, &rows)
		if err != nil {
			return nil, wrap("read members' numbers", err)
		}
		for _, r := range rows {
			out[member.ID(r.ID)] = member.Number(r.Number)
		}
	}
	return out, nil
}
