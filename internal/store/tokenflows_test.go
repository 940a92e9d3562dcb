package store_test

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestFlowsOfSomePools reads the newest valued trades of the named pools with their fundings and transactions, and no others.
func TestFlowsOfSomePools(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, kind)
			l := lease(t, s)
			base := address(1)
			var want []store.TxFlow
			for n := 1; n <= 4; n++ {
				c := &store.Commit{Last: header(n), Blocks: []market.Header{header(n)}}
				pool := &market.Pool{ID: poolID(n), Factory: address(8), Token0: base, Token1: address(9), Base: base, Quote: address(9)}
				c.Changes.Pools = []market.Change[market.Address, market.Pool]{{Key: pool.ID, After: pool}}
				for i := range 4 { // in the first pool, in the second, without a value, in a pool that isn't named
					tr := market.Trade{
						Block: uint64(n), LogIndex: uint64(i), Time: header(n).Time, Tx: market.EVMTx([32]byte{byte(n), byte(i)}), Pool: poolID([]int{1, 2, 1, 3}[i]),
						Base: base, Trader: address(50 + i), Sell: i == 1, NanoUSD: int64(10*n + i), HasUSD: i != 2,
					}
					if i == 0 {
						tr.Funding = market.Funding{State: market.FundingSeen, Funder: address(90), At: 5, Age: market.AgeNew, First: 6}
					}
					c.Changes.Trades = append(c.Changes.Trades, tr)
					if i < 2 {
						want = append(want, store.TxFlow{Tx: tr.Tx, Flow: store.Flow{
							Block: tr.Block, Time: tr.Time, Base: base, Trader: tr.Trader, Sell: tr.Sell, NanoUSD: tr.NanoUSD, Funding: tr.Funding,
						}})
					}
				}
				if err := s.Commit(t.Context(), l, c); err != nil {
					t.Fatal(err)
				}
			}
			pools := []market.Address{poolID(1), poolID(2)}
			for _, test := range []struct {
				chain string
				pools []market.Address
				since int64
				limit int
				want  []store.TxFlow
			}{
				{"base", pools, 0, 100, want},
				{"base", pools, 0, 8, want},
				{"base", pools, 0, 7, want[1:]},
				{"base", pools, header(3).Time, 100, want[4:]},
				{"base", pools, header(3).Time, 1, want[7:]},
				{"base", pools, header(4).Time + 1, 100, nil},
				{"base", nil, 0, 100, nil},
				{"bsc", pools, 0, 100, nil},
			} {
				got, err := s.Trades.FlowsOf(t.Context(), test.chain, base, test.pools, test.since, test.limit)
				if err != nil || !slices.Equal(got, test.want) {
					t.Errorf("at most %d on %s since %d: %+v, %v; want %+v", test.limit, test.chain, test.since, got, err, test.want)
				}
			}
		})
	}
}
