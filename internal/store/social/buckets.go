package social

import (
	"context"
	"fmt"
	"math/big"

	"github.com/holiman/uint256"
	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// ProfitBucket is what all members together realised in a stretch of time.
type ProfitBucket struct {
	// Width is in seconds, and OpenAt unix seconds.
	Width, OpenAt int64
	market.HourSums
}

type profitBucketRow struct {
	bun.BaseModel `bun:"table:profit_buckets"`

	Width    int64 `bun:",pk"`
	OpenAt   int64 `bun:",pk"`
	Realised string
	Volume   string
	Members  int64
	Sales    int64
	Trades   int64
}

// ProfitBuckets lists the closed buckets of a width, in seconds, that open in [from, to), unix seconds, in their order.
func (s Profit) ProfitBuckets(ctx context.Context, width, from, to int64) ([]ProfitBucket, error) {
	var rows []profitBucketRow
	if err := s.db.Read.NewSelect().Model(&rows).Where("width = ? AND open_at >= ? AND open_at < ?", width, from, to).Order("open_at").Scan(ctx); err != nil {
		return nil, wrap("read what members realised", err)
	}
	out := make([]ProfitBucket, len(rows))
	for i := range rows {
		r := &rows[i]
		b := ProfitBucket{Width: r.Width, OpenAt: r.OpenAt, HourSums: market.HourSums{Members: int(r.Members), Sales: int(r.Sales), Trades: int(r.Trades)}}
		var ok bool
		if b.Realised, ok = usdOfText(r.Realised); ok {
			b.Volume, ok = usdOfText(r.Volume)
		}
		if !ok {
			return nil, fmt.Errorf("database: a row of profit_buckets: sums of %q and %q", r.Realised, r.Volume)
		}
		out[i] = b
	}
	return out, nil
}

// usdOfText reads a decimal number of 1e-9 USD.
func usdOfText(text string) (u market.USD, ok bool) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return u, false
	}
	abs, over := uint256.FromBig(new(big.Int).Abs(n))
	if over {
		return u, false
	}
	if u, ok = market.USDOf(abs); n.Sign() < 0 {
		u = market.USD{}.Sub(u)
	}
	return u, ok
}

// LastProfitBucket is when the last closed bucket of a width opens; ok is false where none is closed.
func (s Profit) LastProfitBucket(ctx context.Context, width int64) (open int64, ok bool, err error) {
	return s.profitBucket(ctx, width, "open_at DESC")
}

// FirstProfitBucket is when the first closed bucket of a width opens; ok is false where none is closed.
func (s Profit) FirstProfitBucket(ctx context.Context, width int64) (open int64, ok bool, err error) {
	return s.profitBucket(ctx, width, "open_at")
}

func (s *rows) profitBucket(ctx context.Context, width int64, order string) (open int64, ok bool, err error) {
	var found []int64
	err = s.db.Read.NewRaw("SELECT open_at FROM profit_buckets WHERE width = ? ORDER BY "+order+" LIMIT 1", width).Scan(ctx, &found)
	if err != nil || len(found) == 0 {
		return 0, false, wrap("read what members realised", err)
	}
	return found[0], true, nil
}

// CloseProfitBuckets writes closed buckets of a width, under the lease, and deletes those of it that open before oldest, unix seconds.
func (s Profit) CloseProfitBuckets(ctx context.Context, l *Lease, width, oldest int64, closed []ProfitBucket) error {
	rows := make([]profitBucketRow, len(closed))
	for i := range closed {
		b := &closed[i]
		rows[i] = profitBucketRow{
			Width: width, OpenAt: b.OpenAt, Realised: b.Realised.Big().String(), Volume: b.Volume.Big().String(), Members: int64(b.Members), Sales: int64(b.Sales), Trades: int64(b.Trades),
		}
	}
	return s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		if err := holds(ctx, tx, l); err != nil {
			return err
		}
		if err := database.Upsert(ctx, tx, rows); err != nil {
			return err
		}
		_, err := tx.NewRaw("DELETE FROM profit_buckets WHERE width = ? AND open_at < ?", width, oldest).Exec(ctx)
		return wrap("delete old sums of what members realised", err)
	})
}
