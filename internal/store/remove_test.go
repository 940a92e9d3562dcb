package store_test

import (
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestManyRowsAreRemovedByKey: PostgreSQL looks up each of many keys whose rows go, in a table that it would rather read whole. Whatever comes later in the
// transaction is planned as ever.
func TestManyRowsAreRemovedByKey(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, "postgres")
	l := lease(t, s)
	c := &store.Commit{Last: header(1), Blocks: []market.Header{header(1)}}
	var keys []market.BalanceKey
	for n := range 20_000 {
		k := market.BalanceKey{Token: address(1), Account: address(10 + n)}
		keys = append(keys, k)
		c.Changes.Balances = append(c.Changes.Balances, market.Change[market.BalanceKey, market.Balance]{Key: k, After: &market.Balance{Amount: huge(5)}})
	}
	if err := s.Commit(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 63, 64, 3000} {
		scans, hashes, err := s.RemoveBalances(t.Context(), "base", keys[:n])
		if err != nil || scans > 0 || hashes != "on" {
			t.Errorf("to remove %d rows the table is read %d times, and afterwards joins by hashes are %q; %v", n, scans, hashes, err)
		}
	}
}
