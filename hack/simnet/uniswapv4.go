package simnet

import "math/big"

// v4KeyType is the struct PoolKey.
const v4KeyType = "(address,address,uint24,int24,address)"

// v4Key is what a V4 pool is, and what its id is the hash of.
func v4Key(pool Pool) tuple {
	hooks := pool.Hooks
	if hooks == "" {
		hooks = zeroAddress
	}
	return tuple{pool.Token0, pool.Token1, pool.Fee, pool.TickSpacing, hooks}
}

const (
	// v4PoolsSlot is where the PoolManager keeps its mapping of pools, and v4LiquidityOffset where a
	// pool keeps its liquidity (V4's StateLibrary).
	v4PoolsSlot       = 6
	v4LiquidityOffset = 3
)

func v4Slot(pool Pool) *big.Int {
	return new(big.Int).SetBytes(keccak(fromHex(pool.ID), word(big.NewInt(v4PoolsSlot))))
}

const (
	// create2Deployer is the deterministic deployment proxy, which anvil has from the start.
	create2Deployer = "0x4e59b44847b379578588920ca78fbf26c0b4956c"
	// v4HookFlags is the part of a hook's address that says when it is called, v4BeforeSwap the flag
	// of the one occasion of SilentHook (V4's Hooks.sol).
	v4HookFlags  = 1<<14 - 1
	v4BeforeSwap = 1 << 7
)

func (d *deployment) uniswapV4() {
	d.UniswapV4PoolManager = d.create("PoolManager", "(address)", d.Deployer)
	d.Routers.UniswapV4 = d.create("V4Router", "(address)", d.UniswapV4PoolManager)

	code := d.Node.tools.Code["SilentHook"]
	salt, address := findHookSalt(keccak(code))
	d.Hook = address
	d.add(transaction{to: create2Deployer, data: append(salt, code...)})
}

// findHookSalt tries salts until the CREATE2 address (EIP-1014) has the flags of SilentHook and no
// others: some 16,000 times.
func findHookSalt(codeHash []byte) (salt []byte, address string) {
	for i := int64(0); ; i++ {
		salt = word(big.NewInt(i))
		hash := keccak([]byte{0xff}, fromHex(create2Deployer), salt, codeHash)
		if flags := int(hash[30])<<8 | int(hash[31]); flags&v4HookFlags == v4BeforeSwap {
			return salt, toHex(hash[12:])
		}
	}
}
