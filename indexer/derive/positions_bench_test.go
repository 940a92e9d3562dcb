package derive_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/derive"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// BenchmarkMembers derives and commits blocks of 200 swaps in 100 pools, each with two transfers of its token: on a chain without members, with 100,000
// wallets that are watched and do nothing, and with 50 or all of the swaps by such wallets. On PostgreSQL, one commit a block, as at the head.
func BenchmarkMembers(b *testing.B) {
	const swaps = 200
	for _, c := range []struct{ watched, trading int }{{0, 0}, {100_000, 0}, {100_000, 50}, {100_000, swaps}} {
		b.Run(fmt.Sprintf("watched=%d/trading=%d", c.watched, c.trading), func(b *testing.B) {
			m, err := derive.New(config(counted(5_000)))
			if err != nil {
				b.Fatal(err)
			}
			dsn := storetest.DSN(b, "postgres")
			st, err := store.Open(b.Context(), dsn)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			l, err := st.Leases.Acquire(b.Context(), "bench", "bench", time.Hour)
			if err != nil {
				b.Fatal(err)
			}
			begun := market.Beginning{Last: genesis}
			for n := range c.watched {
				begun.Watched = append(begun.Watched, market.WatchedWallet{Wallet: crowd(n), Member: int64(n / 2), Since: 1})
			}
			s := derive.NewState(begun)
			chain := newChain()
			var derived, committed []time.Duration
			follow := func(block market.Block) {
				blocks := []market.Block{block}
				began := time.Now()
				for _, w := range []func() market.Wanted{
					func() market.Wanted { return m.LaunchKeys(s, blocks) }, func() market.Wanted { return m.Keys(s, blocks, block.Header) },
					func() market.Wanted { return m.MoreKeys(s, blocks, block.Header) },
				} {
					wanted := w()
					rows, err := st.Load(b.Context(), "bench", wanted)
					if err != nil {
						b.Fatal(err)
					}
					s.Put(wanted, rows)
				}
				middle := time.Now()
				if err := m.Apply(s, blocks, block.Header); err != nil {
					b.Fatal(err)
				}
				changes := s.Flush(200_000)
				derived = append(derived, time.Since(middle))
				err := st.Commit(b.Context(), l, &store.Commit{
					Last: block.Header, Blocks: []market.Header{block.Header}, Undo: true, Horizon: block.Number - 64, Changes: changes,
				})
				if err != nil {
					b.Fatal(err)
				}
				committed = append(committed, time.Since(began))
			}
			follow(benchPools(chain, swaps/2))
			n := 0
			for b.Loop() {
				follow(benchSwaps(chain, swaps, c.trading, n))
				n++
			}
			slices.Sort(derived)
			slices.Sort(committed)
			b.ReportMetric(float64(derived[len(derived)/2].Microseconds())/1000, "derive-p50-ms")
			b.ReportMetric(float64(committed[len(committed)/2].Microseconds())/1000, "block-p50-ms")
		})
	}
}

// benchPools makes pools of tokens of their own and USDC.
func benchPools(c *chain, n int) market.Block {
	events := tx(pair(poolD, weth, usdc), synced(poolD, e18(10_000), e6(20_000_000)))
	list := facts(usdc, usdt, weth)
	for i := range n {
		token := crowd(1_000_000 + i)
		list = append(list, fact(token))
		events = append(events, pair(crowd(2_000_000+i), token, usdc), synced(crowd(2_000_000+i), e18(1_000_000), e6(1_000_000)))
	}
	return c.block(2, list, events)
}

// benchSwaps has so many purchases and sales, in turn, the first of them by watched wallets.
func benchSwaps(c *chain, swaps, trading, block int) market.Block {
	var txs [][]market.Event
	for i := range swaps {
		wallet := crowd(500_000 + i)
		if i < trading {
			wallet = crowd(i * 7)
		}
		token, pool := crowd(1_000_000+i/2), crowd(2_000_000+i/2)
		if block%2 == 0 {
			txs = append(txs, tx(moved(token, pool, router, e18(10)), moved(token, router, wallet, e18(10)), swapped(pool, out(e18(10)), in(e6(10)), router, wallet),
				synced(pool, e18(1_000_000), e6(1_000_000))))
		} else {
			txs = append(txs, tx(moved(token, wallet, router, e18(10)), moved(token, router, pool, e18(10)), swapped(pool, in(e18(10)), out(e6(11)), router, router),
				synced(pool, e18(1_000_000), e6(1_000_000))))
		}
	}
	return c.block(2, nil, txs...)
}
