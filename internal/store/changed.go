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
	// Launches lists the tokens whose launches changed, in the same way.
	Launches []market.Address
	// Trades says that there may be new ones: a trade changes its pool.
	Trades                  bool
	Quotes, Metadata, Trust bool
}

// ChangedSince says, in one query, what changed on some chains after the commit number that is given for each; by chain. Where the table of commits doesn't
// tell all of it, every row of the chain is looked at.
func (s *Store) ChangedSince(ctx context.Context, seen map[string]int64) (map[string]*Changed, error) {
	chains := slices.Sorted(maps.Keys(seen))
	out := make(map[string]*Changed, len(chains))
	if len(chains) == 0 {
		return out, nil
	}
	told, err := s.toldByCommits(ctx, chains, seen)
	if err != nil {
		return nil, fmt.Errorf("database: read what changed: %w", err)
	}
	for i, chain := range chains {
		if out[chain] = told[i].all(seen[chain]); out[chain] != nil {
			continue
		}
		if out[chain], err = s.changedRows(ctx, chain, seen[chain]); err != nil {
			return nil, fmt.Errorf("database: look for what changed on %s: %w", chain, err)
		}
	}
	return out, nil
}

// toldChanges is what the table of commits tells of a chain.
type toldChanges struct {
	Changed

	// newest is the chain's newest commit, and commits is how many later ones than the reader's the table has, which are up to last.
	newest, last, commits int64
	isCut                 bool
}

// all is what changed since a commit; nil where the table doesn't tell all of it: commits that are older than what is kept, or of a binary that doesn't know the table.
func (t *toldChanges) all(seen int64) *Changed {
	switch {
	case t.newest <= seen:
		return &Changed{}
	case t.isCut || t.last < t.newest || t.commits != t.last-seen:
		return nil
	}
	return &t.Changed
}

// changesTold asks for what the table of commits tells of one chain, which stands in the query by its place among those that are asked for.
func changesTold(place int) string {
	n := strconv.Itoa(place)
	return "SELECT " + n + " AS place, number, kinds, tokens, launches FROM commits WHERE chain = ? AND number > ? " +
		"UNION ALL SELECT " + n + ", commit_no, -1, NULL, NULL FROM chains WHERE id = ?"
}

// toldByCommits is what the table tells of some chains, in their order.
func (s *Store) toldByCommits(ctx context.Context, chains []string, seen map[string]int64) ([]toldChanges, error) {
	parts := make([]string, len(chains))
	var args []any
	for i, chain := range chains {
		parts[i] = changesTold(i)
		index := s.served.indexOf(chain)
		args = append(args, index, seen[chain], index)
	}
	rows, err := s.db.Ask(ctx, strings.Join(parts, " UNION ALL "), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := make([]toldChanges, len(chains))
	for rows.Next() {
		var place int
		var number, kinds int64
		var tokens, launches sql.RawBytes
		if err := rows.Scan(&place, &number, &kinds, &tokens, &launches); err != nil {
			return nil, err
		}
		if kinds < 0 {
			out[place].newest = number
			continue
		}
		if err := out[place].add(number, changedKinds(kinds), tokens, launches); err != nil {
			return nil, err
		}
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// add adds what a commit changed.
func (t *toldChanges) add(number int64, kinds changedKinds, tokens, launches []byte) error {
	t.last, t.commits = max(t.last, number), t.commits+1
	t.isCut = t.isCut || kinds&(manyTokens|manyLaunches) != 0
	t.Trades = t.Trades || kinds&poolsChanged != 0
	t.Quotes = t.Quotes || kinds&quotesChanged != 0
	t.Metadata = t.Metadata || kinds&metadataChanged != 0
	t.Trust = t.Trust || kinds&trustChanged != 0
	c := model.Columns{Table: "commits"}
	for _, list := range []struct {
		of   []byte
		into *[]market.Address
	}{{tokens, &t.Tokens}, {launches, &t.Launches}} {
		some, err := listedAddresses(list.of, c.Address)
		if err != nil {
			return err
		}
		*list.into = append(*list.into, some...)
	}
	return c.Err
}

// A row of rowsChanged is about one of these.
const (
	changedToken = iota
	changedPool
	changedLaunch
	changedQuotes
	changedMetadata
	changedTrust
)

// rowsChanged asks every row of a chain whether it changed.
var rowsChanged = "SELECT " + strconv.Itoa(changedToken) + " AS what, mint FROM tokens WHERE chain = ? AND commit_no > ?" +
	" UNION ALL SELECT " + strconv.Itoa(changedPool) + ", base FROM pools WHERE chain = ? AND commit_no > ?" +
	" UNION ALL SELECT " + strconv.Itoa(changedLaunch) + ", mint FROM launches WHERE chain = ? AND commit_no > ?" +
	anyChanged(changedQuotes, "quote_prices") + anyChanged(changedMetadata, "token_metadata") + anyChanged(changedTrust, "trust_reports")

func anyChanged(what int, table string) string {
	return " UNION ALL SELECT " + strconv.Itoa(what) + ", NULL WHERE EXISTS (SELECT 1 FROM " + table + " WHERE chain = ? AND commit_no > ?)"
}

// changedRows looks at every row of a chain for what changed after a commit.
func (s *Store) changedRows(ctx context.Context, chain string, seen int64) (*Changed, error) {
	var args []any
	for range strings.Count(rowsChanged, "chain = ?") {
		args = append(args, s.served.indexOf(chain), seen)
	}
	rows, err := s.db.Ask(ctx, rowsChanged, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out, col := &Changed{}, model.Columns{Table: "tokens"}
	for rows.Next() {
		var what int
		var mint sql.RawBytes
		if err := rows.Scan(&what, &mint); err != nil {
			return nil, err
		}
		out.note(what, col.Address(mint))
	}
	return out, errors.Join(rows.Err(), rows.Close(), col.Err)
}

func (c *Changed) note(what int, mint market.Address) {
	switch what {
	case changedToken:
		c.Tokens = append(c.Tokens, mint)
	case changedPool:
		c.Tokens = append(c.Tokens, mint)
		c.Trades = true
	case changedLaunch:
		c.Launches = append(c.Launches, mint)
	case changedQuotes:
		c.Quotes = true
	case changedMetadata:
		c.Metadata = true
	case changedTrust:
		c.Trust = true
	}
}
