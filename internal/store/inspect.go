package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// Database is the database itself.
func (s Inspect) Database() *database.DB { return s.db }

// Tokens lists a chain's tokens that changed after commit number seen.
func (s Inspect) Tokens(ctx context.Context, chain string, seen int64) ([]market.Token, error) {
	var rows []model.Token
	if err := s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND commit_no > ?", chain, seen).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read changed tokens: %w", err)
	}
	return model.To(rows, (*model.Token).Value)
}

// Pools lists a chain's pools that changed after commit number seen.
func (s Inspect) Pools(ctx context.Context, chain string, seen int64) ([]market.Pool, error) {
	var rows []model.Pool
	if err := s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND commit_no > ?", chain, seen).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read changed pools: %w", err)
	}
	return model.To(rows, (*model.Pool).Value)
}

// Launches lists a chain's launches that changed after commit number seen, by block and log index.
func (s Inspect) Launches(ctx context.Context, chain string, seen int64) ([]market.Launch, error) {
	var rows []model.Launch
	err := s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND commit_no > ?", chain, seen).Order("block", "log_index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read changed launches: %w", err)
	}
	return model.To(rows, (*model.Launch).Value)
}

// Candles lists a pool's stored candles of one width that open in [from, to), oldest first.
func (s Inspect) Candles(ctx context.Context, chain string, pool market.Address, interval int32, from, to int64,
) ([]market.Candle, error) {
	var rows []model.Candle
	err := s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND pool = ? AND interval_s = ?", chain, pool.Bytes(), interval).
		Where("open_at >= ? AND open_at < ?", from, to).Order("open_at").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	return model.To(rows, (*model.Candle).Value)
}

// Trades lists a chain's trades from a block on with a time of at least since, oldest first.
func (s Inspect) Trades(ctx context.Context, chain string, block uint64, since int64) ([]market.Trade, error) {
	first, err := firstTradeBlock(ctx, s.db.Read, chain, since)
	if err != nil {
		return nil, err
	}
	var rows []model.Trade
	err = s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND block >= ?", chain, max(first, int64(block))).
		Order("block", "log_index").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read trades: %w", err)
	}
	return model.To(rows, (*model.Trade).Value)
}

// derived are the tables that a fresh index of the same blocks arrives at again, with the order of their rows.
var derived = map[string]string{
	"tokens": "mint", "pools": "id", "pool_ticks": "pool", "quote_prices": "asset", "trades": "block, log_index",
	"candles": "pool, interval_s, open_at", "balances": "token, account", "launches": "mint",
	"waiting_trades": "block, log_index", "watched_wallets": "wallet", "wallet_positions": "wallet, token", "wallet_hours": "open_at, wallet, member",
	"wallet_entries": "wallet, block, seq", "wallet_fees": "wallet, block, log_index",
}

// notDerived are the columns of those tables that may differ all the same. Where a trader's coins came from is known of blocks that were read with their
// transactions alone, and another index may have read others so.
var notDerived = []string{
	"chain", "commit_no", "changed_block", "changed_at", "has_metadata", "checked_at", "funding", "funder", "funded_at", "age", "first_at",
}

// Derived writes a chain's derived rows as text, a table after the other and each in the order of its key, so that
// two indexes of the same blocks can be compared. Left out are commit numbers and stamps, which tell of the way there, and what
// isn't derived.
func (s Inspect) Derived(ctx context.Context, chain string) (map[string][]string, error) {
	out := make(map[string][]string, len(derived))
	for table, order := range derived {
		lines, err := s.lines(ctx, table, order, chain)
		if err != nil {
			return nil, fmt.Errorf("database: read %s: %w", table, err)
		}
		out[table] = lines
	}
	return out, nil
}

// lines scans for itself: bun takes the type of a column from the first row, where it may be NULL.
func (s Inspect) lines(ctx context.Context, table, order, chain string) ([]string, error) {
	rows, err := s.db.Write.NewSelect().TableExpr("?", bun.Ident(table)).Where("chain = ?", chain).OrderExpr(order).Rows(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var lines []string
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range dest {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		row := make(map[string]any, len(columns))
		for i, column := range columns {
			switch v := values[i].(type) {
			case bool: // SQLite has them as numbers
				row[column] = int64(0)
				if v {
					row[column] = int64(1)
				}
			case []byte:
				row[column] = string(v) // and texts as bytes
			default:
				row[column] = v
			}
		}
		for _, column := range notDerived {
			delete(row, column)
		}
		lines = append(lines, fmt.Sprintf("%x", row)) // maps print in the order of their keys
	}
	return lines, rows.Err()
}

// KeepFacts adds facts of blocks that are not indexed yet: those of an earlier index, for one that begins anew.
func (s Inspect) KeepFacts(ctx context.Context, l *Lease, facts []StoredFact) error {
	return s.writeUnderLease(ctx, l, func(tx *database.Transaction, _ *pendingCommit) error {
		rows, err := factsToRows(l.Chain, facts)
		if err != nil {
			return err
		}
		return database.Upsert(ctx, tx, rows)
	})
}

// WalletTraded reports whether a wallet has a trade on any of some chains.
func (s Inspect) WalletTraded(ctx context.Context, wallet market.Address, chains []string) (bool, error) {
	return Trades(s).walletHas(ctx, wallet, chains, 0)
}

// Entries lists the entries of a chain's watched wallets, in the order of the chain.
func (s Inspect) Entries(ctx context.Context, chain string) ([]market.Entry, error) {
	var rows []model.Entry
	if err := s.db.Read.NewSelect().Model(&rows).Where("chain = ?", chain).Order("block", "seq").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read entries: %w", err)
	}
	return model.To(rows, (*model.Entry).Value)
}

// Positions reads the positions of a chain's watched wallets.
func (s Inspect) Positions(ctx context.Context, chain string) (map[market.PositionKey]market.Position, error) {
	var rows []model.Position
	if err := s.db.Read.NewSelect().Model(&rows).Where("chain = ?", chain).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read positions: %w", err)
	}
	out := make(map[market.PositionKey]market.Position, len(rows))
	for i := range rows {
		k, p, err := rows[i].Value()
		if err != nil {
			return nil, err
		}
		out[k] = p
	}
	return out, nil
}

// Fees lists what a chain's watched wallets paid of the platform's fee, in the order of the chain.
func (s Inspect) Fees(ctx context.Context, chain string) ([]market.Fee, error) {
	var rows []model.Fee
	if err := s.db.Read.NewSelect().Model(&rows).Where("chain = ?", chain).Order("block", "log_index").Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read fees: %w", err)
	}
	return model.To(rows, (*model.Fee).Value)
}

// TakeNumbers takes the next n numbers of the stream and runs f with the first of them, in one transaction, which f writes to.
func (s Inspect) TakeNumbers(ctx context.Context, n int, f func(ctx context.Context, db bun.IDB, first int64) error) error {
	return s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		first, err := streamlog.TakeNumbers(ctx, tx, n)
		if err != nil {
			return err
		}
		return f(ctx, tx, first)
	})
}
