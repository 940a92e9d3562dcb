package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Series lists a pool's stored candles of one width that open in [from, to), oldest first, with prices in USD or in the
// native coin, volume in USD and the trades; nothing else of them is read.
func (s Candles) Series(ctx context.Context, chain string, pool market.Address, interval int32, from, to int64, native bool,
) ([]market.Candle, error) {
	chain = s.served.indexOf(chain)
	return s.series(ctx, native, pool, "open_at >= ? AND open_at < ? ORDER BY open_at", chain, pool.Bytes(), interval, from, to)
}

// SeriesBefore is the newest such candle that opens before t; ok is false when there is none.
func (s Candles) SeriesBefore(ctx context.Context, chain string, pool market.Address, interval int32, t int64, native bool,
) (c market.Candle, ok bool, err error) {
	chain = s.served.indexOf(chain)
	list, err := s.series(ctx, native, pool, "open_at < ? ORDER BY open_at DESC LIMIT 1", chain, pool.Bytes(), interval, t)
	if err != nil || len(list) == 0 {
		return c, false, err
	}
	return list[0], true, nil
}

func (s Candles) series(ctx context.Context, native bool, pool market.Address, where string, args ...any) (out []market.Candle, err error) {
	names := usdColumns
	if native {
		names = nativeColumns
	}
	rows, err := s.db.Ask(ctx, "SELECT "+names+" FROM candles WHERE chain = ? AND pool = ? AND interval_s = ? AND "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var volume sql.RawBytes
	for rows.Next() {
		c := market.Candle{CandleKey: market.CandleKey{Pool: pool}}
		price := &c.USD
		if native {
			price = &c.Native
		}
		if err := rows.Scan(&c.Open, &price.Open, &price.High, &price.Low, &price.Close, &volume, &c.Buys, &c.Sells, &c.LastBlock); err != nil {
			return nil, fmt.Errorf("database: read candles: %w", err)
		}
		col := model.Columns{Table: "candles"}
		if c.VolumeUSD = col.Amount(volume); col.Err != nil {
			return nil, col.Err
		}
		out = append(out, c)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	return out, nil
}

// First is the open of a pool's oldest stored candle of one width; ok is false when there is none.
func (s Candles) First(ctx context.Context, chain string, pool market.Address, interval int32) (open int64, ok bool, err error) {
	chain = s.served.indexOf(chain)
	err = s.db.Read.NewSelect().Model((*model.Candle)(nil)).Column("open_at").
		Where("chain = ? AND pool = ? AND interval_s = ?", chain, pool.Bytes(), interval).Order("open_at").Limit(1).Scan(ctx, &open)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("database: read candles: %w", err)
	}
	return open, true, nil
}

// Activity is how much a pool was traded in one stored candle.
type Activity struct {
	Pool        market.Address
	Open        int64         // unix seconds
	VolumeUSD   market.Amount // in 1e-9 USD
	Buys, Sells int64
}

// Activities lists what the candles of some pools of a chain in some spans tell, in no order.
func (s Candles) Activities(ctx context.Context, chain string, pools []market.Address, spans []market.CandleSpan) ([]Activity, error) {
	chain = s.served.indexOf(chain)
	if len(pools) == 0 || len(spans) == 0 {
		return nil, nil
	}
	// One range of the primary key for each pool and span.
	parts := make([]string, len(spans))
	args := make([]any, 0, 5*len(spans))
	for i, span := range spans {
		parts[i] = "SELECT pool, open_at, volume_usd, buys, sells FROM candles " +
			"WHERE chain = ? AND pool IN (?) AND interval_s = ? AND open_at >= ? AND open_at < ?"
		args = append(args, chain, database.Among(s.db.IsPostgres(), addressKeys(pools)), span.Interval, span.From, span.To)
	}
	var rows []struct {
		Pool      []byte
		OpenAt    int64
		VolumeUSD []byte
		Buys      int64
		Sells     int64
	}
	if err := s.db.Read.NewRaw(strings.Join(parts, " UNION ALL "), args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	c := model.Columns{Table: "candles"}
	out := make([]Activity, 0, len(rows))
	for _, r := range rows {
		out = append(out, Activity{c.Address(r.Pool), r.OpenAt, c.Amount(r.VolumeUSD), r.Buys, r.Sells})
	}
	return out, c.Err
}

// PoolTime names a moment of a pool.
type PoolTime struct {
	Pool market.Address
	At   int64 // unix seconds
}

// Close is the last price of a stored candle.
type Close struct {
	Open        int64 // of the candle; unix seconds
	USD, Native float64
	VolumeUSD   market.Amount // in 1e-9 USD
	VolumeQuote market.Amount // in the quote's smallest unit
}

// ClosesBefore are the closes of the newest minute candles that open before some moments; a moment without any is left out.
func (s Candles) ClosesBefore(ctx context.Context, chain string, moments []PoolTime) (map[PoolTime]Close, error) {
	chain = s.served.indexOf(chain)
	if len(moments) == 0 {
		return nil, nil
	}
	parts := make([]string, len(moments))
	args := make([]any, 0, 4*len(moments))
	for i, m := range moments {
		parts[i] = "SELECT n, open_at, close_usd, close_native, volume_usd, volume_quote FROM " +
			"(SELECT CAST(? AS INTEGER) AS n, open_at, close_usd, close_native, volume_usd, volume_quote FROM candles WHERE chain = ? AND pool = ? " +
			"AND interval_s = 60 AND open_at < ? ORDER BY open_at DESC LIMIT 1) c"
		args = append(args, i, chain, m.Pool.Bytes(), m.At)
	}
	var rows []struct {
		N           int
		OpenAt      int64
		CloseUSD    float64 `bun:"close_usd"`
		CloseNative float64
		VolumeUSD   []byte `bun:"volume_usd"`
		VolumeQuote []byte
	}
	if err := s.db.Read.NewRaw(strings.Join(parts, " UNION ALL "), args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	out := make(map[PoolTime]Close, len(rows))
	col := model.Columns{Table: "candles"}
	for _, r := range rows {
		out[moments[r.N]] = Close{r.OpenAt, r.CloseUSD, r.CloseNative, col.Amount(r.VolumeUSD), col.Amount(r.VolumeQuote)}
	}
	return out, col.Err
}

// The columns of candles that a series of prices in one currency is made of.
const (
	usdColumns    = "open_at, open_usd, high_usd, low_usd, close_usd, volume_usd, buys, sells, last_block"
	nativeColumns = "open_at, open_native, high_native, low_native, close_native, volume_usd, buys, sells, last_block"
)
