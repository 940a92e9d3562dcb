package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Wallets is what is kept of members' wallets: which are watched, their entries, fees, positions and hours.
type Wallets struct{ *rows }

func applyWallets(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, ch *market.Changes) error {
	if err := apply(ctx, tx, u, ch.Watched, func(k market.Address, v *market.WatchedWallet) model.Watched {
		if v == nil {
			v = &market.WatchedWallet{Wallet: k}
		}
		return model.OfWatched(chain, v)
	}); err != nil {
		return err
	}
	if err := apply(ctx, tx, u, ch.Positions, func(k market.PositionKey, v *market.Position) model.Position {
		if v == nil {
			v = &market.Position{}
		}
		return model.OfPosition(chain, k, v)
	}); err != nil {
		return err
	}
	if err := apply(ctx, tx, u, ch.Hours, func(k market.HourKey, v *market.WalletHour) model.Hour {
		if v == nil {
			v = &market.WalletHour{HourKey: k}
		}
		return model.OfHour(chain, v)
	}); err != nil {
		return err
	}
	if err := apply(ctx, tx, u, ch.Reworked, func(k market.EntryKey, v *market.Entry) model.Entry {
		if v == nil {
			v = &market.Entry{Wallet: k.Wallet, Block: k.Block, Seq: k.Seq}
		}
		return model.OfEntry(chain, v)
	}); err != nil {
		return err
	}
	entries := make([]model.Entry, 0, len(ch.Entries))
	for i := range ch.Entries {
		entries = append(entries, model.OfEntry(chain, &ch.Entries[i]))
	}
	if err := add(ctx, tx, u, entries); err != nil {
		return err
	}
	fees := make([]model.Fee, 0, len(ch.Fees))
	for i := range ch.Fees {
		fees = append(fees, model.OfFee(chain, &ch.Fees[i]))
	}
	return add(ctx, tx, u, fees)
}

// loadWallets loads the rows of members' wallets.
func (s *rows) loadWallets(ctx context.Context, chain string, w market.Wanted, out *market.Rows) error {
	watched, err := in[model.Watched](ctx, s, chain, "wallet", addressKeys(w.Watched))
	if err != nil {
		return err
	}
	if out.Watched, err = model.To(watched, (*model.Watched).Value); err != nil {
		return err
	}
	keys := make([]any, len(w.Positions))
	for i, k := range w.Positions {
		keys[i] = []any{chain, k.Wallet.Bytes(), k.Token.Bytes()}
	}
	positions, err := in[model.Position](ctx, s, chain, "(chain, wallet, token)", keys)
	if err != nil {
		return err
	}
	out.Positions = make(map[market.PositionKey]market.Position, len(positions))
	for i := range positions {
		k, p, err := positions[i].Value()
		if err != nil {
			return err
		}
		out.Positions[k] = p
	}
	keys = make([]any, len(w.Hours))
	for i, k := range w.Hours {
		keys[i] = []any{chain, k.Open, k.Wallet.Bytes(), k.Member}
	}
	hours, err := in[model.Hour](ctx, s, chain, "(chain, open_at, wallet, member)", keys)
	if err != nil {
		return err
	}
	if out.Hours, err = model.To(hours, (*model.Hour).Value); err != nil {
		return err
	}
	if err := s.loadBooks(ctx, chain, w.BooksOf, out); err != nil {
		return err
	}
	out.Past = make(map[market.Address][]market.Trade, len(w.TradesOf))
	for _, wallet := range w.TradesOf {
		if out.Past[wallet], err = s.tradesToCopy(ctx, chain, wallet); err != nil {
			return err
		}
	}
	return nil
}

// ofTrader is the condition on a wallet's trades of one chain. The chain is written so that it can't be looked up: SQLite would walk all trades of it.
const ofTrader = "trader = ? AND chain || '' = ?"

// tradesToCopy are a wallet's trades, in no order: one more than are copied of a wallet that has more.
func (s *rows) tradesToCopy(ctx context.Context, chain string, wallet market.Address) ([]market.Trade, error) {
	var list []model.Trade
	err := s.db.Write.NewSelect().Model(&list).Where(ofTrader, wallet.Bytes(), chain).Limit(market.CopiedTrades + 1).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read the trades of a member's wallet: %w", err)
	}
	return model.To(list, (*model.Trade).Value)
}

// ToCopy counts the trades of a wallet that are read when it begins to be watched.
func (s Wallets) ToCopy(ctx context.Context, chain string, wallet market.Address) (n int, err error) {
	err = s.db.Write.NewRaw("SELECT count(*) FROM (SELECT 1 FROM trades WHERE "+ofTrader+" LIMIT ?) t", wallet.Bytes(), chain, market.CopiedTrades+1).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("database: count the trades of a member's wallet: %w", err)
	}
	return n, nil
}

// Watched lists all wallets of a chain that are watched.
func (s Wallets) Watched(ctx context.Context, chain string) ([]market.WatchedWallet, error) {
	var list []model.Watched
	if err := s.db.Write.NewSelect().Model(&list).Where("chain = ?", chain).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the wallets that are watched: %w", err)
	}
	return model.To(list, (*model.Watched).Value)
}

