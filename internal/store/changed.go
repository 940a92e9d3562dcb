package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// Changed says what of a chain's rows changed.
type Changed struct {
	// Tokens lists the tokens whose rows, or whose pools' rows, changed; a token may be listed twice.
	Tokens []market.Address
	// Trades says that there may be new ones: a trade changes its pool.
	Trades                            bool
	Launches, Quotes, Metadata, Trust bool
}

// A row of changedOf is about one of these.
const (
	changedToken = iota
	changedPool
	changedLaunches
	changedQuotes
	changedMetadata
	changedTrust
)

// changedOf asks for what changed on one chain, which stands in the query by its place among those that are asked for.
func changedOf(place int) string {
	n := strconv.Itoa(place)
	some := func(what int, table string) string {
		return " UNION ALL SELECT " + n + ", " + strconv.Itoa(what) + ", NULL WHERE EXISTS (SELECT 1 FROM " + table + " WHERE chain = ? AND commit_no > ?)"
	}
	return "SELECT " + n + " AS place, " + strconv.Itoa(changedToken) + " AS what, mint FROM tokens WHERE chain = ? AND commit_no > ?" +
		" UNION ALL SELECT " + n + ", " + strconv.Itoa(changedPool) + ", base FROM pools WHERE chain = ? AND commit_no > ?" +
		some(changedLaunches, "launches") + some(changedQuotes, "quote_prices") + some(changedMetadata, "token_metadata") + some(changedTrust, "trust_reports")
}

// ChangedSince says, in one query, what changed on some chains after the commit number that is given for each; by chain.
func (s *Store) ChangedSince(ctx context.Context, seen map[string]int64) (map[string]*Changed, error) {
	chains := slices.Sorted(maps.Keys(seen))
	out := make(map[string]*Changed, len(chains))
	if len(chains) == 0 {
		return out, nil
	}
	parts := make([]string, len(chains))
	var args []any
	for i, chain := range chains {
		out[chain] = &Changed{}
		parts[i] = changedOf(i)
		for range strings.Count(parts[i], "chain = ?") {
			args = append(args, s.served.indexOf(chain), seen[chain])
		}
	}
	fail := func(err error) (map[string]*Changed, error) {
		return nil, fmt.Errorf("database: read what changed: %w", err)
	}
	rows, err := s.db.Ask(ctx, strings.Join(parts, " UNION ALL "), args...)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = rows.Close() }()
	col := model.Columns{Table: "tokens"}
	for rows.Next() {
		var place, what int
		var mint sql.RawBytes
		if err := rows.Scan(&place, &what, &mint); err != nil {
			return fail(err)
		}
		out[chains[place]].note(what, col.Address(mint))
	}
	if err := errors.Join(rows.Err(), rows.Close(), col.Err); err != nil {
		return fail(err)
	}
	return out, nil
}

func (c *Changed) note(what int, mint market.Address) {
	switch what {
	case changedToken:
		c.Tokens = append(c.Tokens, mint)
	case changedPool:
		c.Tokens = append(c.Tokens, mint)
		c.Trades = true
	case changedLaunches:
		c.Launches = true
	case changedQuotes:
		c.Quotes = true
	case changedMetadata:
		c.Metadata = true
	case changedTrust:
		c.Trust = true
	}
}
