package store

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// ChainToken is a token with the chain it is on.
type ChainToken struct {
	Chain string
	market.Token
}

// ChainPool is a pool with the chain it is on.
type ChainPool struct {
	Chain string
	market.Pool
}

// TokenKey names a token.
type TokenKey struct {
	Chain string
	Mint  market.Address
}

// TokensByMints lists the tokens at some addresses, on every chain, by chain and mint.
func (s *Store) TokensByMints(ctx context.Context, mints []market.Address) ([]ChainToken, error) {
	if len(mints) == 0 {
		return nil, nil
	}
	var rows []tokenRow
	err := s.read.NewSelect().Model(&rows).Where("mint IN (?)", among(s.postgres != nil, addressKeys(mints))).
		Order("chain", "mint").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read tokens: %w", err)
	}
	return rowsTo(rows, func(r *tokenRow) (ChainToken, error) {
		t, err := r.token()
		return ChainToken{r.Chain, t}, err
	})
}

// PoolsOfTokens lists the pools of some base tokens, by chain and id.
func (s *Store) PoolsOfTokens(ctx context.Context, tokens []TokenKey) ([]ChainPool, error) {
	return s.pools(ctx, "(chain, base)", tokens)
}

// PoolsByID lists the pools with an id, one of them on each chain at most.
func (s *Store) PoolsByID(ctx context.Context, chains []string, id market.Address) ([]ChainPool, error) {
	keys := make([]TokenKey, len(chains))
	for i, c := range chains {
		keys[i] = TokenKey{c, id}
	}
	return s.pools(ctx, "(chain, id)", keys)
}

func (s *Store) pools(ctx context.Context, columns string, keys []TokenKey) ([]ChainPool, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	list := make([]any, len(keys))
	for i, k := range keys {
		list[i] = []any{k.Chain, k.Mint.Bytes()}
	}
	var rows []poolRow
	err := s.read.NewSelect().Model(&rows).Where(columns+" IN (?)", among(s.postgres != nil, list)).Order("chain", "id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("database: read pools: %w", err)
	}
	return rowsTo(rows, func(r *poolRow) (ChainPool, error) {
		p, err := r.pool()
		return ChainPool{r.Chain, p}, err
	})
}

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
