package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
)

// waitingRow is a trade that waits until it is known whether its pool's liquidity suffices, in the columns of tradeRow. Only indexers read it.
type waitingRow struct {
	bun.BaseModel `bun:"table:waiting_trades"`

	Chain       string `bun:",pk"`
	Block       int64  `bun:",pk"`
	LogIndex    int64  `bun:",pk"`
	Time        int64
	Tx          []byte
	Pool        []byte `image:"address"`
	Base        []byte `image:"address"`
	Trader      []byte `image:"address"`
	Sell        bool
	BaseAmount  []byte
	QuoteAmount []byte
	NanoUSD     *int64 `bun:"nano_usd"`
	CloseUSD    float64
	CloseNative float64

	TraderAmount []byte
	TraderBefore []byte
}

func (r *waitingRow) trade() (market.Trade, error) {
	t := tradeRow(*r)
	return t.trade()
}

func applyWaiting(ctx context.Context, tx *database.Transaction, u *undoLog, chain string, changes []market.Change[market.TradeKey, market.Trade]) error {
	return apply(ctx, tx, u, changes, func(k market.TradeKey, t *market.Trade) waitingRow {
		if t == nil {
			t = &market.Trade{Block: k.Block, LogIndex: k.LogIndex}
		}
		return waitingRow(tradeToRow(chain, t))
	})
}

// waitingTrades lists a chain's waiting trades.
func (s *rows) waitingTrades(ctx context.Context, chain string) ([]market.Trade, error) {
	var rows []waitingRow
	if err := s.Write.NewSelect().Model(&rows).Where("chain = ?", chain).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the trades that wait: %w", err)
	}
	return rowsTo(rows, (*waitingRow).trade)
}
