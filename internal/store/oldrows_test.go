package store_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
)

// oldTables are the tables that a rewind changes, with the columns that they had at c9acfc3 but for the chain, commit numbers and
// what no commit writes.
var oldTables = []struct{ name, columns string }{
	{"tokens", "mint, name, symbol, has_decimals, decimals, has_supply, supply, first_block, first_seen_at, pool, candidate, " +
		"candidate_since, holders_status, holders_reason, holders, holders_strikes, since_creation"},
	{"pools", "id, protocol, factory, token0, token1, fee_pips, tick_spacing, hooks, stable, created_block, created_at, base, quote, " +
		"base_is0, untrusted, reserve0, reserve1, sqrt_price_x96, liquidity, tick, price, depth, locked, last_trade_at, day_volume_usd, " +
		"day_buys, day_sells, day_reference"},
	{"pool_ticks", "pool, ticks"},
	{"quote_prices", "asset, usd, pegged"},
	{"trades", "block, log_index, time, tx, pool, base, trader, sell, base_amount, quote_amount, nano_usd, close_usd, close_native, " +
		"trader_amount, trader_before"},
	{"candles", "pool, interval_s, open_at, open_usd, high_usd, low_usd, close_usd, open_native, high_native, low_native, close_native, " +
		"volume_usd, volume_quote, volume_base, buys, sells, last_block"},
	{"balances", "token, account, amount, excluded"},
	{"launches", "mint, venue, creator, block, log_index, created_at, tx, curve, pricing, basis, fills_up, quote, sale_base, " +
		"target_quote, fee_bps, virtual_base, virtual_quote, real_base, real_quote, price, traded, progress, has_progress, state, " +
		"completed_at, graduated_at, graduated_tx, pool, name, symbol, metadata, image"},
	{"holder_queue", "token, block, seq, sender, recipient, amount"},
	{"holder_jobs", "token, final_block, next_block, broken"},
	{"holder_staging", "token, account, amount"},
	{"blocks", "number, hash, parent, time"},
	{"facts", "block, kind, ref, hash"},
}

// oldRows writes the rows of oldTables as text, sorted.
func oldRows(t *testing.T, db *sql.DB) (lines []string) {
	t.Helper()
	for _, table := range oldTables {
		lines = append(lines, oldRowsOf(t, db, table.name, table.columns)...)
	}
	slices.Sort(lines)
	return lines
}

func oldRowsOf(t *testing.T, db *sql.DB, table, columns string) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT "+columns+" FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names := strings.Split(columns, ", ")
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range dest {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		var line strings.Builder
		line.WriteString(table)
		for i, name := range names {
			line.WriteString(" " + name + "=" + oldValue(values[i]))
		}
		lines = append(lines, line.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func oldValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool: // SQLite has them as numbers
		if v {
			return "1"
		}
		return "0"
	case []byte:
		return hex.EncodeToString(v)
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// oldChange writes how rows differ from those before: what is gone with a minus, what came with a plus.
func oldChange(before, after []string) (lines []string) {
	for i, j := 0, 0; i < len(before) || j < len(after); {
		switch {
		case j == len(after) || i < len(before) && before[i] < after[j]:
			lines = append(lines, "-"+before[i])
			i++
		case i == len(before) || after[j] < before[i]:
			lines = append(lines, "+"+after[j])
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return lines
}

// oldFact writes a fact as text.
func oldFact(s store.StoredFact) string {
	at := fmt.Sprintf("%d %s ", s.Block, s.Hash)
	switch f := s.Fact.(type) {
	case market.TokenFact:
		return at + fmt.Sprintf("token %s %q %q %v %d %v %s %v", f.Token, f.Name, f.Symbol, f.HasDecimals, f.Decimals, f.HasSupply,
			f.Supply.Dec(), f.FromCreation)
	case market.PoolFact:
		i := &f.Info
		return at + fmt.Sprintf("pool %s %v %q %s %s %s %s %s %d %d %q %v %s %d", f.Pool, f.Known, f.Reason, i.Protocol, i.Factory, i.Pool,
			i.Token0, i.Token1, i.FeePips, i.TickSpacing, i.Hooks, i.Stable, i.SqrtPriceX96.Dec(), i.Tick)
	case market.SupplyFact:
		return at + fmt.Sprintf("supply %s %s", f.Token, f.Supply.Dec())
	case market.BalanceFact:
		return at + fmt.Sprintf("balance %s %s %s", f.Token, f.Account, f.Amount.Dec())
	case market.CurveFact:
		return at + fmt.Sprintf("curve %s %s %v %q %q", f.Curve, f.Token, f.Known, f.Reason, f.Quote)
	default:
		return at + fmt.Sprintf("%T", f)
	}
}
