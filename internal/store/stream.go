package store

import (
	"context"
	"fmt"
	"time"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// Stream reads and writes the stream that clients follow by cursor.
type Stream struct{ *rows }

// writeStream writes rows as the last thing of a transaction under a lease.
func writeStream(ctx context.Context, tx *database.Transaction, next *position, rows []streamlog.Row) error {
	last, err := streamlog.Write(ctx, tx, rows)
	next.streamed = max(next.streamed, last)
	return err
}

// skipStreamNumbers keeps the next numbers of the stream above the highest that was taken, and says that clients who have seen such numbers begin anew.
func skipStreamNumbers(ctx context.Context, tx *database.Transaction, next *position, index string) error {
	chain, _ := chainconfig.ChainOfIndex(index)
	var now int64
	if err := tx.NewRaw("SELECT block_time FROM chains WHERE id = ?", index).Scan(ctx, &now); err != nil {
		return fmt.Errorf("database: read chain %s: %w", index, err)
	}
	last, err := streamlog.Reset(ctx, tx, next.streamed, chain, now)
	next.streamed = max(next.streamed, last)
	return err
}

// addToStream adds what a block brought. Only the index that is served does: whoever reads would see what they can't look up.
func addToStream(ctx context.Context, tx *database.Transaction, next *position, index string, items []market.StreamItem) error {
	if len(items) == 0 {
		return nil
	}
	served, err := isServed(ctx, tx, index)
	if err != nil || !served {
		return err
	}
	chain, _ := chainconfig.ChainOfIndex(index)
	rows := make([]streamlog.Row, len(items))
	for i := range items {
		it := &items[i]
		rows[i] = streamlog.Row{Kind: string(it.Kind), Chain: chain, Block: next.number, Time: it.Time, Token: it.Token.Bytes()}
		if it.Kind == market.StreamTrade {
			rows[i].Wallet, rows[i].Member, rows[i].Tx, rows[i].Sell = it.Trade.Wallet.Bytes(), it.Trade.Member, it.Trade.Tx.AppendTo(nil), it.Trade.Sell
		}
	}
	return writeStream(ctx, tx, next, rows)
}

// rewindStream takes back what blocks above one brought.
func rewindStream(ctx context.Context, tx *database.Transaction, next *position, index string, to market.Header) error {
	served, err := isServed(ctx, tx, index)
	if err != nil || !served {
		return err
	}
	chain, _ := chainconfig.ChainOfIndex(index)
	gone, err := streamlog.Delete(ctx, tx, to.Time, "chain = ? AND kind <> ? AND block > ?", chain, string(market.StreamCall), int64(to.Number))
	if err != nil {
		return err
	}
	return writeStream(ctx, tx, next, gone)
}

// forgottenItems is how many items of a wallet one transaction takes back.
const forgottenItems = 500

// forgetStream takes a piece of a wallet's items back; some says that there were any: then nothing else goes into the transaction, in which numbers are the last thing.
func forgetStream(ctx context.Context, tx *database.Transaction, next *position, index string, wallet market.Address) (some bool, err error) {
	served, err := isServed(ctx, tx, index)
	if err != nil || !served {
		return false, err
	}
	var now int64
	if err := tx.NewRaw("SELECT block_time FROM chains WHERE id = ?", index).Scan(ctx, &now); err != nil {
		return false, fmt.Errorf("database: read chain %s: %w", index, err)
	}
	chain, _ := chainconfig.ChainOfIndex(index)
	gone, err := streamlog.Delete(ctx, tx, now, "number IN (SELECT number FROM stream WHERE wallet = ? AND chain = ? ORDER BY number LIMIT ?)",
		wallet.Bytes(), chain, forgottenItems)
	if err != nil {
		return false, err
	}
	for i := range gone {
		gone[i].Member = 0 // the member keeps what the trades earned in the game
	}
	return len(gone) > 0, writeStream(ctx, tx, next, gone)
}

// isServed reports whether answers are made of an index. The caller has its row for itself.
func isServed(ctx context.Context, tx *database.Transaction, index string) (served bool, err error) {
	if err := tx.NewRaw("SELECT served FROM chains WHERE id = ?", index).Scan(ctx, &served); err != nil {
		return false, fmt.Errorf("database: read index %s: %w", index, err)
	}
	return served, nil
}

// replaceStream has the stream fit an index that takes another one's place, which was at block number was: what the new one doesn't have is taken back, and
// trades that it has in addition are added, of blocks that a reorg can reach. A launch that has got a price in those is not told: nobody noted in which.
func replaceStream(ctx context.Context, tx *database.Transaction, next *position, index string, was int64) error {
	chain, _ := chainconfig.ChainOfIndex(index)
	var now, oldest, since int64
	err := tx.NewRaw("SELECT c.block_time, COALESCE(b.number, c.number), COALESCE(b.time, c.block_time) FROM chains c LEFT JOIN blocks b ON b.chain = c.id AND "+
		"b.number = (SELECT min(number) FROM blocks WHERE chain = c.id) WHERE c.id = ?", index).Scan(ctx, &now, &oldest, &since)
	if err != nil {
		return fmt.Errorf("database: read index %s: %w", index, err)
	}
	const lost = "((kind = ? AND NOT EXISTS (SELECT 1 FROM wallet_entries e WHERE e.chain = ? AND e.wallet = stream.wallet AND e.block = stream.block AND " +
		"e.tx = stream.tx AND e.token = stream.token AND e.kind = CASE WHEN stream.sell THEN 'sold' ELSE 'bought' END)) OR " +
		"(kind = ? AND NOT EXISTS (SELECT 1 FROM launches l WHERE l.chain = ? AND l.mint = stream.token AND NOT l.unvalued)))"
	rows, err := streamlog.Delete(ctx, tx, now, "chain = ? AND "+lost, chain, string(market.StreamTrade), index, string(market.StreamLaunch), index)
	if err != nil {
		return err
	}
	var more []streamlog.Row
	err = tx.NewRaw("SELECT ? AS kind, ? AS chain, 0 AS retracts, e.block, e.time, e.token, e.wallet, w.member, e.tx, e.kind = 'sold' AS sell FROM wallet_entries e "+
		"JOIN watched_wallets w ON w.chain = e.chain AND w.wallet = e.wallet WHERE e.chain = ? AND e.time >= ? AND e.block > ? AND e.block >= ? AND "+
		"e.kind IN ('bought', 'sold') AND e.time >= w.since GROUP BY e.block, e.time, e.token, e.wallet, w.member, e.tx, e.kind HAVING count(e.nano_usd) = count(*) "+
		"ORDER BY e.block, min(e.seq)", string(market.StreamTrade), chain, index, since, was, oldest).Scan(ctx, &more)
	if err != nil {
		return fmt.Errorf("database: read the trades that the index before lacks: %w", err)
	}
	return writeStream(ctx, tx, next, append(rows, more...))
}

// StreamKept is how long the items of the stream are kept. Calls are kept longer.
const StreamKept = chainconfig.Duration(7 * 24 * time.Hour)

// callsLonger is how much longer calls are kept than other items, in seconds. A call may get its outcome more than seven days after it was made. Its item
// has to be there still, so that it can be retracted.
const callsLonger = 2 * 24 * 60 * 60

// pruneStream deletes some of the items, of whatever chain, that are older than a time (unix seconds), the oldest first.
func pruneStream(ctx context.Context, tx *database.Transaction, before int64) (more bool, err error) {
	lock := ""
	if tx.Postgres {
		lock = " FOR UPDATE SKIP LOCKED" // another indexer deletes them just now
	}
	res, err := tx.NewRaw("DELETE FROM stream WHERE number IN (SELECT number FROM stream WHERE time < ? AND (kind <> ? OR time < ?) ORDER BY time LIMIT ?"+lock+")",
		before, string(market.StreamCall), before-callsLonger, pruneRows).Exec(ctx)
	if err != nil {
		return false, err
	}
	gone, err := res.RowsAffected()
	return gone == pruneRows, err
}
