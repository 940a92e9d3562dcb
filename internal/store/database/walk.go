package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/uptrace/bun"
)

// rowsAtOnce is after how many rows others are let run: a walk may take a second of a core, and requests would wait for the scheduler to interrupt it.
const rowsAtOnce = 64

// Walk reads a query's rows one by one.
func Walk[V any](ctx context.Context, db *bun.DB, q *bun.RawQuery, what string, scan func(*sql.Rows) (V, error),
) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		var none V
		rows, err := db.QueryContext(ctx, q.String())
		if err != nil {
			yield(none, fmt.Errorf("database: read %s: %w", what, err))
			return
		}
		defer func() { _ = rows.Close() }()
		for n := 1; rows.Next(); n++ {
			if n%rowsAtOnce == 0 {
				runtime.Gosched()
			}
			v, err := scan(rows)
			if err != nil {
				yield(none, fmt.Errorf("database: read %s: %w", what, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			yield(none, fmt.Errorf("database: read %s: %w", what, err))
		}
	}
}
