package store_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/model"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestStampsTellTheBlockOfAChange changes a token's row, its pool, its quote and its launch in blocks of their own, and takes the last
// blocks back. A row that comes back has the stamp of the block that is left, not of the one that is gone.
func TestStampsTellTheBlockOfAChange(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dsn := storetest.DSN(t, kind)
			s := open(t, dsn)
			l := lease(t, s)
			mint, quote, id := address(1), address(2), poolID(1)
			token := market.Token{Mint: mint, FirstSeenAt: 11}
			pool := market.Pool{
				ID: id, Factory: address(4), Token0: mint, Token1: quote, Base: mint, Quote: quote, CreatedAt: 21, LastTradeAt: 22,
			}
			launch := market.Launch{Mint: mint, Venue: "clanker", Creator: address(3), CreatedAt: 31, State: market.LaunchLive}
			price := market.QuotePrice{Asset: quote, USD: 1}
			commit := func(n int, change func(*market.Changes)) {
				t.Helper()
				c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}, Undo: true}
				change(&c.Changes)
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			at := func(n uint64) model.Stamp { return model.Stamp{Block: n, At: header(int(n)).Time} }
			want := func(what string, token, pool, quoted model.Stamp) {
				t.Helper()
				tokens, err := s.Tokens.Now(t.Context(), []market.Address{mint})
				if err != nil || len(tokens) != 1 || tokens[0].Changed != token {
					t.Errorf("%s: the token is %+v, %v; want it changed at %v", what, tokens, err, token)
				}
				pools, err := s.Pools.Now(t.Context(), []market.Address{mint})
				if err != nil || len(pools) != 1 || pools[0].Changed != pool {
					t.Errorf("%s: the pool is %+v, %v; want it changed at %v", what, pools, err, pool)
				}
				quotes, err := s.Pools.Quotes(t.Context())
				if err != nil || len(quotes["base"]) != 1 || quotes["base"][0].Changed != quoted {
					t.Errorf("%s: the quote is %+v, %v; want it changed at %v", what, quotes, err, quoted)
				}
			}
			commit(1, func(ch *market.Changes) {
				ch.Tokens = append(ch.Tokens, market.Change[market.Address, market.Token]{Key: mint, After: &token})
				ch.Pools = append(ch.Pools, market.Change[market.Address, market.Pool]{Key: id, After: &pool})
				ch.Quotes = append(ch.Quotes, market.Change[market.Address, market.QuotePrice]{Key: quote, After: &price})
			})
			want("all of one block", at(1), at(1), at(1))
			commit(2, func(ch *market.Changes) {
				ch.Launches = append(ch.Launches, market.Change[market.Address, market.Launch]{Key: mint, After: &launch})
			})
			want("a launch", at(2), at(1), at(1))
			commit(3, func(*market.Changes) {})
			commit(4, func(ch *market.Changes) {
				after := price
				after.USD = 2
				ch.Quotes = append(ch.Quotes, market.Change[market.Address, market.QuotePrice]{Key: quote, Before: &price, After: &after})
			})
			want("a quote", at(2), at(4), at(4))
			commit(5, func(ch *market.Changes) {
				after := pool
				after.Price = 3
				ch.Pools = append(ch.Pools, market.Change[market.Address, market.Pool]{Key: id, Before: &pool, After: &after})
			})
			want("a pool", at(2), at(5), at(4))
			if _, err := s.Rewind(t.Context(), l, 3); err != nil {
				t.Fatal(err)
			}
			want("back to before both", at(2), at(3), at(3))
			db := raw(t, kind, dsn)
			defer func() { _ = db.Close() }()
			for _, table := range []string{"tokens", "pools", "quote_prices", "launches"} {
				must(t, db, "UPDATE "+table+" SET changed_block = 0, changed_at = 0")
			}
			want("rows from before there were stamps", model.Stamp{At: 11}, model.Stamp{At: 22}, model.Stamp{})
		})
	}
}
