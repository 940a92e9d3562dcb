package social

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/member"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// Applied is what became of a record: an outcome, or the error that refused it.
type Applied struct {
	Outcome member.Outcome
	Err     error
}

// Apply writes records in their order, each for itself: a refused one leaves the others as they are. With atomic set nothing is written unless all of
// them can be, which written reports. now is unix seconds.
func (s Registry) Apply(ctx context.Context, records []member.Record, atomic bool, now int64) (applied []Applied, written bool, err error) {
	err = s.write(ctx, func(tx *database.Transaction, last int64) (int64, []streamlog.Row, error) {
		secret, err := secretOf(ctx, tx)
		if err != nil {
			return last, nil, err
		}
		lastCall, err := lastOf(ctx, tx, callsCounter)
		if err != nil {
			return last, nil, err
		}
		lastPost, err := lastOf(ctx, tx, postsCounter)
		if err != nil {
			return last, nil, err
		}
		r := member.NewRegistry(now, member.Changes{Members: last, Calls: lastCall, Posts: lastPost})
		if err := load(ctx, tx, r, records, secret); err != nil {
			return last, nil, err
		}
		applied, written = make([]Applied, len(records)), true
		for i := range records {
			a := &applied[i]
			if a.Outcome, a.Err = r.Apply(&records[i]); a.Err != nil && atomic {
				written = false
			}
		}
		if !written {
			return last, nil, nil
		}
		if err := keep(ctx, tx, r, secret); err != nil {
			return last, nil, err
		}
		if err := renumberWallets(ctx, tx, r); err != nil {
			return last, nil, err
		}
		if err := keepPosts(ctx, tx, r); err != nil {
			return last, nil, err
		}
		items, err := keepCalls(ctx, tx, r)
		return r.Last.Members, items, err
	})
	return applied, written, err
}

