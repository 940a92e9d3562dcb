package apiserver_test

import (
	"testing"
	"time"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestAnswersFollowCommits commits a block with a new token and a trade, another that makes it rich, and takes both back:
// lists, search and prices follow each time, without a restart.
func TestAnswersFollowCommits(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			o := options(t, st)
			began := time.Now()
			o.Now = func() time.Time { return clock.Add(time.Since(began)) } // what is cached must age
			c := startWith(t, o)
			const fresh = "0x9900000000000000000000000000000000000099"
			l, err := st.Leases.Acquire(t.Context(), "base", "test", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			pool := market.Pool{
				ID: address(t, "0x9800000000000000000000000000000000000098"), Protocol: market.UniswapV2, Factory: address(t, native),
				Token0: address(t, fresh), Token1: address(t, weth), Base: address(t, fresh), Quote: address(t, weth), BaseIs0: true,
				Price: 0.5, Depth: 1, Locked: 0.5, LastTradeAt: clock.Unix() - 1, CreatedBlock: 101, CreatedAt: clock.Unix() - 1,
			}
			block := func(number uint64, locked float64) *store.Commit {
				h := market.Header{Number: number, Hash: market.Hash{byte(number)}, Parent: market.Hash{byte(number - 1)}, Time: clock.Unix() - 1}
				if number == 101 {
					h.Parent = market.Hash{1}
				}
				pool.Locked = locked
				p := pool
				return &store.Commit{
					Last: h, Blocks: []market.Header{h}, Undo: true, Head: store.HeadStatus{Number: number, Time: h.Time, Final: 80, FinalTime: clock.Unix() - 60},
					Changes: market.Changes{Pools: []market.Change[market.Address, market.Pool]{set(p.ID, p)}},
				}
			}
			first := block(101, 0.5)
			first.Changes.Tokens = append(first.Changes.Tokens, set(address(t, fresh), market.Token{
				Mint: address(t, fresh), Name: "Brand new", Symbol: "PEPE", HasDecimals: true, Decimals: 18, FirstBlock: 101,
				FirstSeenAt: clock.Unix() - 1, Pool: pool.ID,
			}))
			first.Changes.Trades = append(first.Changes.Trades, market.Trade{
				Block: 101, Time: clock.Unix() - 1, Pool: pool.ID, Base: pool.Base, Trader: address(t, native), BaseAmount: amount("1"),
				QuoteAmount: amount("1"), NanoUSD: 9_000_000_000, HasUSD: true, CloseUSD: 1000, CloseNative: 0.5,
			})
			place := func() int {
				for i, p := range get[contract.DexSearch](t, c, "/api/dexscreener/search?q=pepe").Pairs {
					if p.BaseToken.Address == fresh {
						return i
					}
				}
				return -1
			}
			listed := func() bool {
				for _, tok := range get[contract.MarketLive](t, c, "/api/market/live").Tokens {
					if tok.Mint == fresh {
						return true
					}
				}
				return false
			}
			if place() >= 0 || listed() {
				t.Fatal("it is there before it was made")
			}
			if err := st.Commit(t.Context(), l, first); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is found last of its ticker, listed and priced", func() bool {
				prices := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints=base:"+fresh)
				return place() == 6 && listed() && near(prices.Prices["base:"+fresh].Price, 1000) && prices.Blocks["base"].Number == 101
			})
			if err := st.Commit(t.Context(), l, block(102, 5000)); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is found first", func() bool { return place() == 0 })
			if _, err := st.Rewind(t.Context(), l, 100); err != nil {
				t.Fatal(err)
			}
			eventually(t, "nothing of it is left", func() bool {
				prices := get[contract.TokenPrices](t, c, "/api/market/token-prices?mints=base:"+fresh)
				return place() < 0 && !listed() && len(prices.Missing) == 1
			})
		})
	}
}
