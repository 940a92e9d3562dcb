package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/schema"
)

// Plans tells how SQLite would run the queries that must not walk what is launched, by name.
func (s *Store) Plans(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for name, q := range map[string]struct {
		text string
		args []any
	}{
		"changed":         {commitlog.Query(0), []any{"base", 1, "base", "base"}},
		"own curves":      {ownCurves, []any{"base", database.Among(false, []any{[]byte{1}, []byte{2}})}},
		"next curve":      {nextCurve, []any{"base", []byte{1}}},
		"creator":         {creatorRecord, []any{"base", []byte{1}}},
		"curves before":   {curvesBefore, []any{"base", []byte{1}, 1, 1, 1}},
		"without supply":  {withoutSupply + "mint >= ? ORDER BY mint LIMIT 8", []any{"base", []byte{1}}},
		"doubted supply":  {doubtedSupplies, []any{"base", []byte{1}, 8}},
		"mute":            {muteTokens, []any{"base", 1, 33, []byte{1}, 8}},
		"unfollowed":      {unfollowed, []any{"base"}},
		"kept among":      {keptAmong, []any{"base", database.Among(false, []any{[]byte{1}, []byte{2}})}},
		"launched among":  {launchedAmong, []any{"base", database.Among(false, []any{[]byte{1}, []byte{2}})}},
		"pending":         {"SELECT mint FROM tokens WHERE " + referencePending, []any{"base"}},
		"recount":         {dueRecount + ofLaunches + recountOrder, []any{"base", 1, "", orNone(false, nil), []byte{1}}},
		"metadata new":    {metadataNew, []any{"base", 10}},
		"metadata again":  {metadataAgain, []any{"base", firstSecond, firstSecond + 1, 10}},
		"metadata noted":  {metadataNoted, []any{"base", 0, firstSecond, 10}},
		"trust":           {trustDue, []any{"base", 1, make([]byte, 32), "base", 1, 10}},
		"ticker":          {ofTicker, []any{database.Among(false, []any{"dog", "$dog"}), 10}},
		"first fact":      {firstTokenFact, []any{[]byte{1}, "base"}},
		"wallet traded":   {walletTraded + "('base', 'bsc')" + walletBeyond, []any{[]byte{1}, []byte{1}, 0}},
		"watch facts":     {"SELECT body FROM facts WHERE " + watchFacts, []any{[]byte{}, 1, "base"}},
		"forget watch":    {forgetWatch, []any{[]byte{1}, "base"}},
		"wallet facts":    {forgetFacts, []any{"base", []byte{1}, []byte{2}, "base", 10}},
		"wallets in":      {walletsInSince, []any{"base", 1}},
		"to copy":         {"SELECT block FROM trades WHERE " + ofTrader, []any{[]byte{1}, "base"}},
		"hours":           {"SELECT cost FROM wallet_hours w WHERE w.chain IN ('base', 'bsc') AND open_at >= ? AND open_at < ?", []any{1, 2}},
		"entries between": {"SELECT cost FROM wallet_entries w WHERE w.chain IN ('base', 'bsc') AND time >= ? AND time <= ?", []any{1, 2}},
		"forget entries": {
			"DELETE FROM wallet_entries WHERE chain = ? AND wallet = ? AND (block, seq) IN (SELECT block, seq FROM wallet_entries WHERE chain = ? AND wallet = ? LIMIT ?)",
			[]any{"base", []byte{1}, "base", []byte{1}, 10},
		},
		"pool flows":    {poolFlows, []any{"base", database.Among(false, []any{[]byte{1}, []byte{2}}), 1, 10}},
		"wallet trades": {walletTrades + "('base', 'bsc')" + walletOrder, []any{[]byte{1}, 1000}},
	} {
		var rows []struct {
			ID, Parent, Notused int64
			Detail              string
		}
		if err := s.db.Read.NewRaw("EXPLAIN QUERY PLAN "+q.text, q.args...).Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("explain %s: %w", name, err)
		}
		var lines []string
		for _, r := range rows {
			lines = append(lines, r.Detail)
		}
		out[name] = strings.Join(lines, "\n")
	}
	return out, nil
}

