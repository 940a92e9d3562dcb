package store

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ChainQuotes are the quote prices of every chain.
func (s *Store) ChainQuotes(ctx context.Context) (map[string][]market.QuotePrice, error) {
	var rows []quoteRow
	if err := s.read.NewSelect().Model(&rows).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read quote prices: %w", err)
	}
	out := make(map[string][]market.QuotePrice)
	for i := range rows {
		q, err := rows[i].quote()
		if err != nil {
			return nil, err
		}
		out[rows[i].Chain] = append(out[rows[i].Chain], q)
	}
	return out, nil
}
