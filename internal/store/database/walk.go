package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/uptrace/bun"
)

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
		for rows.Next() {
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