// IndexRows counts the rows that each table of the schema has of an index.
func (s *Store) IndexRows(ctx context.Context, index string) (map[string]int, error) {
	tables := "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'chain'"
	if s.db.IsPostgres() {
		tables = "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = 'chain'"
	}
	var names []string
	if err := s.db.Write.NewRaw(tables).Scan(ctx, &names); err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, name := range names {
		n, err := s.db.Write.NewSelect().TableExpr("?", bun.Ident(name)).Where("chain = ?", index).Count(ctx)
		if err != nil {
			return nil, err
		}
		out[name] = int(n)
	}
	return out, nil
}

// Tables are those whose rows have former images.
func Tables() []string { return slices.Sorted(maps.Keys(restorers)) }

// RereadImage reads a former image and writes it again.
func RereadImage(table string, existed bool, image []byte) ([]byte, error) {
	for row, form := range model.ImageForms {
		if form.Table == table {
			v := reflect.New(row).Elem()
			if err := form.Read(image, v, existed); err != nil {
				return nil, err
			}
			return form.Append(nil, v, existed)
		}
	}
	return nil, fmt.Errorf("no table %q has images", table)
}

// NoteRows keeps the former images of some rows of the hot path n times, as a commit does, and gives the images.
func NoteRows(n int, token *market.Token, pool *market.Pool, candle *market.Candle, trade *market.Trade) (images [][]byte, err error) {
	noteAll := func(u *former.Log) error {
		return errors.Join(former.Note(u, func() model.Token { return model.OfToken("base", token, model.Stamped{}) }, true), former.Note(u, func() model.Pool { return model.OfPool("base", pool, model.Stamped{}) }, true),
			former.Note(u, func() model.Candle { return model.OfCandle("base", candle) }, true), former.Note(u, func() model.Trade { return model.OfTrade("base", trade) }, false))
	}
	many, one := &former.Log{Chain: "base", Block: 1}, &former.Log{Chain: "base", Block: 1}
	for range n {
		err = errors.Join(err, noteAll(many))
	}
	err = errors.Join(err, noteAll(one))
	rows, e := former.Unpacked(one.End())
	for _, r := range rows {
		images = append(images, r.Image)
	}
	return images, errors.Join(err, e)
}

// EachImage gives the images of rows of undo.
func EachImage(table string, existed bool, image []byte, each func(table string, existed bool, image []byte)) error {
	rows, err := former.Unpacked([]former.Row{{Tbl: table, Existed: existed, Image: image}})
	for _, r := range rows {
		each(r.Tbl, r.Existed, r.Image)
	}
	return err
}

// ReadRows reads images of the rows that NoteRows keeps.
func ReadRows(token, pool, candle, trade []byte) error {
	_, err := former.Read[model.Token](&former.Row{Tbl: "tokens", Existed: true, Image: token})
	_, e1 := former.Read[model.Pool](&former.Row{Tbl: "pools", Existed: true, Image: pool})
	_, e2 := former.Read[model.Candle](&former.Row{Tbl: "candles", Existed: true, Image: candle})
	_, e3 := former.Read[model.Trade](&former.Row{Tbl: "trades", Image: trade})
	return errors.Join(err, e1, e2, e3)
}

// ReadFact reads a fact's body.
func ReadFact(kind string, body []byte) (market.Fact, error) { return readFact(kind, body) }

// WriteFact writes a fact's body.
func WriteFact(f market.Fact) (kind string, body []byte, err error) {
	rows, err := factsToRows("base", []StoredFact{{Fact: f}})
	if err != nil {
		return "", nil, err
	}
	return rows[0].Kind, rows[0].Body, nil
}

// PoolRead is a query of PoolReads.
type PoolRead struct {
	Text string
	Args []any
}

