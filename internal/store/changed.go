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
	// Tokens are the tokens whose rows, or whose pools' rows, changed or are gone.
	Tokens []market.Address
	// Launches are the tokens whose launches did.
	Launches []market.Address
	// Trades says that there may be new ones: a trade changes its pool.
	Trades                  bool
	Quotes, Metadata, Trust bool
}

// ChangedSince says, in one query, what changed on some chains after the commit number that is given for each; by chain. It leaves out a chain of which nobody
// tells all of it: the reader has missed more than is kept, a commit changed more than is listed, or an indexer of before schema 30 made one. Such a chain
// is read anew.
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
		if changed := told[i].all(seen[chain]); changed != nil {
			out[chain] = changed
		}
	}
	return out, nil
}

// toldChanges is what the commits of a chain tell that a reader hasn't seen.
type toldChanges struct {
	Changed

	listed struct{ tokens, launches map[market.Address]bool }
	// newest is the chain's newest commit, and commits is how many commits tell something, the last of which is last.
	newest, last, commits int64
	isCut                 bool
}

// all is what changed since a commit; nil where that isn't told whole.
func (t *toldChanges) all(seen int64) *Changed {
	switch {
	case t.newest <= seen:
		return &Changed{}
	case t.isCut || t.last < t.newest || t.commits != t.last-seen:
		return nil
	}
	return &t.Changed
}

// changesTold asks what the commits of one chain tell, which stands in the query by its place among those that are asked for. Commits above the chain's newest are
// of an index that had the same name, and was purged by a version that doesn't know them.
func changesTold(place int) string {
	n := strconv.Itoa(place)
	return "SELECT " + n + " AS place, number, kinds, tokens, launches FROM commits WHERE chain = ? AND number > ? AND number <= (SELECT commit_no FROM chains WHERE id = ?) " +
		"UNION ALL SELECT " + n + ", commit_no, -1, NULL, NULL FROM chains WHERE id = ?"
}

// toldByCommits is what the table tells of some chains, in their order.
func (s *Store) toldByCommits(ctx context.Context, chains []string, seen map[string]int64) ([]toldChanges, error) {
	parts := make([]string, len(chains))
	var args []any
	for i, chain := range chains {
		parts[i] = changesTold(i)
		index := s.served.indexOf(chain)
		args = append(args, index, seen[chain], index, index)
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

// toldAtMost bounds how many tokens of a chain are told: a chain on which more have changed is as soon read anew.
const toldAtMost = 1 << 16

// add adds what a commit changed.
func (t *toldChanges) add(number int64, kinds changedKinds, tokens, launches []byte) error {
	t.last, t.commits = max(t.last, number), t.commits+1
	t.isCut = t.isCut || kinds&(manyTokens|manyLaunches) != 0 || len(t.Tokens) > toldAtMost
	t.Trades = t.Trades || kinds&poolsChanged != 0
	t.Quotes = t.Quotes || kinds&quotesChanged != 0
	t.Metadata = t.Metadata || kinds&metadataChanged != 0
	t.Trust = t.Trust || kinds&trustChanged != 0
	if t.isCut {
		return nil
	}
	return errors.Join(addListed(&t.Tokens, &t.listed.tokens, tokens), addListed(&t.Launches, &t.listed.launches, launches))
}

// addListed adds the addresses of a list that aren't there.
func addListed(to *[]market.Address, listed *map[market.Address]bool, list []byte) error {
	c := model.Columns{Table: "commits"}
	if *listed == nil {
		*listed = map[market.Address]bool{}
	}
	err := eachListed(list, func(b []byte) {
		if a := c.Address(b); !(*listed)[a] {
			(*listed)[a] = true
			*to = append(*to, a)
		}
	})
	return errors.Join(err, c.Err)
}
