// Package streamlog writes the stream that clients follow by cursor: items, and what is taken back, each under a number of its own. A transaction takes
// numbers as the last thing that it does. Their counter stays locked until the transaction ends: numbers are seen in their order, so that no reader ever
// passes one over, and no other writer waits longer than a transaction takes to end.
package streamlog

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// Row is a row of stream.
type Row struct {
	bun.BaseModel `bun:"table:stream"`

	Number int64 `bun:",pk"`
	Kind   string
	// Chain is a chain, not one of its indexes.
	Chain string
	// Retracts is the number of the item that is taken back; 0 for an item. A retraction has the kind and the chain of its item.
	Retracts int64
	Block    int64
	Time     int64 // unix seconds
	Token    []byte
	// Wallet, Member, Tx and Sell are set for trades; calls have the Member too.
	Wallet []byte
	Member int64
	Tx     []byte
	Sell   bool
	// Call is set for calls: the call's own number.
	Call int64
	// ItemTime is set for a retraction: the time of the item that is taken back. The Member is the item's, too, unless the item goes with its wallet.
	ItemTime int64
}

// Counter is the counter of the stream's numbers, a row of sequences.
const Counter = "stream"

// TakeNumbers takes the next n numbers.
func TakeNumbers(ctx context.Context, tx *database.Transaction, n int) (first int64, err error) {
	var last int64
	err = tx.NewRaw("INSERT INTO sequences (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET last = sequences.last + excluded.last RETURNING last",
		Counter, n).Scan(ctx, &last)
	if err != nil {
		return 0, fmt.Errorf("database: take numbers of the stream: %w", err)
	}
	return last - int64(n) + 1, nil
}

// Write numbers rows, in their order, and writes them. last is the highest number; 0 without rows.
func Write(ctx context.Context, tx *database.Transaction, rows []Row) (last int64, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	first, err := TakeNumbers(ctx, tx, len(rows))
	if err != nil {
		return 0, err
	}
	for i := range rows {
		rows[i].Number = first + int64(i)
	}
	return first + int64(len(rows)) - 1, database.Insert(ctx, tx, rows)
}

// Reset keeps the next numbers above the highest one that a writer took, where the database has lost some, and says that clients who have seen such numbers
// begin anew. chain may be empty, and now is unix seconds. last is the highest number by then.
func Reset(ctx context.Context, tx *database.Transaction, highest int64, chain string, now int64) (last int64, err error) {
	_, err = tx.NewRaw("INSERT INTO sequences (stream, last) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET "+
		"last = CASE WHEN sequences.last < excluded.last THEN excluded.last ELSE sequences.last END", Counter, highest).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("database: skip numbers of the stream: %w", err)
	}
	return Write(ctx, tx, []Row{{Kind: "reset", Chain: chain, Time: now}})
}

// Delete deletes the items that fulfil a condition, and gives the rows that retract them, in the order of the items' numbers. now is unix seconds.
func Delete(ctx context.Context, tx *database.Transaction, now int64, condition string, args ...any) (retractions []Row, err error) {
	err = tx.NewRaw("DELETE FROM stream WHERE retracts = 0 AND kind <> 'reset' AND "+condition+" RETURNING number, kind, chain, member, time", args...).Scan(ctx, &retractions)
	if err != nil {
		return nil, fmt.Errorf("database: take items of the stream back: %w", err)
	}
	slices.SortFunc(retractions, func(a, b Row) int { return int(a.Number - b.Number) })
	for i := range retractions {
		gone := &retractions[i]
		retractions[i] = Row{Kind: gone.Kind, Chain: gone.Chain, Retracts: gone.Number, Time: now, Member: gone.Member, ItemTime: gone.Time}
	}
	return retractions, nil
}
