package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// The functions of this file name the rows that a rewind changes, by the keys that Load takes. They are given former images: a row that goes
// has the key alone, and what else names cached rows is read from the table, which still has the row then.

func touchTokens(_ context.Context, _ *database.Transaction, rows []model.Token, touched *market.Touched) error {
	c := model.Columns{Table: "tokens"}
	for i := range rows {
		touched.Tokens = append(touched.Tokens, c.Address(rows[i].Mint))
	}
	return c.Err
}

func touchPools(ctx context.Context, tx *database.Transaction, rows []model.Pool, touched *market.Touched) error {
	c := model.Columns{Table: "pools"}
	var keys []any
	for i := range rows {
		r := &rows[i]
		touched.Pools = append(touched.Pools, c.Address(r.ID))
		if len(r.Base) > 0 {
			touched.Bases = append(touched.Bases, c.Address(r.Base))
		} else {
			keys = append(keys, r.ID)
		}
	}
	bases, err := readAddresses(ctx, tx, "SELECT DISTINCT base FROM pools WHERE chain = ? AND id IN (?)", rows[0].Chain, keys, &c)
	touched.Bases = append(touched.Bases, bases...)
	return err
}

func touchTicks(_ context.Context, _ *database.Transaction, rows []model.Ticks, touched *market.Touched) error {
	c := model.Columns{Table: "pool_ticks"}
	for i := range rows {
		touched.Ticks = append(touched.Ticks, c.Address(rows[i].Pool))
	}
	return c.Err
}

func touchCandles(_ context.Context, _ *database.Transaction, rows []model.Candle, touched *market.Touched) error {
	c := model.Columns{Table: "candles"}
	for i := range rows {
		r := &rows[i]
		touched.Candles = append(touched.Candles, market.CandleKey{Pool: c.Address(r.Pool), Interval: r.IntervalS, Open: r.OpenAt})
	}
	return c.Err
}

func touchBalances(_ context.Context, _ *database.Transaction, rows []model.Balance, touched *market.Touched) error {
	c := model.Columns{Table: "balances"}
	for i := range rows {
		r := &rows[i]
		touched.Balances = append(touched.Balances, market.BalanceKey{Token: c.Address(r.Token), Account: c.Address(r.Account)})
	}
	return c.Err
}

func touchLaunches(ctx context.Context, tx *database.Transaction, rows []model.Launch, touched *market.Touched) error {
	c := model.Columns{Table: "launches"}
	var keys []any
	for i := range rows {
		r := &rows[i]
		touched.Launches = append(touched.Launches, c.Address(r.Mint))
		if len(r.Curve) > 0 {
			touched.Curves = append(touched.Curves, c.Address(r.Curve))
		} else {
			keys = append(keys, r.Mint)
		}
	}
	const curves = "SELECT DISTINCT curve FROM launches WHERE chain = ? AND mint IN (?) AND curve IS NOT NULL"
	contracts, err := readAddresses(ctx, tx, curves, rows[0].Chain, keys, &c)
	touched.Curves = append(touched.Curves, contracts...)
	return err
}

// readAddresses reads a column of addresses of the rows with some keys. The query takes the chain and the keys.
func readAddresses(ctx context.Context, tx *database.Transaction, query, chain string, keys []any, c *model.Columns) (out []market.Address, err error) {
	for part := range slices.Chunk(keys, database.LoadKeys) {
		var column [][]byte
		if err := tx.NewRaw(query, chain, database.Among(tx.Postgres, part)).Scan(ctx, &column); err != nil {
			return nil, fmt.Errorf("database: read what rows of %s belong to: %w", c.Table, err)
		}
		for _, a := range column {
			out = append(out, c.Address(a))
		}
	}
	return out, c.Err
}