// load takes in what the records are about.
func load(ctx context.Context, tx *database.Transaction, r *member.Registry, records []member.Record, secret []byte) error {
	ids, handles, texts := map[string]bool{}, map[string]bool{}, map[string]bool{}
	wallets := map[member.WalletKey]bool{}
	for i := range records {
		rec := &records[i]
		if rec.ID != "" {
			ids[string(rec.ID)] = true
		}
		switch {
		case rec.Wallet != nil:
			wallets[member.WalletKey{Family: rec.Wallet.Family, Address: rec.Wallet.Address}] = true
			if p := rec.Wallet.Proof; p != nil && rec.Wallet.Names && p.CheckedAt == 0 { // others are no challenges, whatever bytes they have
				texts[p.Text] = true
			}
		case rec.Call == nil && rec.Post == nil && !rec.Deleted:
			handles[member.HandleKey(rec.Handle)] = true
		}
	}
	for _, step := range []func() error{
		func() error { return loadMembers(ctx, tx, r, "id", ids) },
		func() error { return loadMembers(ctx, tx, r, "handle_key", handles) },
		func() error { return loadReleased(ctx, tx, r, handles, secret) },
		func() error { return loadWallets(ctx, tx, r, wallets) },
		func() error { return loadChallenges(ctx, tx, r, texts) },
		func() error { return loadCalls(ctx, tx, r, records) },
		func() error { return loadPosts(ctx, tx, r, records) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// keysOf are the keys of a set, for IN (?).
func keysOf[K comparable](set map[K]bool) []any {
	out := make([]any, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	return out
}

func loadMembers(ctx context.Context, tx *database.Transaction, r *member.Registry, column string, keys map[string]bool) error {
	for some := range slices.Chunk(keysOf(keys), database.LoadKeys) {
		var rows []memberRow
		if err := tx.NewSelect().Model(&rows).Where("? IN (?)", bun.Ident(column), database.Among(tx.Postgres, some)).Scan(ctx); err != nil {
			return wrap("read members", err)
		}
		for i := range rows {
			if m := rows[i].value(); r.Members[m.ID] == nil { // an id and a handle may name one member
				r.AddMember(m)
			}
		}
	}
	return nil
}

func loadReleased(ctx context.Context, tx *database.Transaction, r *member.Registry, handles map[string]bool, secret []byte) error {
	of := make(map[string]string, len(handles))
	keys := make([]any, 0, len(handles))
	for h := range handles {
		hash := hidden(secret, h)
		of[string(hash)], keys = h, append(keys, hash)
	}
	for some := range slices.Chunk(keys, database.LoadKeys) {
		var rows []struct {
			Hash   []byte
			Member int64
			Until  int64
		}
		err := tx.NewRaw("SELECT hash, member, until FROM released_handles WHERE hash IN (?)", database.Among(tx.Postgres, some)).Scan(ctx, &rows)
		if err != nil {
			return wrap("read released handles", err)
		}
		for _, row := range rows {
			r.Released[of[string(row.Hash)]] = member.Released{Number: member.Number(row.Member), Until: row.Until}
		}
	}
	return nil
}

// loadWallets takes in the wallets with the addresses of keys, on whatever chain, and which of them belong to an exchange or a venue.
func loadWallets(ctx context.Context, tx *database.Transaction, r *member.Registry, keys map[member.WalletKey]bool) error {
	of := make(map[string]member.WalletKey, len(keys))
	pairs, addresses := make([]any, 0, len(keys)), make([]any, 0, len(keys))
	for k := range keys {
		raw := k.Address.Bytes()
		of[string(raw)] = k
		pairs, addresses = append(pairs, []any{string(k.Family), raw}), append(addresses, raw)
	}
	for some := range slices.Chunk(pairs, database.LoadKeys) {
		var rows []walletOf
		err := tx.NewRaw(walletsWithMember+"(w.family, w.address) IN (?)",
			database.Among(tx.Postgres, some)).Scan(ctx, &rows)
		if err != nil {
			return wrap("read members' wallets", err)
		}
		for i := range rows {
			w, err := rows[i].value()
			if err != nil {
				return err
			}
			r.AddWallet(w)
		}
	}
	for some := range slices.Chunk(addresses, database.LoadKeys) {
		var found [][]byte
		in := database.Among(tx.Postgres, some)
		err := tx.NewRaw("SELECT id FROM pools WHERE chain IN (SELECT id FROM chains) AND id IN (?) UNION "+
			"SELECT curve FROM launches WHERE chain IN (SELECT id FROM chains) AND curve IS NOT NULL AND curve IN (?)", in, in).Scan(ctx, &found)
		if err != nil {
			return wrap("look for contracts of exchanges and venues", err)
		}
		for _, raw := range found {
			r.Contracts[of[string(raw)]] = true
		}
	}
	return nil
}

func loadChallenges(ctx context.Context, tx *database.Transaction, r *member.Registry, texts map[string]bool) error {
	for some := range slices.Chunk(keysOf(texts), database.LoadKeys) {
		var found []string
		err := tx.NewRaw("SELECT text FROM wallet_challenges WHERE expires_at > ? AND text IN (?)", r.Now, database.Among(tx.Postgres, some)).Scan(ctx, &found)
		if err != nil {
			return wrap("read challenges", err)
		}
		for _, text := range found {
			r.Challenges[text] = true
		}
	}
	return nil
}

// keep writes what changed.
func keep(ctx context.Context, tx *database.Transaction, r *member.Registry, secret []byte) error {
	members := make([]memberRow, 0, len(r.ChangedMembers))
	for id := range r.ChangedMembers {
		members = append(members, memberToRow(r.Members[id]))
	}
	wallets := make([]walletRow, 0, len(r.ChangedWallets))
	for k := range r.ChangedWallets {
		wallets = append(wallets, walletToRow(r.Wallets[k]))
	}
	if err := keepMembers(ctx, tx, members); err != nil {
		return err
	}
	if err := database.Upsert(ctx, tx, wallets); err != nil {
		return err
	}
	for _, h := range slices.Sorted(maps.Keys(r.NewlyReleased)) {
		was := r.Released[h]
		_, err := tx.NewRaw("INSERT INTO released_handles (hash, member, until) VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET "+
			"member = excluded.member, until = excluded.until", hidden(secret, h), int64(was.Number), was.Until).Exec(ctx)
		if err != nil {
			return wrap("keep a released handle", err)
		}
	}
	for some := range slices.Chunk(r.Answered, database.LoadKeys) {
		keys := make([]any, len(some))
		for i := range some {
			keys[i] = some[i]
		}
		if _, err := tx.NewRaw("DELETE FROM wallet_challenges WHERE text IN (?)", database.Among(tx.Postgres, keys)).Exec(ctx); err != nil {
			return wrap("end answered challenges", err)
		}
	}
	return nil
}

// keepMembers writes members. A handle may have gone from one of them to another, so that all of them give up theirs first.
func keepMembers(ctx context.Context, tx *database.Transaction, rows []memberRow) error {
	if len(rows) == 0 {
		return nil
	}
	numbers := make([]any, len(rows))
	for i := range rows {
		numbers[i] = rows[i].Number
	}
	for some := range slices.Chunk(numbers, database.LoadKeys) {
		_, err := tx.NewRaw("UPDATE members SET handle_key = NULL WHERE number IN (?)", database.Among(tx.Postgres, some)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: write members: %w", err)
		}
	}
	return database.Upsert(ctx, tx, rows)
}

// renumberWallets gives the wallets that change with their members a change of their own: whoever follows changes learns it of each.
func renumberWallets(ctx context.Context, tx *database.Transaction, r *member.Registry) error {
	for number := range r.WithWallets {
		var rows []walletRow
		if err := tx.NewSelect().Model(&rows).Where("member = ? AND removed_at = 0", int64(number)).Order("change").Scan(ctx); err != nil {
			return wrap("read a member's wallets", err)
		}
		for i := range rows {
			r.Last.Members++
			rows[i].Change = r.Last.Members
		}
		if err := database.Upsert(ctx, tx, rows); err != nil {
			return err
		}
	}
	return nil
}
