package store_test

import (
	"strings"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// holders commits a token's balances of so many accounts.
func holders(t *testing.T, s *store.Store, count int) (keys []market.BalanceKey) {
	t.Helper()
	c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
	for n := range count {
		k := market.BalanceKey{Token: address(1), Account: address(10 + n)}
		keys = append(keys, k)
		c.Changes.Balances = append(c.Changes.Balances, market.Change[market.BalanceKey, market.Balance]{Key: k, After: &market.Balance{Amount: huge(5)}})
	}
	if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestManyRowsAreRemovedByKey: PostgreSQL finds many rows that go by the primary key, in a table that it would choose to read whole. Later statements of the
// transaction may join by hashes and by merging again.
func TestManyRowsAreRemovedByKey(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, "postgres")
	const all = 20_000
	keys := holders(t, s, all)
	for _, n := range []int{64, 3000} {
		got, err := s.RemoveBalances(t.Context(), "base", keys[:n])
		if want := (store.Removal{Left: int64(all - n), Joins: "on, on"}); err != nil || got != want {
			t.Errorf("of %d removed rows: %+v, %v; want %+v", n, got, err, want)
		}
	}
}

// TestManyCandlesAreReadByKey: PostgreSQL looks many candles up in the primary key, in a table that it would choose to read whole.
func TestManyCandlesAreReadByKey(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t, "postgres")
	s := open(t, dsn)
	c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
	var keys []market.CandleKey
	for n := range 20_000 {
		k := market.CandleKey{Pool: address(10 + n), Interval: 60, Open: 1_800_000_000}
		keys = append(keys, k)
		c.Changes.Candles = append(c.Changes.Candles, market.Change[market.CandleKey, market.Candle]{Key: k, After: &market.Candle{CandleKey: k}})
	}
	if err := s.Commit(t.Context(), lease(t, s), c); err != nil {
		t.Fatal(err)
	}
	db := raw(t, "postgres", dsn)
	t.Cleanup(func() { _ = db.Close() })
	must(t, db, "ANALYZE")
	plan := planOf(t, db, "EXPLAIN "+s.CandlesByKey("base", keys[:2000]))
	if !strings.Contains(plan, "Index Scan using") || strings.Contains(plan, "Seq Scan on candles") {
		t.Errorf("2,000 of %d candles are read by this plan:\n%s", len(keys), plan)
	}
}

// TestRowsAreRemovedAtEachLength: as many rows go as are named, by whatever way, and what one transaction removed and wrote again isn't removed with the next rows.
func TestRowsAreRemovedAtEachLength(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			const all = 6000
			keys := holders(t, s, all)
			left := all
			for _, n := range []int{1, 63, 64, 2001} {
				gone := keys[left-n : left]
				left -= n
				got, err := s.ReplaceBalances(t.Context(), "base", keys[:n], gone)
				if err != nil || got != int64(left) {
					t.Errorf("with %d rows written anew and %d removed there are %d, %v; want %d", n, n, got, err, left)
				}
			}
		})
	}
}
