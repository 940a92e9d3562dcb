package solana

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// copied are the tables with rows of a launch, and the columns that name its token, its curve, or what the curve has of it.
var copied = []struct {
	table  string
	token  string // the column with the token
	curve  string // with the curve's id among the pools
	owners bool   // of the rows only that of the curve's own account is copied
}{
	{table: "launches", token: "mint"},
	{table: "tokens", token: "mint"},
	{table: "pools", token: "base", curve: "id"},
	{table: "balances", token: "token", owners: true},
}

// copyLaunches gives every other launch the rows that the index derived of the first one, as they are before its first trade.
func copyLaunches(ctx context.Context, conn *pgx.Conn, first market.Address, launches int) error {
	for _, c := range copied {
		rows, err := conn.Query(ctx, fmt.Sprintf("SELECT * FROM %s WHERE chain = 'solana' AND %s = $1", c.table, c.token), first.Bytes())
		if err != nil {
			return err
		}
		columns := rows.FieldDescriptions()
		names := make([]string, len(columns))
		for i := range columns {
			names[i] = columns[i].Name
		}
		row, err := pgx.CollectOneRow(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
		if err != nil {
			return fmt.Errorf("the first launch's row of %s: %w", c.table, err)
		}
		p := lab.NewProgress("rows of "+c.table, int64(launches))
		n := 1
		source := pgx.CopyFromFunc(func() ([]any, error) {
			if n >= launches {
				return nil, nil
			}
			x := launched(n)
			out := slices.Clone(row)
			for i, name := range names {
				switch {
				case name == c.token, name == "token0" && c.curve != "":
					out[i] = x.mint.Bytes()
				case name == c.curve, c.table == "tokens" && name == "pool", c.table == "tokens" && name == "candidate" && out[i] != nil:
					if out[i] != nil {
						out[i] = market.CurveID(x.mint).Bytes()
					}
				case name == "curve" && c.table == "launches", name == "account":
					out[i] = x.curve.Bytes()
				case name == "log_index":
					out[i] = int64(n)
				}
			}
			n++
			p.At(int64(n))
			return out, nil
		})
		if _, err := conn.CopyFrom(ctx, pgx.Identifier{c.table}, names, source); err != nil {
			return fmt.Errorf("copy rows of %s: %w", c.table, err)
		}
	}
	_, err := conn.Exec(ctx, "ANALYZE")
	return err
}

// known is a launch.
type known struct{ mint, curve market.Address }

// launched is the n-th launch.
func launched(n int) known {
	mint := key("launch", n)
	return known{mint: market.SolanaAddress(mint), curve: market.SolanaAddress(key("curve of "+market.EncodeBase58(mint[:]), 0))}
}
