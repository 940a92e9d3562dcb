package traffic

import (
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// v4PositionsOffset is where a pool keeps its mapping of positions (V4's StateLibrary).
const v4PositionsOffset = 6

// v4Position is what a trader put into a V4 pool.
type v4Position struct {
	pool         world.Pool
	lower, upper int
}

// slot is where the PoolManager keeps the position's liquidity (V4's Position.calculatePositionKey).
// The router owns all positions, under their providers' addresses.
func (p v4Position) slot(router, provider string) *big.Int {
	key := anvil.Keccak(anvil.FromHex(router), anvil.Word(big.NewInt(int64(p.lower)))[29:], anvil.Word(big.NewInt(int64(p.upper)))[29:],
		make([]byte, 12), anvil.FromHex(provider))
	mapping := new(big.Int).Add(world.V4Slot(p.pool), big.NewInt(v4PositionsOffset))
	return new(big.Int).SetBytes(anvil.Keccak(key, anvil.Word(mapping)))
}

// actLiquidityV4 takes out what the trader put in last time, or else puts something in.
func actLiquidityV4(ctx context.Context, t *Trader, m *market, in *intent) ([]anvil.Transaction, []Truth, error) {
	router := t.world.Routers.UniswapV4
	if position, found := t.ranges[in.trader]; found {
		delete(t.ranges, in.trader)
		held, err := t.read(ctx, position.pool.Factory, "extsload(bytes32)", anvil.Word(position.slot(router, in.trader)))
		if err != nil {
			return nil, nil, err
		}
		if liquidity := anvil.WordAt(held, 0); liquidity.Sign() > 0 { // none after a reorg, or before the addition is mined
			tx := t.world.ChangeV4(in.trader, position.pool, position.lower, position.upper, new(big.Int).Neg(liquidity), nil)
			return []anvil.Transaction{tx}, []Truth{{Kind: RemoveV4, Trader: in.trader, Pools: []string{position.pool.ID}}}, nil
		}
	}
	amount0, amount1 := t.shares(m, in)
	if amount0 == nil {
		return nil, nil, nil
	}
	price, spacing := world.PriceOf(m.pools[in.pool.ID].SqrtPrice), in.pool.TickSpacing
	at := world.AlignTick(world.TickOf(price), spacing)
	reach := world.AlignTick(600+t.rng.IntN(1200), spacing) // as in actLiquidityV3
	position := v4Position{in.pool, at - reach, at + reach + spacing}
	liquidity := world.LiquidityFor(price, position.lower, position.upper, world.Float(amount0), world.Float(amount1))
	t.ranges[in.trader] = position
	// The price may move before this is mined, by a percent or two, and change comes back.
	tx := t.world.ChangeV4(in.trader, in.pool, position.lower, position.upper, liquidity, new(big.Int).Mul(amount0, big.NewInt(2)))
	return []anvil.Transaction{tx}, []Truth{{Kind: AddV4, Trader: in.trader, Pools: []string{in.pool.ID}}}, nil
}
