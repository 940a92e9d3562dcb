package contracts

import (
	"slices"
	"testing"

	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// TestPoolsThatNeedNoAsking names the V4 pools of a token with two quotes, one of which is the wrapped coin: the pool may hold the coin itself. Those with a usual fee are
// named apart from those with the fee that a swap paid.
func TestPoolsThatNeedNoAsking(t *testing.T) {
	t.Parallel()
	account := func(n byte) market.Address { return market.EVMAddress([32]byte{31: n}) }
	token, wrapped, usd, manager := account(5), account(9), account(2), account(7)
	exchanges := []chainconfig.Exchange{{Protocol: market.UniswapV3, Factory: account(8)}, {Protocol: market.UniswapV4, Factory: manager}}
	pairs := [][2]market.Address{{token, wrapped}, {token, usd}}
	cs := Contracts{wrapped: wrapped}
	for name, c := range map[string]struct {
		pools     []market.PoolCreated
		fee       uint32
		spacing   int32
		perTokens int
	}{
		"usual":     {cs.UsualPools(exchanges, pairs), 3000, 60, 4},
		"of 0.25 %": {cs.UsualPools(exchanges, pairs, 2500), 2500, 50, 6},
		"of 1.25 %": {cs.UsualPools(exchanges, pairs, 12_500), 12_500, 125, 6},
		"of no fee": {cs.UsualPools(exchanges, pairs, 0), 0, 1, 4},
		"of 1 %":    {cs.UsualPools(exchanges, pairs, 10_000), 10_000, 100, 4},
	} {
		if len(c.pools) != 3*c.perTokens {
			t.Errorf("%s: there are %d pools", name, len(c.pools))
		}
		for _, tokens := range [][2]market.Address{{token, wrapped}, {market.Native, token}, {usd, token}} {
			want := market.PoolCreated{
				Protocol: market.UniswapV4, Factory: manager, Token0: tokens[0], Token1: tokens[1], FeePips: c.fee, TickSpacing: c.spacing,
			}
			want.Pool = decode.V4PoolID(want, c.fee)
			if !slices.Contains(c.pools, want) {
				t.Errorf("%s: the pool of %v isn't among them", name, tokens)
			}
		}
	}
}