func touchWatched(_ context.Context, _ *database.Transaction, rows []model.Watched, touched *market.Touched) error {
	c := model.Columns{Table: "watched_wallets"}
	for i := range rows {
		touched.Watched = append(touched.Watched, c.Address(rows[i].Wallet))
	}
	return c.Err
}

func touchPositions(_ context.Context, _ *database.Transaction, rows []model.Position, touched *market.Touched) error {
	c := model.Columns{Table: "wallet_positions"}
	for i := range rows {
		touched.Positions = append(touched.Positions, market.PositionKey{Wallet: c.Address(rows[i].Wallet), Token: c.Address(rows[i].Token)})
	}
	return c.Err
}

func touchHours(_ context.Context, _ *database.Transaction, rows []model.Hour, touched *market.Touched) error {
	c := model.Columns{Table: "wallet_hours"}
	for i := range rows {
		r := &rows[i]
		touched.Hours = append(touched.Hours, market.HourKey{Wallet: c.Address(r.Wallet), Member: r.Member, Open: r.OpenAt})
	}
	return c.Err
}

// watchFacts and forgetWatch go by the index facts_watch, forgetPast by facts_past, which begin with the wallet. The chain is written so that it can't be looked up.
const (
	watchFacts  = "kind = '" + watchKind + "' AND ref > ? AND block > ? AND chain || '' = ?"
	forgetPast  = "DELETE FROM facts WHERE kind = '" + pastKind + "' AND ref = ? AND chain || '' = ?"
	forgetWatch = "DELETE FROM facts WHERE kind = '" + watchKind + "' AND ref = ? AND chain || '' = ?"
)

// factsOfWallet goes by the index facts_wallet. forgetFacts deletes a piece of the facts of which it finds some.
const (
	factsOfWallet = "kind IN ('" + heldKind + "', '" + gasKind + "') AND ref >= ? AND ref < ? AND chain || '' = ?"
	forgetFacts   = "DELETE FROM facts WHERE chain = ? AND (block, kind, ref) IN (SELECT block, kind, ref FROM facts WHERE " + factsOfWallet + " LIMIT ?)"
)

// WatchFacts lists what is kept of which wallets are members' from blocks above one on, in the order of the chain.
func (s Wallets) WatchFacts(ctx context.Context, chain string, above uint64) ([]StoredFact, error) {
	var list []factRow
	err := s.db.Write.NewSelect().Model(&list).Where(watchFacts, []byte{}, int64(above), chain).Order("block", "ref").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read which wallets were watched: %w", err)
	}
	return model.To(list, (*factRow).fact)
}

// forgottenAtOnce is how many rows of a table one call of Forget deletes.
const forgottenAtOnce = 5_000

// Forget deletes a piece of what is kept of a wallet; more says that there may be more. What no reorg may bring back goes last: that it was watched.
func (s Wallets) Forget(ctx context.Context, l *Lease, wallet market.Address) (more bool, err error) {
	err = s.writeUnderLease(ctx, l, func(tx *database.Transaction, next *pendingCommit) error {
		if more, err = forgetStream(ctx, tx, &next.position, l.Chain, wallet); err != nil || more {
			return err
		}
		for _, t := range []struct{ table, key string }{
			{"wallet_entries", "block, seq"}, {"wallet_fees", "block, log_index"}, {"wallet_positions", "token"}, {"wallet_hours", "open_at, member"},
		} {
			res, err := tx.NewRaw("DELETE FROM "+t.table+" WHERE chain = ? AND wallet = ? AND ("+t.key+") IN (SELECT "+t.key+" FROM "+t.table+
				" WHERE chain = ? AND wallet = ? LIMIT ?)", l.Chain, wallet.Bytes(), l.Chain, wallet.Bytes(), forgottenAtOnce).Exec(ctx)
			if err != nil {
				return fmt.Errorf("database: forget a wallet: %w", err)
			}
			n, err := res.RowsAffected()
			if err != nil || n == forgottenAtOnce {
				more = err == nil
				return err
			}
		}
		res, err := tx.NewRaw(forgetFacts, l.Chain, wallet.Bytes(), beyond(wallet.Bytes()), l.Chain, forgottenAtOnce).Exec(ctx)
		if err != nil {
			return fmt.Errorf("database: forget a wallet: %w", err)
		}
		n, err := res.RowsAffected()
		if more = err == nil && n == forgottenAtOnce; err != nil || more {
			return err
		}
		for _, last := range []struct {
			query string
			args  []any
		}{
			{"DELETE FROM wallet_pasts WHERE chain = ? AND wallet = ?", []any{l.Chain, wallet.Bytes()}},
			{forgetPast, []any{wallet.Bytes(), l.Chain}},
			{"DELETE FROM watched_wallets WHERE chain = ? AND wallet = ?", []any{l.Chain, wallet.Bytes()}},
			{forgetWatch, []any{wallet.Bytes(), l.Chain}},
		} {
			if _, err := tx.NewRaw(last.query, last.args...).Exec(ctx); err != nil {
				return fmt.Errorf("database: forget a wallet: %w", err)
			}
		}
		return nil
	})
	return more, err
}

// beyond is the first text of bytes behind all those that begin with a prefix, which isn't all 0xff.
func beyond(prefix []byte) []byte {
	out := slices.Clone(prefix)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i]++; out[i] != 0 {
			return out[:i+1]
		}
	}
	return out
}
