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

// ChangedTokens lists a chain's tokens whose rows, or whose pools' rows, changed after commit number seen.
func (s *Store) ChangedTokens(ctx context.Context, chain string, seen int64) ([]market.Address, error) {
	var rows [][]byte
	err := s.read.NewRaw("SELECT base FROM pools WHERE chain = ? AND commit_no > ? "+
		"UNION SELECT mint FROM tokens WHERE chain = ? AND commit_no > ?", chain, seen, chain, seen).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("database: read changed tokens: %w", err)
	}
	c := columns{table: "tokens"}
	out := make([]market.Address, len(rows))
	for i := range rows {
		out[i] = c.address(rows[i])
	}
	return out, c.err
}
