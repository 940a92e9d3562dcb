package social

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/streamlog"
)

// LaunchAt names a launch by its chain and its token.
type LaunchAt struct {
	Chain string
	Mint  market.Address
}

// Tell adds the launches to the stream that it has never told, under the lease. now is unix seconds. The stream forgets after seven days, so the caller leaves
// out launches that are older.
func (s Running) Tell(ctx context.Context, l *Lease, launches []LaunchAt, now int64) error {
	return s.write(ctx, func(tx *database.Transaction, last int64) (int64, []streamlog.Row, error) {
		if err := holds(ctx, tx, l); err != nil {
			return last, nil, err
		}
		var items []streamlog.Row
		for _, a := range launches {
			row, told := streamlog.Row{Kind: string(market.StreamRunning), Chain: a.Chain, Time: now, Token: a.Mint.Bytes()}, false
			const asks = "SELECT EXISTS (SELECT 1 FROM stream WHERE token = ? AND retracts = 0 AND kind = ? AND chain = ?)"
			if err := tx.NewRaw(asks, row.Token, row.Kind, row.Chain).Scan(ctx, &told); err != nil {
				return last, nil, wrap("look for a launch in the stream", err)
			}
			if !told {
				items = append(items, row)
			}
		}
		return last, items, nil
	})
}
