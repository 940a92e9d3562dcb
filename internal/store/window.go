package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// SpanCandles lists the candles of some pools of a chain in some spans, in no order.
func (s *Store) SpanCandles(ctx context.Context, chain string, pools []market.Address, spans []market.CandleSpan) ([]market.Candle, error) {
	if len(pools) == 0 || len(spans) == 0 {
		return nil, nil
	}
	// One range of the primary key for each pool and span.
	parts := make([]string, len(spans))
	args := make([]any, 0, 5*len(spans))
	for i, span := range spans {
		parts[i] = "SELECT * FROM candles WHERE chain = ? AND pool IN (?) AND interval_s = ? AND open_at >= ? AND open_at < ?"
		args = append(args, chain, among(s.postgres != nil, addressKeys(pools)), span.Interval, span.From, span.To)
	}
	var rows []candleRow
	if err := s.read.NewRaw(strings.Join(parts, " UNION ALL "), args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	return rowsTo(rows, (*candleRow).candle)
}

// PoolTime names a moment of a pool.
type PoolTime struct {
	Pool market.Address
	At   int64 // unix seconds
}

// ClosesBefore are the closes in USD of the newest minute candles that open before some moments; a moment without any
// is left out.
func (s *Store) ClosesBefore(ctx context.Context, chain string, moments []PoolTime) (map[PoolTime]float64, error) {
	if len(moments) == 0 {
		return nil, nil
	}
	parts := make([]string, len(moments))
	args := make([]any, 0, 4*len(moments))
	for i, m := range moments {
		parts[i] = "SELECT ? AS n, (SELECT close_usd FROM candles WHERE chain = ? AND pool = ? AND interval_s = 60 " +
			"AND open_at < ? ORDER BY open_at DESC LIMIT 1) AS close"
		args = append(args, i, chain, m.Pool.Bytes(), m.At)
	}
	var rows []struct {
		N     int
		Close *float64
	}
	if err := s.read.NewRaw(strings.Join(parts, " UNION ALL "), args...).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("database: read candles: %w", err)
	}
	out := make(map[PoolTime]float64, len(rows))
	for _, r := range rows {
		if r.Close != nil {
			out[moments[r.N]] = *r.Close
		}
	}
	return out, nil
}
