package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Load reads the rows that a batch needs, one query per table (and per 2,000 keys). It reads through the writer's
// connection, so that it sees the last commit.
func (s *Store) Load(ctx context.Context, chain string, w market.Wanted) (market.Rows, error) {
	out := market.Rows{Ticks: map[market.Address]market.TickMap{}, Balances: make(map[market.BalanceKey]market.Balance, len(w.Balances))}
	pools, err := in[model.Pool](ctx, s.rows, chain, "id", addressKeys(w.Pools))
	if err != nil {
		return out, err
	}
	ofBases, err := in[model.Pool](ctx, s.rows, chain, "base", addressKeys(w.PoolsOf), listedOnly)
	if err != nil {
		return out, err
	}
	pairs, err := in[model.Pair](ctx, s.rows, chain, "base", addressKeys(w.PairsOf), withAccount)
	if err != nil {
		return out, err
	}
	if out.Pairs, err = model.To(pairs, (*model.Pair).Value); err != nil {
		return out, err
	}
	if out.Pools, err = model.To(append(pools, ofBases...), (*model.Pool).Value); err != nil {
		return out, err
	}
	if err = s.loadTicks(ctx, chain, pools, &out); err != nil {
		return out, err
	}
	tokens, err := in[model.Token](ctx, s.rows, chain, "mint", addressKeys(w.Tokens))
	if err != nil {
		return out, err
	}
	if out.Tokens, err = model.To(tokens, (*model.Token).Value); err != nil {
		return out, err
	}
	launches, err := in[model.Launch](ctx, s.rows, chain, "mint", addressKeys(w.Launches))
	if err != nil {
		return out, err
	}
	if out.Launches, err = model.To(launches, (*model.Launch).Value); err != nil {
		return out, err
	}
	if out.Curves, err = s.ownCurves(ctx, chain, w.Curves); err != nil {
		return out, err
	}
	if err = s.loadCandles(ctx, chain, w, &out); err != nil {
		return out, err
	}
	if err = s.loadWallets(ctx, chain, w, &out); err != nil {
		return out, err
	}
	return out, s.loadBalances(ctx, chain, w.Balances, &out)
}

func addressKeys(list []market.Address) []any {
	keys := make([]any, len(list))
	for i, a := range list {
		keys[i] = a.Bytes()
	}
	return keys
}

const candleKey = "(chain, pool, interval_s, open_at)"

// in reads the rows of a table whose column (or list of columns, in parentheses) is among keys and for which the conditions hold. A list has the chain too, as its keys
// have: with it PostgreSQL looks each key up in the primary key. Without, it reads all of a table of up to some 200,000 rows in place of 750 keys' rows, which takes
// four times as long.
func in[R any](ctx context.Context, s *rows, chain, column string, keys []any, conditions ...string) ([]R, error) {
	out := make([]R, 0, min(len(keys), database.LoadKeys)) // as far as there is room, rows are scanned where they stay
	for len(keys) > 0 {
		n := min(database.LoadKeys, len(keys))
		part := out[len(out):] // a scan begins its slice anew
		if err := chosen(s, &part, chain, column, keys[:n], conditions).Scan(ctx); err != nil {
			return nil, fmt.Errorf("database: load by %s: %w", column, err)
		}
		out, keys = append(out, part...), keys[n:]
	}
	return out, nil
}

// chosen is the query of in.
func chosen[R any](s *rows, into *[]R, chain, column string, keys []any, conditions []string) *bun.SelectQuery {
	ofChain := "chain = ?"
	if column == "base" {
		ofChain = poolsChain + " = ?"
	}
	q := s.db.Write.NewSelect().Model(into).Where(ofChain, chain).Where(column+" IN (?)", database.Among(s.db.IsPostgres(), keys))
	for _, c := range conditions {
		q = q.Where(c)
	}
	return q
}

func (s *rows) loadTicks(ctx context.Context, chain string, pools []model.Pool, out *market.Rows) error {
	var keys []any
	for i := range pools {
		if market.Protocol(pools[i].Protocol).Concentrated() {
			keys = append(keys, pools[i].ID)
		}
	}
	rows, err := in[model.Ticks](ctx, s, chain, "pool", keys)
	if err != nil {
		return err
	}
	for i := range rows {
		pool, ticks, err := rows[i].Value()
		if err != nil {
			return err
		}
		out.Ticks[pool] = ticks
	}
	return nil
}

func candleKeys(chain string, candles []market.CandleKey) []any {
	keys := make([]any, len(candles))
	for i, k := range candles {
		keys[i] = []any{chain, k.Pool.Bytes(), k.Interval, k.Open}
	}
	return keys
}

func (s *rows) loadCandles(ctx context.Context, chain string, w market.Wanted, out *market.Rows) error {
	var rows []model.Candle
	if w.ExpireFrom <= w.ExpireTo {
		err := s.db.Write.NewSelect().Model(&rows).Where("chain = ? AND interval_s = 60", chain).
			Where("open_at BETWEEN ? AND ?", w.ExpireFrom, w.ExpireTo).Scan(ctx)
		if err != nil {
			return fmt.Errorf("database: load the minutes that leave the window: %w", err)
		}
	}
	byKey, err := in[model.Candle](ctx, s, chain, candleKey, candleKeys(chain, w.Candles))
	if err != nil {
		return err
	}
	out.Candles, err = model.To(append(rows, byKey...), (*model.Candle).Value)
	return err
}

func (s *rows) loadBalances(ctx context.Context, chain string, wanted []market.BalanceKey, out *market.Rows) error {
	keys := make([]any, len(wanted))
	for i, k := range wanted {
		keys[i] = []any{chain, k.Token.Bytes(), k.Account.Bytes()}
	}
	rows, err := in[model.Balance](ctx, s, chain, "(chain, token, account)", keys)
	if err != nil {
		return err
	}
	for i := range rows {
		k, b, err := rows[i].Value()
		if err != nil {
			return err
		}
		out.Balances[k] = b
	}
	return nil
}

// referencePending spells the condition of the index tokens_pending. The chain is written so that SQLite can't take the primary key for as good, by
// which it would read every token of the chain.
const referencePending = "chain || '' = ? AND candidate IS NOT NULL"

// Beginning reads what an indexer starts with, but for the newest block and the recounts. declared are the contracts that venues declare.
func (s *Store) Beginning(ctx context.Context, chain string, declared []market.Address) (b market.Beginning, err error) {
	var tokens []model.Token
	if err := s.db.Write.NewSelect().Model(&tokens).Where(referencePending, chain).Scan(ctx); err != nil {
		return b, fmt.Errorf("database: read tokens that wait for a reference pool: %w", err)
	}
	var rows []model.Quote
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ?", chain).Scan(ctx); err != nil {
		return b, fmt.Errorf("database: read quote prices: %w", err)
	}
	if b.Pending, err = model.To(tokens, (*model.Token).Value); err != nil {
		return b, err
	}
	if b.Quotes, err = model.To(rows, (*model.Quote).Value); err != nil {
		return b, err
	}
	if b.Waiting, err = s.waitingTrades(ctx, chain); err != nil {
		return b, err
	}
	b.OwnCurves, err = s.anyOwnCurve(ctx, chain, declared)
	return b, err
}
