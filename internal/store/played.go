package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/boardwalkhq/boardwalk/internal/store/database"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
)

// PlayedToken says that a member traded a token on a day, by a trade that counts in the game.
type PlayedToken struct {
	Member int64
	TokenAt
	// Day counts days from 1970-01-01 on.
	Day int64
}

const (
	playedDay = "time / 86400"
	played    = "SELECT DISTINCT player, chain, token, " + playedDay + " FROM wallet_entries WHERE player > 0 AND "
)

// PlayedBy lists what some members traded on some chains on a day.
func (s Wallets) PlayedBy(ctx context.Context, chains []string, members []int64, day int64) (out []PlayedToken, err error) {
	if len(chains) == 0 {
		return nil, nil
	}
	keys := make([]any, len(members))
	for i, m := range members {
		keys[i] = m
	}
	postgres := s.db.IsPostgres()
	for len(keys) > 0 {
		part := keys[:min(len(keys), database.LoadKeys)]
		keys = keys[len(part):]
		list, err := s.played(ctx, s.db.Read.NewRaw(played+"player IN (?) AND time >= ? AND time < ? AND chain IN (?)",
			database.Among(postgres, part), day*86400, (day+1)*86400, database.Among(postgres, s.served.indexesOf(chains))))
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// PlayedFrom lists what members traded on a chain from a time on (unix seconds), on the first day on which anybody did. next is the time from which on the rest is;
// 0 where there is none.
func (s Wallets) PlayedFrom(ctx context.Context, chain string, from int64) (list []PlayedToken, next int64, err error) {
	index := s.served.indexOf(chain)
	var first int64 // no look-up: until its index is built this may take long
	err = s.db.Read.NewRaw("SELECT time FROM wallet_entries WHERE chain = ? AND time >= ? AND player > 0 ORDER BY time LIMIT 1", index, from).Scan(ctx, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("database: read what members traded: %w", err)
	}
	end := (first/86400 + 1) * 86400
	list, err = s.played(ctx, s.db.Read.NewRaw(played+"chain = ? AND time >= ? AND time < ?", index, first, end))
	return list, end, err
}

func (s Wallets) played(ctx context.Context, q *bun.RawQuery) (out []PlayedToken, err error) {
	for p, err := range database.Walk(ctx, s.db.Read, q, "wallet_entries", func(rows *sql.Rows) (p PlayedToken, err error) {
		var token sql.RawBytes
		if err := rows.Scan(&p.Member, &p.Chain, &token, &p.Day); err != nil {
			return p, err
		}
		c := model.Columns{Table: "wallet_entries"}
		p.Mint = c.Address(token)
		p.Chain, _ = s.served.chainOf(p.Chain)
		return p, c.Err
	}) {
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
