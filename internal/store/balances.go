package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// HolderShare is what one account holds of a token.
type HolderShare struct {
	Account market.Address
	Amount  market.Amount
}

// Top lists a token's n largest holders, the largest first; accounts that don't count as holders are left out.
func (s Balances) Top(ctx context.Context, chain string, token market.Address, n int) ([]HolderShare, error) {
	rows, err := s.db.Ask(ctx, "SELECT "+database.ColumnsOf[model.Balance](s.db.Read, "b")+" FROM balances b WHERE b.chain = ? AND b.token = ? "+
		"AND NOT b.excluded ORDER BY b.amount DESC, b.account LIMIT ?", chain, token.Bytes(), n)
	found, err := database.ScanAll[model.Balance](ctx, s.db.Read, rows, err)
	if err != nil {
		return nil, fmt.Errorf("database: read a token's largest holders: %w", err)
	}
	return model.To(found, func(r *model.Balance) (HolderShare, error) {
		k, b, err := r.Value()
		return HolderShare{Account: k.Account, Amount: b.Amount}, err
	})
}

// Of is an account's derived balance of a token; 0 when it has none or the token's balances aren't kept.
func (s Balances) Of(ctx context.Context, chain string, token, account market.Address) (market.Amount, error) {
	chain = s.served.indexOf(chain)
	var raw []byte
	err := s.db.AskOne(ctx, []any{&raw}, "SELECT amount FROM balances WHERE chain = ? AND token = ? AND account = ?",
		chain, token.Bytes(), account.Bytes())
	if errors.Is(err, sql.ErrNoRows) {
		return market.Amount{}, nil
	}
	if err != nil {
		return market.Amount{}, fmt.Errorf("database: read a balance: %w", err)
	}
	c := model.Columns{Table: "balances"}
	return c.Amount(raw), c.Err
}

// All lists a token's accounts with their derived balances.
func (s Balances) All(ctx context.Context, chain string, token market.Address) (map[market.Address]market.Balance, error) {
	var rows []model.Balance
	err := s.db.Read.NewSelect().Model(&rows).Where("chain = ? AND token = ?", chain, token.Bytes()).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read balances: %w", err)
	}
	out := make(map[market.Address]market.Balance, len(rows))
	for i := range rows {
		k, b, err := rows[i].Value()
		if err != nil {
			return nil, err
		}
		out[k.Account] = b
	}
	return out, nil
}
