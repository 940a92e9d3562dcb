package world

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
	// v4PoolsSlot is where the PoolManager keeps its mapping of pools, v4LiquidityOffset where a pool keeps
	// its liquidity (V4's StateLibrary).
	v4PoolsSlot       = 6
	v4LiquidityOffset = 3
)

// V4Slot is where the PoolManager keeps a pool.
func V4Slot(pool Pool) *big.Int {
	return new(big.Int).SetBytes(anvil.Keccak(anvil.FromHex(pool.ID), anvil.Word(big.NewInt(v4PoolsSlot))))
}

const (
	// Create2Deployer is the deterministic deployment proxy, which anvil has from the start.
	Create2Deployer = "0x4e59b44847b379578588920ca78fbf26c0b4956c"
	// v4HookFlags is the part of a hook's address that says when it is called, v4BeforeSwap the flag
	// of the one occasion of SilentHook (V4's Hooks.sol).
	v4HookFlags  = 1<<14 - 1
	v4BeforeSwap = 1 << 7
)

func (d *Deployment) uniswapV4(ctx context.Context) {
	d.UniswapV4PoolManager = d.createAt(ctx, d.places.UniswapV4PoolManager, "PoolManager", "(address)", d.Deployer)
	d.Routers.UniswapV4 = d.createAt(ctx, d.places.UniswapV4PositionManager, "V4Router", "(address)", d.UniswapV4PoolManager)

	code := d.Node.Tools.Code["SilentHook"]
	salt, address := HookSalt(anvil.Keccak(code), v4BeforeSwap)
	d.Hook = address
	d.Add(anvil.Transaction{To: Create2Deployer, Data: append(salt, code...)})
}

// HookSalt tries salts until the CREATE2 address (EIP-1014) has these flags and no others: some
// 16,000 times.
func HookSalt(codeHash []byte, wanted int) (salt []byte, address string) {
	for i := int64(0); ; i++ {
		salt = anvil.Word(big.NewInt(i))
		hash := anvil.Keccak([]byte{0xff}, anvil.FromHex(Create2Deployer), salt, codeHash)
		if flags := int(hash[30])<<8 | int(hash[31]); flags&v4HookFlags == wanted {
			return salt, anvil.ToHex(hash[12:])
		}
	}
}

// ChangeV4 adds liquidity to a position or takes it away. Of the native currency, up to a hundredth
// more than the amount is sent along, and what is not needed comes back.
func (w *World) ChangeV4(from string, pool Pool, lower, upper int, liquidity, amount0 *big.Int) anvil.Transaction {
	tx := anvil.Transaction{
		From: from, To: w.Routers.UniswapV4, Gas: deployGas,
		Data: anvil.EncodeCall("modifyLiquidity("+v4KeyType+",int24,int24,int256)", v4Key(pool), lower, upper, liquidity),
	}
	if pool.Token0 == anvil.ZeroAddress && liquidity.Sign() > 0 {
		tx.Value = new(big.Int).Add(amount0, new(big.Int).Div(amount0, big.NewInt(100)))
	}
	return tx
}

// WithFee is the Uniswap V4 pool of the same tokens with another fee, and so with another id.
func (p Pool) WithFee(fee int) Pool {
	p.Fee = fee
	p.ID = anvil.ToHex(anvil.Keccak(anvil.EncodeArgs("("+v4KeyType+")", v4Key(p))))
	return p
}
