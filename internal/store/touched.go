package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// The functions of this file name the rows that a rewind changes, by the keys that Load takes. They are given former images: a row that goes
// has the key alone, and what else names cached rows is read from the table, which still has the row then.

func touchTokens(_ context.Context, _ *database.Transaction, rows []tokenRow, touched *market.Touched) error {
	c := columns{table: "tokens"}
	for i := range rows {
		touched.Tokens = append(touched.Tokens, c.address(rows[i].Mint))
	}
	return c.err
}

func touchPools(ctx context.Context, tx *database.Transaction, rows []poolRow, touched *market.Touched) error {
	c := columns{table: "pools"}
	var keys []any
	for i := range rows {
		r := &rows[i]
		touched.Pools = append(touched.Pools, c.address(r.ID))
		if len(r.Base) > 0 {
			touched.Bases = append(touched.Bases, c.address(r.Base))
		} else {
			keys = append(keys, r.ID)
		}
	}
	bases, err := readAddresses(ctx, tx, "SELECT DISTINCT base FROM pools WHERE chain = ? AND id IN (?)", rows[0].Chain, keys, &c)
	touched.Bases = append(touched.Bases, bases...)
	return err
}

func touchTicks(_ context.Context, _ *database.Transaction, rows []ticksRow, touched *market.Touched) error {
	c := columns{table: "pool_ticks"}
	for i := range rows {
		touched.Ticks = append(touched.Ticks, c.address(rows[i].Pool))
	}
	return c.err
}

func touchCandles(_ context.Context, _ *database.Transaction, rows []candleRow, touched *market.Touched) error {
	c := columns{table: "candles"}
	for i := range rows {
		r := &rows[i]
		touched.Candles = append(touched.Candles, market.CandleKey{Pool: c.address(r.Pool), Interval: r.IntervalS, Open: r.OpenAt})
	}
	return c.err
}

func touchBalances(_ context.Context, _ *database.Transaction, rows []balanceRow, touched *market.Touched) error {
	c := columns{table: "balances"}
	for i := range rows {
		r := &rows[i]
		touched.Balances = append(touched.Balances, market.BalanceKey{Token: c.address(r.Token), Account: c.address(r.Account)})
	}
	return c.err
}

func touchLaunches(ctx context.Context, tx *database.Transaction, rows []launchRow, touched *market.Touched) error {
	c := columns{table: "launches"}
	var keys []any
	for i := range rows {
		r := &rows[i]
		touched.Launches = append(touched.Launches, c.address(r.Mint))
		if len(r.Curve) > 0 {
			touched.Curves = append(touched.Curves, c.address(r.Curve))
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
func readAddresses(ctx context.Context, tx *database.Transaction, query, chain string, keys []any, c *columns) (out []market.Address, err error) {
	for part := range slices.Chunk(keys, database.LoadKeys) {
		var column [][]byte
		if err := tx.NewRaw(query, chain, database.Among(tx.Postgres, part)).Scan(ctx, &column); err != nil {
			return nil, fmt.Errorf("database: read what rows of %s belong to: %w", c.table, err)
		}
		for _, a := range column {
			out = append(out, c.address(a))
		}
	}
	return out, c.err
}
