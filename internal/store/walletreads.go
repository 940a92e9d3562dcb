package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// WalletHour is an hour of a watched wallet.
type WalletHour struct {
	Chain string
	market.WalletHour
}

// WalletEntry is an entry of a watched wallet.
type WalletEntry struct {
	Chain string
	market.Entry
}

// Hours walks the hours of all watched wallets on some chains that open in [from, to), unix seconds, in no order.
func (s Wallets) Hours(ctx context.Context, chains []string, from, to int64) iter.Seq2[WalletHour, error] {
	return walkWallets(ctx, s.rows, "wallet_hours", chains, "open_at >= ? AND open_at < ?", from, to, func(r *model.Hour) (WalletHour, error) {
		h, err := r.Value()
		return WalletHour{Chain: r.Chain, WalletHour: h}, err
	}, func(h *WalletHour) *string { return &h.Chain })
}

// SumHours adds up the hours of all watched wallets on some chains that open in [from, to), unix seconds.
func (s Wallets) SumHours(ctx context.Context, chains []string, from, to int64) (sums market.HourSums, err error) {
	sold := map[int64]bool{}
	for h, err := range s.Hours(ctx, chains, from, to) {
		if err != nil {
			return sums, err
		}
		sums.Volume, sums.Trades = sums.Volume.Add(h.Volume), sums.Trades+h.Trades-h.Unvalued
		if h.Sales > 0 {
			sums.Realised, sums.Sales = sums.Realised.Add(h.Realised()), sums.Sales+h.Sales
			sold[h.Member] = true
		}
	}
	sums.Members = len(sold)
	return sums, nil
}

// Between walks the entries of all watched wallets on some chains with a time in [from, to], unix seconds, in no order.
func (s Wallets) Between(ctx context.Context, chains []string, from, to int64) iter.Seq2[WalletEntry, error] {
	return walkWallets(ctx, s.rows, "wallet_entries", chains, "time >= ? AND time <= ?", from, to, func(r *model.Entry) (WalletEntry, error) {
		e, err := r.Value()
		return WalletEntry{Chain: r.Chain, Entry: e}, err
	}, func(e *WalletEntry) *string { return &e.Chain })
}

// walkWallets walks rows of a table about wallets on some chains.
func walkWallets[R, V any](ctx context.Context, s *rows, table string, chains []string, condition string, from, to int64, value func(*R) (V, error), chain func(*V) *string,
) iter.Seq2[V, error] {
	if len(chains) == 0 {
		return func(func(V, error) bool) {}
	}
	q := s.db.Read.NewRaw("SELECT "+database.ColumnsOf[R](s.db.Read, "w")+" FROM "+table+" w WHERE w.chain IN (?) AND "+condition,
		database.Among(s.db.IsPostgres(), s.served.indexesOf(chains)), from, to)
	r, v := *new(R), *new(V) // one of each for all rows: what a row is read into lives on the heap
	into := database.Targets(s.db.Read, &r)
	ids := map[string]string{} // one text for each chain, in place of one for each row
	return database.Walk(ctx, s.db.Read, q, table, func(rows *sql.Rows) (_ V, err error) {
		if err = rows.Scan(into...); err != nil {
			return v, err
		}
		if v, err = value(&r); err != nil {
			return v, err
		}
		index := chain(&v)
		id, ok := ids[*index]
		if !ok {
			id, _ = s.served.chainOf(*index)
			ids[*index] = id
		}
		*index = id
		return v, nil
	})
}

// FirstHour is the unix second at which the first hour opens that a watched wallet has on any of some chains; ok is false where none has one.
func (s Wallets) FirstHour(ctx context.Context, chains []string) (open int64, ok bool, err error) {
	for _, chain := range chains { // one look into an index each
		var first sql.NullInt64
		err := s.db.AskOne(ctx, []any{&first}, "SELECT min(open_at) FROM wallet_hours WHERE chain = ?", s.served.indexOf(chain))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, false, fmt.Errorf("database: read the first hour of a member's wallet: %w", err)
		}
		if first.Valid && (!ok || first.Int64 < open) {
			open, ok = first.Int64, true
		}
	}
	return open, ok, nil
}

// TokenAt names a token of a chain.
type TokenAt struct {
	Chain string
	Mint  market.Address
}

// WalletIn says whether the member of a watched wallet is in a token.
type WalletIn struct {
	TokenAt

	Wallet market.Address
	// Member is the number of the member for whom the index watches the wallet; 0 where it doesn't.
	Member int64
	IsIn   bool
}

const allWalletsIn = "SELECT p.chain, p.token, p.wallet, w.member, p.is_in FROM wallet_positions p JOIN watched_wallets w ON w.chain = p.chain AND w.wallet = p.wallet " +
	"WHERE p.is_in AND p.chain = ?"

// AllIn walks the watched wallets whose members are in tokens of a chain, in no order.
func (s Wallets) AllIn(ctx context.Context, chain string) iter.Seq2[WalletIn, error] {
	return s.walkIn(ctx, allWalletsIn, s.served.indexOf(chain))
}

const walletsInSince = "SELECT e.chain, e.token, e.wallet, COALESCE(w.member, 0), COALESCE(p.is_in, FALSE) FROM (SELECT DISTINCT chain, token, wallet FROM wallet_entries WHERE chain = ? AND time >= ?) e " +
	"LEFT JOIN wallet_positions p ON p.chain = e.chain AND p.wallet = e.wallet AND p.token = e.token LEFT JOIN watched_wallets w ON w.chain = e.chain AND w.wallet = e.wallet"

// InSince walks the watched wallets that had entries since a time on their chain, in unix seconds, with the tokens that these were of, in no order.
func (s Wallets) InSince(ctx context.Context, since map[string]int64) iter.Seq2[WalletIn, error] {
	var parts []string
	var args []any
	for _, chain := range slices.Sorted(maps.Keys(since)) {
		parts, args = append(parts, walletsInSince), append(args, s.served.indexOf(chain), since[chain])
	}
	return s.walkIn(ctx, strings.Join(parts, " UNION ALL "), args...)
}

func (s Wallets) walkIn(ctx context.Context, query string, args ...any) iter.Seq2[WalletIn, error] {
	var v WalletIn // one for all rows: what a row is read into lives on the heap
	var token, wallet sql.RawBytes
	return database.Walk(ctx, s.db.Read, s.db.Read.NewRaw(query, args...), "wallet_positions", func(rows *sql.Rows) (WalletIn, error) {
		if err := rows.Scan(&v.Chain, &token, &wallet, &v.Member, &v.IsIn); err != nil {
			return v, err
		}
		c := model.Columns{Table: "wallet_positions"}
		v.Mint, v.Wallet = c.Address(token), c.Address(wallet)
		v.Chain, _ = s.served.chainOf(v.Chain)
		return v, c.Err
	})
}
