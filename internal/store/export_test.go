package store

import (
	"context"
	"fmt"
	"strings"
)

// Plans tells how SQLite would run the queries that must not walk what is launched, by name.
func (s *Store) Plans(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for name, q := range map[string]struct {
		text string
		args []any
	}{
		"launches all":     {"SELECT venue" + launchesAll, []any{"base"}},
		"launches changed": {"SELECT venue" + launchesChanged, []any{"base", 1}},
		"changed":          {changedOf(0), []any{"base", 1, "base", 1, "base", 1, "base", 1, "base", 1, "base", 1}},
		"creator":          {creatorRecord, []any{"base", []byte{1}}},
		"curves before":    {curvesBefore, []any{"base", []byte{1}, 1, 1, 1}},
		"without supply":   {withoutSupply + "mint >= ? ORDER BY mint LIMIT 8", []any{"base", []byte{1}}},
		"doubted supply":   {doubtedSupplies, []any{"base", []byte{1}, 8}},
		"mute":             {muteTokens, []any{"base", 1, 33, []byte{1}, 8}},
		"unfollowed":       {unfollowed, []any{"base"}},
		"metadata new":     {metadataNew, []any{"base", 10}},
		"metadata again":   {metadataAgain, []any{"base", 1, 10}},
		"trust":            {trustDue, []any{"base", 1, make([]byte, 32), "base", 1, 10}},
		"first fact":       {firstTokenFact, []any{[]byte{1}, "base"}},
		"wallet traded":    {walletTraded + "('base', 'bsc')" + walletBeyond, []any{[]byte{1}, []byte{1}, 0}},
		"wallet trades":    {walletTrades + "('base', 'bsc')" + walletOrder, []any{[]byte{1}, 1000}},
	} {
		var rows []struct {
			ID, Parent, Notused int64
			Detail              string
		}
		if err := s.read.NewRaw("EXPLAIN QUERY PLAN "+q.text, q.args...).Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("explain %s: %w", name, err)
		}
		var lines []string
		for _, r := range rows {
			lines = append(lines, r.Detail)
		}
		out[name] = strings.Join(lines, "\n")
	}
	return out, nil
}
