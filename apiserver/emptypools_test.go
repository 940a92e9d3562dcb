package apiserver_test

import (
	"math/big"
	"testing"

	"github.com/boardwalkhq/boardwalk/apiserver/contract"
	"github.com/boardwalkhq/boardwalk/internal/market"
	"github.com/boardwalkhq/boardwalk/internal/store/storetest"
)

// TestEmptyPoolsAreNotTold has a stranger make 20,000 pools of a token with nothing in them, at a price of his own.
func TestEmptyPoolsAreNotTold(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Both {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			st := seeded(t, kind)
			commitBlock(t, st, "base", 101, func(ch *market.Changes) {
				for n := range 20_000 {
					var word [32]byte
					big.NewInt(int64(1 + n)).FillBytes(word[:])
					id := market.PoolID(word)
					ch.Pools = append(ch.Pools, set(id, market.Pool{
						ID: id, Protocol: market.UniswapV4, Factory: address(t, native), Token0: address(t, token), Token1: address(t, weth),
						Base: address(t, token), Quote: address(t, weth), BaseIs0: true, Price: 1e6, Unlisted: true,
					}))
				}
			})
			c := start(t, st) // not before: the tests' clock stands still, and what was read once would be told again
			told := 0
			for _, p := range get[contract.DexSearch](t, c, "/api/dexscreener/search?q="+token).Pairs {
				if p.ChainID != "base" {
					continue
				}
				if told++; p.PairAddress != pairID {
					t.Errorf("the pair %s is told", p.PairAddress)
				}
			}
			if told != 1 {
				t.Errorf("%d pairs are told, want 1", told)
			}
			if got := get[contract.TokenInfo](t, c, "/api/token/info/"+token+"?chain=base").LiquidityPairs; got != 1 {
				t.Errorf("its liquidity is summed over %d pairs, want 1", got)
			}
		})
	}
}
