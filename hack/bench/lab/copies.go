package lab

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Copies are rows of a table made from one row that an index derived, so that an index has many tokens without having read their history.
type Copies struct {
	Table string
	// Where chooses the row, with $1 for Key.
	Where string
	Key   []byte
	// Count is how many rows there are then, the one that is copied among them.
	Count int
	// Change makes the n-th row from the row, both in the order of the table's columns.
	Change func(n int, columns []string, row []any) []any
}

// Write writes the copies.
func (c *Copies) Write(ctx context.Context, conn *pgx.Conn) error {
	if err := c.write(ctx, conn); err != nil {
		return fmt.Errorf("copy a row of %s: %w", c.Table, err)
	}
	return nil
}

func (c *Copies) write(ctx context.Context, conn *pgx.Conn) error {
	query := "SELECT * FROM " + c.Table + " WHERE " + c.Where + " LIMIT 1" //nolint:unqueryvet // it is copied as it is, whatever columns it has
	rows, err := conn.Query(ctx, query, c.Key)
	if err != nil {
		return err
	}
	fields := rows.FieldDescriptions()
	columns := make([]string, len(fields))
	for i := range fields {
		columns[i] = fields[i].Name
	}
	row, err := pgx.CollectOneRow(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		return err
	}
	p := NewProgress("rows of "+c.Table, int64(c.Count))
	n := 1
	_, err = conn.CopyFrom(ctx, pgx.Identifier{c.Table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if n >= c.Count {
			return nil, nil
		}
		out := c.Change(n, columns, row)
		n++
		p.At(int64(n))
		return out, nil
	}))
	return err
}
