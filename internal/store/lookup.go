package store

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// QuoteNow is the price of a quote asset and when it last changed.
type QuoteNow struct {
	market.QuotePrice
	Changed Stamp
}

// Quotes are the quote prices of every chain.
func (s Pools) Quotes(ctx context.Context) (map[string][]QuoteNow, error) {
	var rows []quoteRow
	if err := s.Read.NewSelect().Model(&rows).Scan(ctx); err != nil {
		return nil, fmt.Errorf("database: read quote prices: %w", err)
	}
	rows = onlyServed(s.served, rows, func(r *quoteRow) *string { return &r.Chain })
	out := make(map[string][]QuoteNow)
	for i := range rows {
		q, err := rows[i].quote()
		if err != nil {
			return nil, err
		}
		out[rows[i].Chain] = append(out[rows[i].Chain], QuoteNow{q, rows[i].changed()})
	}
	return out, nil
}
