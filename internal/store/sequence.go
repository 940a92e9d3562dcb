package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// Stream is a sequence that clients read by cursor.
type Stream string

// The streams.
const (
	StreamTrades   Stream = "trades"
	StreamLaunches Stream = "launches"
	StreamCalls    Stream = "calls"
)

// Take takes the next n numbers of a stream and runs f with the first of them, in one transaction, which f writes to. The stream's
// counter stays locked until the commit: numbers are visible in their order, so that no reader ever skips one.
func (s Sequences) Take(ctx context.Context, stream Stream, n int64, f func(ctx context.Context, db bun.IDB, first int64) error) error {
	return s.db.InTransaction(ctx, func(tx *database.Transaction) error {
		last, err := takeNumbers(ctx, tx, stream, n)
		if err != nil {
			return err
		}
		return f(ctx, tx, last-n+1)
	})
}

func takeNumbers(ctx context.Context, tx *database.Transaction, stream Stream, n int64) (last int64, err error) {
	err = tx.NewRaw("INSERT INTO sequences (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET "+
		"last = sequences.last + excluded.last RETURNING last", string(stream), n).Scan(ctx, &last)
	if err != nil {
		return 0, fmt.Errorf("database: take numbers of stream %s: %w", stream, err)
	}
	return last, nil
}