// PoolReads are the queries that read tokens' listed pools, by name.
func (s *Store) PoolReads(chain string, bases ...market.Address) map[string]PoolRead {
	listings := func(q *bun.RawQuery) PoolRead { return PoolRead{q.String(), nil} }
	text, args := s.Pools.nowOf(bases)
	return map[string]PoolRead{
		"PoolsNow":         {s.db.Numbered(text), args},
		"PoolsOf":          {chosen(s.rows, new([]model.Pool), chain, "base", addressKeys(bases), []string{listedOnly}).String(), nil},
		"listings of some": listings(s.Tokens.listingsOf(chain, bases)),
	}
}

// CandlesByKey is the query that reads candles by their keys.
func (s *Store) CandlesByKey(chain string, candles []market.CandleKey) string {
	return chosen(s.rows, new([]model.Candle), chain, candleKey, candleKeys(chain, candles), nil).String()
}

// laterRow is a row with a column that came after the others, and one that no image can have.
type laterRow struct {
	bun.BaseModel `bun:"table:later"`

	ID    int64 `bun:",pk"`
	First string
	Since int64 `image:"later"`
}

type oddRow struct {
	bun.BaseModel `bun:"table:odd"`

	ID  int64 `bun:",pk"`
	Odd []string
}

// RereadLater is RereadImage for a row with a column that came after the others.
func RereadLater(existed bool, image []byte) ([]byte, error) {
	row := reflect.TypeFor[laterRow]()
	form, v := model.FormsOf(row)[row], reflect.New(row).Elem()
	if err := form.Read(image, v, existed); err != nil {
		return nil, err
	}
	return form.Append(nil, v, existed)
}

// WriteOdd writes an image of a row with a column that none can have.
func WriteOdd() ([]byte, error) {
	row := reflect.TypeFor[oddRow]()
	return model.FormsOf(row)[row].Append(nil, reflect.New(row).Elem(), true)
}

// Removal is what RemoveBalances found: how many of the balances were left, how often PostgreSQL read the whole table, and which ways to join rows may be planned
// afterwards.
type Removal struct {
	Left, Scans int64
	Joins       string
}

// RemoveBalances deletes balances from a table of which PostgreSQL knows the size, and takes that back.
func (s *Store) RemoveBalances(ctx context.Context, chain string, keys []market.BalanceKey) (r Removal, err error) {
	if _, err := s.db.Write.NewRaw("ANALYZE balances").Exec(ctx); err != nil {
		return r, err
	}
	errBack := errors.New("taken back")
	err = s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		scans := func() (n int64, err error) {
			err = tx.NewRaw("SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = ?", schema.PartitionOf("balances", chain)).Scan(ctx, &n)
			return n, err
		}
		before, err := scans()
		if err != nil {
			return err
		}
		if err := database.Remove(ctx, tx, balanceRows(chain, keys)); err != nil {
			return err
		}
		after, err := scans()
		if err != nil {
			return err
		}
		r.Scans = after - before
		if r.Left, err = tx.NewSelect().Model((*model.Balance)(nil)).Where("chain = ?", chain).Count(ctx); err != nil {
			return err
		}
		if err := tx.NewRaw("SELECT current_setting('enable_hashjoin') || ', ' || current_setting('enable_mergejoin')").Scan(ctx, &r.Joins); err != nil {
			return err
		}
		return errBack
	})
	if errors.Is(err, errBack) {
		err = nil
	}
	return r, err
}

// ReplaceBalances deletes balances, writes them anew, and deletes others, all in one transaction. It gives how many balances the chain has then.
func (s *Store) ReplaceBalances(ctx context.Context, chain string, anew, gone []market.BalanceKey) (left int64, err error) {
	err = s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		return errors.Join(database.Remove(ctx, tx, balanceRows(chain, anew)), database.Upsert(ctx, tx, balanceRows(chain, anew)), database.Remove(ctx, tx, balanceRows(chain, gone)))
	})
	if err != nil {
		return 0, err
	}
	return s.db.Write.NewSelect().Model((*model.Balance)(nil)).Where("chain = ?", chain).Count(ctx)
}

func balanceRows(chain string, keys []market.BalanceKey) []model.Balance {
	rows := make([]model.Balance, len(keys))
	for i, k := range keys {
		rows[i] = model.OfBalance(chain, k, &market.Balance{})
	}
	return rows
}
