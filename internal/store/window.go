package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

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
		args = append(args, chain, database.Among(s.IsPostgres(), addressKeys(pools)), span.Interval, span.From, span.To)
	}
	var rows []struct {
		Pool      []byte
		OpenAt    int64
		VolumeUSD []byte
		Buys      int64
		Sells     int64
	}
	if err := s.Read.NewRaw(strings.Join(parts, " UNION ALL "), args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	c := columns{table: "candles"}
	out := make([]Activity, 0, len(rows))
	for _, r := range rows {
		out = append(out, Activity{c.address(r.Pool), r.OpenAt, c.amount(r.VolumeUSD), r.Buys, r.Sells})
	}
	return out, c.err
}

// PoolTime names a moment of a pool.
type PoolTime struct {
	Pool market.Address
	At   int64 // unix seconds
}

// Close is what a stored candle ended at.
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
	if err := s.Read.NewRaw(strings.Join(parts, " UNION ALL "), args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	out := make(map[PoolTime]Close, len(rows))
	col := columns{table: "candles"}
	for _, r := range rows {
		out[moments[r.N]] = Close{r.OpenAt, r.CloseUSD, r.CloseNative, col.amount(r.VolumeUSD), col.amount(r.VolumeQuote)}
	}
	return out, col.err
}
