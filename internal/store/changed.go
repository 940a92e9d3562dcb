package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/store/commitlog"
)

// Changed says what of a chain's rows changed.
type Changed = commitlog.Changed

// ChangedSince says, in one query, what changed on some chains after the commit number that is given for each; by chain. It leaves out a chain of which nobody
// tells all of it: the reader has missed more than is kept, a commit changed more than is listed, or an indexer of before schema 30 made one. Such a chain
// is read anew.
func (s *Store) ChangedSince(ctx context.Context, seen map[string]int64) (map[string]*Changed, error) {
	chains := slices.Sorted(maps.Keys(seen))
	out := make(map[string]*Changed, len(chains))
	if len(chains) == 0 {
		return out, nil
	}
	indexes, numbers := make([]string, len(chains)), make([]int64, len(chains))
	for i, chain := range chains {
		indexes[i], numbers[i] = s.served.indexOf(chain), seen[chain]
	}
	told, err := commitlog.Since(ctx, s.db, indexes, numbers)
	if err != nil {
		return nil, fmt.Errorf("database: read what changed: %w", err)
	}
	for i, chain := range chains {
		if told[i] != nil {
			out[chain] = told[i]
		}
	}
	return out, nil
}
