package solana

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
	"github.com/boardwalkhq/boardwalk/hack/simnet/solana/svm"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// copiedTable is a table with a row of each launch, the columns that name its token and its curve's id among the pools, and the column of the account that has
// its tokens.
type copiedTable struct{ table, token, curveID, account string }

var copies = []copiedTable{
	{table: "launches", token: "mint", account: "curve"},
	{table: "tokens", token: "mint", curveID: "pool"},
	{table: "pools", token: "base", curveID: "id"},
	{table: "balances", token: "token", account: "account"},
}

// copyLaunches gives every other launch the rows that the index derived of the first one, as they are before its first trade.
func copyLaunches(ctx context.Context, conn *pgx.Conn, first market.Address, launches int) error {
	for _, c := range copies {
		rows := lab.Copies{
			Table: c.table, Where: "chain = 'solana' AND " + c.token + " = $1", Key: first.Bytes(), Count: launches,
			Change: func(n int, columns []string, row []any) []any { return c.of(n, row, columns, first) },
		}
		if err := rows.Write(ctx, conn); err != nil {
			return err
		}
	}
	// As if the rows had come one by one: else the database would begin to vacuum millions of new rows while the head is followed.
	_, err := conn.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// of is the row of the n-th launch: what names the first one's token, curve or account names its own.
func (c *copiedTable) of(n int, row []any, names []string, first market.Address) []any {
	x, out := launched(n), slices.Clone(row)
	for i, name := range names {
		old, isKey := out[i].([]byte)
		switch {
		case name == "log_index":
			out[i] = int64(n) // no two launches of a block have the same
		case name == "creator":
			out[i] = market.SolanaAddress(key("creator", n)).Bytes() // to count what one has made is no work for millions
		case !isKey:
		case bytes.Equal(old, first.Bytes()):
			out[i] = x.mint.Bytes()
		case name == c.curveID:
			out[i] = market.CurveID(x.mint).Bytes()
		case name == c.account:
			out[i] = x.curve.Bytes()
		}
	}
	return out
}

// launchKeys are the addresses of a launch.
type launchKeys struct{ mint, curve market.Address }

// launched is the n-th launch.
func launched(n int) launchKeys {
	mint := svm.Key(key("launch", n))
	return launchKeys{mint: market.SolanaAddress(mint), curve: market.SolanaAddress(curveKey(mint))}
}
