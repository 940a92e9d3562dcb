package backfill

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/boardwalkhq/boardwalk/hack/bench/lab"
)

// rows is what somebody arrived at: how many rows of each kind, and sums over them, so that equal counts of different
// rows are noticed.
type rows struct {
	trades, candles, balances, tokens int
	// base and quote are what was traded, volume the base volume of all 1-minute candles, held all balances; in raw
	// units, over all tokens alike.
	base, quote, volume, held big.Int
}

var rowNames = []string{
	"trades", "1-minute candles", "non-zero balances", "tokens",
	"sum of base amounts", "sum of quote amounts", "sum of candle volumes", "sum of balances",
}

// values are in the order of rowNames; of a sum the last digits tell enough.
func (r *rows) values() []string {
	out := []string{strconv.Itoa(r.trades), strconv.Itoa(r.candles), strconv.Itoa(r.balances), strconv.Itoa(r.tokens)}
	for _, sum := range []*big.Int{&r.base, &r.quote, &r.volume, &r.held} {
		s := sum.String()
		if len(s) > 12 {
			s = "…" + s[len(s)-12:]
		}
		out = append(out, s)
	}
	return out
}

// differences lists what r and the count disagree on; nil when they agree.
func (r *rows) differences(counted *rows) error {
	var errs []error
	got, want := r.values(), counted.values()
	for i, name := range rowNames {
		if got[i] != want[i] {
			errs = append(errs, fmt.Errorf("%s: %s, counted from the logs: %s", name, got[i], want[i]))
		}
	}
	return errors.Join(errs...)
}

// compareRows is the table of who arrived at what.
func compareRows(counted *rows, names []string, got map[string]*rows) *lab.Table {
	header := []string{"rows", ">counted from the logs"}
	for _, name := range names {
		header = append(header, ">"+name)
	}
	t := lab.NewTable(header...)
	for i, row := range rowNames {
		cells := []string{row, counted.values()[i]}
		for _, name := range names {
			cells = append(cells, got[name].values()[i])
		}
		t.Add(cells...)
	}
	return t
}

// sum adds up a column that scan reads, over all rows of a query.
func sum(ctx context.Context, conn *pgx.Conn, query string, total *big.Int) (count int, err error) {
	list, err := conn.Query(ctx, query)
	if err != nil {
		return 0, fmt.Errorf("count rows: %w", err)
	}
	defer list.Close()
	for list.Next() {
		count++
		values := list.RawValues()
		v := new(big.Int)
		if list.FieldDescriptions()[0].DataTypeOID == pgtype.ByteaOID {
			v.SetBytes(values[0])
		} else if _, ok := v.SetString(string(values[0]), 10); !ok {
			return 0, fmt.Errorf("count rows: %q is no number", values[0])
		}
		total.Add(total, v)
	}
	return count, list.Err()
}

// boardwalkRows reads what the indexer wrote. Amounts are 32 bytes, most significant first.
func boardwalkRows(ctx context.Context, conn *pgx.Conn) (*rows, error) {
	r := &rows{}
	var err error
	count := func(n *int, total *big.Int, query string) {
		if err == nil {
			*n, err = sum(ctx, conn, query, total)
		}
	}
	var ignored big.Int
	count(&r.trades, &r.base, "SELECT base_amount FROM trades")
	count(&r.trades, &r.quote, "SELECT quote_amount FROM trades")
	count(&r.candles, &r.volume, "SELECT volume_base FROM candles WHERE interval_s = 60")
	count(&r.balances, &r.held, `SELECT amount FROM balances WHERE amount <> decode(repeat('00', 32), 'hex')`)
	count(&r.tokens, &ignored, "SELECT mint FROM tokens")
	return r, err
}
