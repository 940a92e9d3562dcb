package store

import (
	"context"
	"fmt"
)

// Counts is what an index has.
type Counts struct {
	Launches, Graduated int64
	// Tokens is how many have a pool that prices them.
	Tokens int64
}

// Count counts what an index of a chain has. It walks whole tables.
func (s *Store) Count(ctx context.Context, chain string) (c Counts, err error) {
	chain = s.served.indexOf(chain)
	err = s.db.AskOne(ctx, []any{&c.Launches, &c.Graduated, &c.Tokens}, "SELECT (SELECT count(*) FROM launches WHERE chain = ?), "+
		"(SELECT count(*) FROM launches WHERE chain = ? AND state = 'graduated'), (SELECT count(*) FROM tokens WHERE chain = ? AND pool IS NOT NULL)", chain, chain, chain)
	if err != nil {
		return c, fmt.Errorf("database: count the launches and tokens of %s: %w", chain, err)
	}
	return c, nil
}
