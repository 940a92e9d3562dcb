package social

import (
	"cmp"
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// Member gives a member with their wallets, those that were taken away left out; nil where there is none, or where they left.
func (s Registry) Member(ctx context.Context, id member.ID) (*member.Member, []member.Wallet, error) {
	var rows []memberRow
	if err := s.db.Read.NewSelect().Model(&rows).Where("id = ? AND left_at = 0", string(id)).Scan(ctx); err != nil {
		return nil, nil, wrap("read a member", err)
	}
	if len(rows) == 0 {
		return nil, nil, nil
	}
	wallets, err := s.wallets(ctx, "w.member = ? AND w.removed_at = 0 ORDER BY w.family, w.address, w.chain", rows[0].Number)
	return rows[0].value(), wallets, err
}

func (s *rows) wallets(ctx context.Context, condition string, args ...any) ([]member.Wallet, error) {
	var rows []walletOf
	err := s.db.Read.NewRaw(walletsWithMember+condition, args...).Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("read members' wallets", err)
	}
	out := make([]member.Wallet, len(rows))
	for i := range rows {
		w, err := rows[i].value()
		if err != nil {
			return nil, err
		}
		out[i] = *w
	}
	return out, nil
}

// WalletOn gives whose wallet an account is on a chain, of a member who has left an hour ago at most; nil where it is nobody's. Of a member who has it on
// every chain and on this one besides, the one that is theirs for longer.
func (s Registry) WalletOn(ctx context.Context, f chainconfig.Family, account market.Address, chain string) (*member.Wallet, error) {
	list, err := s.wallets(ctx, "w.family = ? AND w.address = ? AND w.chain IN ('', ?) AND w.removed_at = 0 ORDER BY w.since, w.chain LIMIT 1",
		string(f), account.Bytes(), chain)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// Change is a member or a wallet as the registry has it since the change with its number.
type Change struct {
	// Number is the change's.
	Number int64
	// Member or Wallet is set. A member who left has LeftAt, a wallet that was taken away RemovedAt.
	Member *member.Member
	Wallet *member.Wallet
}

// Changes lists up to limit members and wallets that changed after the change with a number, by the numbers of their last changes. What changed
// several times is there once, so that an empty list means that nothing has changed since.
func (s Registry) Changes(ctx context.Context, after int64, limit int) ([]Change, error) {
	last, err := s.LastChange(ctx) // a change that comes between the two reads must not hide what came before it
	if err != nil || last == after {
		return nil, err
	}
	var rows []memberRow
	if err := s.db.Read.NewSelect().Model(&rows).Where("change > ? AND change <= ?", after, last).Order("change").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, wrap("read changed members", err)
	}
	wallets, err := s.wallets(ctx, "w.change > ? AND w.change <= ? ORDER BY w.change LIMIT ?", after, last, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Change, 0, len(rows)+len(wallets))
	for i := range rows {
		m := rows[i].value()
		out = append(out, Change{Number: m.Change, Member: m})
	}
	for i := range wallets {
		out = append(out, Change{Number: wallets[i].Change, Wallet: &wallets[i]})
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Number, b.Number) })
	return out[:min(limit, len(out))], nil
}

// ServerChanges counts how often the database's server was another one: after a change the registry may lack the newest of what it had.
func (s *rows) ServerChanges() int64 { return s.db.Servers.Changed() }

// LastChange is the number of the registry's last change.
func (s Registry) LastChange(ctx context.Context) (int64, error) {
	return lastOf(ctx, s.db.Read, registryStream)
}

// IDsOf gives the app's ids of some members by their numbers. Members who left and aren't erased yet have theirs too.
func (s Registry) IDsOf(ctx context.Context, numbers []member.Number) (map[member.Number]member.ID, error) {
	out := make(map[member.Number]member.ID, len(numbers))
	keys := make([]any, len(numbers))
	for i, n := range numbers {
		keys[i] = int64(n)
	}
	for some := range slices.Chunk(keys, database.LoadKeys) {
		var rows []memberRow
		err := s.db.Read.NewSelect().Model(&rows).Column("number", "id").Where("number IN (?)", database.Among(s.db.IsPostgres(), some)).Scan(ctx)
		if err != nil {
			return nil, wrap("read members", err)
		}
		for i := range rows {
			out[member.Number(rows[i].Number)] = member.ID(rows[i].ID)
		}
	}
	return out, nil
}

// ExistingHandles says which of some handles members have, by the handles' keys (member.HandleKey).
func (s Registry) ExistingHandles(ctx context.Context, keys []string) (map[string]bool, error) {
	out := make(map[string]bool, len(keys))
	wanted := make([]any, len(keys))
	for i, k := range keys {
		wanted[i] = k
	}
	for some := range slices.Chunk(wanted, database.LoadKeys) {
		var found []string
		err := s.db.Read.NewRaw("SELECT handle_key FROM members WHERE left_at = 0 AND handle_key IN (?)", database.Among(s.db.IsPostgres(), some)).Scan(ctx, &found)
		if err != nil {
			return nil, wrap("read handles", err)
		}
		for _, k := range found {
			out[k] = true
		}
	}
	return out, nil
}
