package store

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/former"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

func applyWaiting(ctx context.Context, tx *database.Transaction, u *former.Log, chain string, changes []market.Change[market.TradeKey, market.Trade]) error {
	return apply(ctx, tx, u, changes, func(k market.TradeKey, t *market.Trade) model.Waiting {
		if t == nil {
			t = &market.Trade{Block: k.Block, LogIndex: k.LogIndex}
		}
		return model.Waiting(model.OfTrade(chain, t))
	})
}

// waitingTrades lists a chain's waiting trades.
func (s *rows) waitingTrades(ctx context.Context, chain string) ([]market.Trade, error) {
	var rows []model.Waiting
	if err := s.db.Write.NewSelect().Model(&rows).Where("chain = ?", chain).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read the trades that wait: %w", err)
	}
	return model.To(rows, (*model.Waiting).Value)
}
