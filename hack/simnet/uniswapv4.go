package simnet

import (
	"context"
	"math/big"

	"github.com/boardwalkhq/boardwalk/hack/simnet/anvil"
)

// v4KeyType is the struct PoolKey.
const v4KeyType = "(address,address,uint24,int24,address)"

// v4Key is what a V4 pool is, and what its id is the hash of.
func v4Key(pool Pool) anvil.Tuple {
	hooks := pool.Hooks
	if hooks == "" {
		hooks = anvil.ZeroAddress
	}
	return anvil.Tuple{pool.Token0, pool.Token1, pool.Fee, pool.TickSpacing, hooks}
}

const (
	// v4PoolsSlot is where the PoolManager keeps its mapping of pools, and the offsets are where a pool
	// keeps its liquidity and its mapping of positions (V4's StateLibrary).
	v4PoolsSlot       = 6
	v4LiquidityOffset = 3
	v4PositionsOffset = 6
)

func v4Slot(pool Pool) *big.Int {
	return new(big.Int).SetBytes(anvil.Keccak(anvil.FromHex(pool.ID), anvil.Word(big.NewInt(v4PoolsSlot))))
}

const (
	// create2Deployer is the deterministic deployment proxy, which anvil has from the start.
	create2Deployer = "0x4e59b44847b379578588920ca78fbf26c0b4956c"
	// v4HookFlags is the part of a hook's address that says when it is called, v4BeforeSwap the flag
	// of the one occasion of SilentHook (V4's Hooks.sol).
	v4HookFlags  = 1<<14 - 1
	v4BeforeSwap = 1 << 7
)

func (d *deployment) uniswapV4(ctx context.Context) {
	d.UniswapV4PoolManager = d.createAt(ctx, d.places.UniswapV4PoolManager, "PoolManager", "(address)", d.Deployer)
	d.Routers.UniswapV4 = d.createAt(ctx, d.places.UniswapV4PositionManager, "V4Router", "(address)", d.UniswapV4PoolManager)

	code := d.Node.Tools.Code["SilentHook"]
	salt, address := findHookSalt(anvil.Keccak(code), v4BeforeSwap)
	d.Hook = address
	d.add(anvil.Transaction{To: create2Deployer, Data: append(salt, code...)})
}

// findHookSalt tries salts until the CREATE2 address (EIP-1014) has these flags and no others: some
// 16,000 times.
func findHookSalt(codeHash []byte, wanted int) (salt []byte, address string) {
	for i := int64(0); ; i++ {
		salt = anvil.Word(big.NewInt(i))
		hash := anvil.Keccak([]byte{0xff}, anvil.FromHex(create2Deployer), salt, codeHash)
		if flags := int(hash[30])<<8 | int(hash[31]); flags&v4HookFlags == wanted {
			return salt, anvil.ToHex(hash[12:])
		}
	}
}

// changeV4 adds liquidity to a position or takes it away. Of the native currency, up to a hundredth
// more than the amount is sent along, and what is not needed comes back.
func (w *World) changeV4(from string, pool Pool, lower, upper int, liquidity, amount0 *big.Int) anvil.Transaction {
	tx := anvil.Transaction{
		From: from, To: w.Routers.UniswapV4, Gas: deployGas,
		Data: anvil.EncodeCall("modifyLiquidity("+v4KeyType+",int24,int24,int256)", v4Key(pool), lower, upper, liquidity),
	}
	if pool.Token0 == anvil.ZeroAddress && liquidity.Sign() > 0 {
		tx.Value = new(big.Int).Add(amount0, new(big.Int).Div(amount0, big.NewInt(100)))
	}
	return tx
}

// v4Position is what a trader put into a V4 pool.
type v4Position struct {
	pool         Pool
	lower, upper int
}

// slot is where the PoolManager keeps the position's liquidity (V4's Position.calculatePositionKey).
// The router owns all positions, under their providers' addresses.
func (p v4Position) slot(router, provider string) *big.Int {
	key := anvil.Keccak(anvil.FromHex(router), anvil.Word(big.NewInt(int64(p.lower)))[29:], anvil.Word(big.NewInt(int64(p.upper)))[29:],
		make([]byte, 12), anvil.FromHex(provider))
	mapping := new(big.Int).Add(v4Slot(p.pool), big.NewInt(v4PositionsOffset))
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
			tx := t.world.changeV4(in.trader, position.pool, position.lower, position.upper, new(big.Int).Neg(liquidity), nil)
			return []anvil.Transaction{tx}, []Truth{{Kind: RemoveV4, Trader: in.trader, Pools: []string{position.pool.ID}}}, nil
		}
	}
	amount0, amount1 := t.shares(m, in)
	if amount0 == nil {
		return nil, nil, nil
	}
	price, spacing := priceOf(m.pools[in.pool.ID].sqrtPrice), in.pool.TickSpacing
	at := alignTick(tickOf(price), spacing)
	reach := alignTick(600+t.rng.IntN(1200), spacing) // as in actLiquidityV3
	position := v4Position{in.pool, at - reach, at + reach + spacing}
	liquidity := liquidityFor(price, position.lower, position.upper, toFloat(amount0), toFloat(amount1))
	t.ranges[in.trader] = position
	// The price may move before this is mined, by a percent or two, and change comes back.
	tx := t.world.changeV4(in.trader, in.pool, position.lower, position.upper, liquidity, new(big.Int).Mul(amount0, big.NewInt(2)))
	return []anvil.Transaction{tx}, []Truth{{Kind: AddV4, Trader: in.trader, Pools: []string{in.pool.ID}}}, nil
}
