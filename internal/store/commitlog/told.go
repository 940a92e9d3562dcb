package commitlog

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/database"
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

// told is what the lists of the commits tell that a reader hasn't seen.
type told struct {
	Changed

	listed struct{ tokens, launches map[market.Address]bool }
	// newest is the index's newest commit, commits is how many lists there are, and last is the number of the last of them.
	newest, last, commits int64
	isCut                 bool
}

// whole is what changed since a commit; nil where the lists don't tell all of it.
func (t *told) whole(seen int64) *Changed {
	switch {
	case t.newest <= seen:
		return &Changed{}
	case t.isCut || t.last < t.newest || t.commits != t.last-seen:
		return nil
	}
	return &t.Changed
}

// Query asks what the commits of one index tell, which stands in the query by its place among those that are asked for. Lists of later commits than
// the newest are of an index that had the same name, and was purged by a version that doesn't know them.
func Query(place int) string {
	n := strconv.Itoa(place)
	return "SELECT " + n + " AS place, number, kinds, tokens, launches FROM commits WHERE chain = ? AND number > ? AND number <= (SELECT commit_no FROM chains WHERE id = ?) " +
		"UNION ALL SELECT " + n + ", commit_no, -1, NULL, NULL FROM chains WHERE id = ?"
}

// Since gives what changed in each of some indexes after a commit of it. It is nil for an index of which the lists don't tell all.
func Since(ctx context.Context, db *database.DB, indexes []string, seen []int64) ([]*Changed, error) {
	parts := make([]string, len(indexes))
	var args []any
	for i, index := range indexes {
		parts[i] = Query(i)
		args = append(args, index, seen[i], index, index)
	}
	rows, err := db.Ask(ctx, strings.Join(parts, " UNION ALL "), args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	all := make([]told, len(indexes))
	for rows.Next() {
		var place int
		var number, kinds int64
		var tokens, launches sql.RawBytes
		if err := rows.Scan(&place, &number, &kinds, &tokens, &launches); err != nil {
			return nil, err
		}
		if kinds < 0 {
			all[place].newest = number
			continue
		}
		if err := all[place].add(number, Kinds(kinds), tokens, launches); err != nil {
			return nil, err
		}
	}
	out := make([]*Changed, len(indexes))
	for i := range all {
		out[i] = all[i].whole(seen[i])
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// ToldAtMost bounds how many tokens of a chain are told: a chain on which more have changed is as soon read anew.
const ToldAtMost = 1 << 16

// add adds what a commit changed.
func (t *told) add(number int64, kinds Kinds, tokens, launches []byte) error {
	t.last, t.commits = max(t.last, number), t.commits+1
	t.isCut = t.isCut || kinds&(manyTokens|manyLaunches) != 0 || len(t.Tokens) > ToldAtMost
	t.Trades = t.Trades || kinds&Pools != 0
	t.Quotes = t.Quotes || kinds&Quotes != 0
	t.Metadata = t.Metadata || kinds&Metadata != 0
	t.Trust = t.Trust || kinds&Trust != 0
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
