package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// PancakeSwap's Swap has two protocol fees at its end, and so a topic of its own (IPancakeV3PoolEvents.sol).
var topicPancakeV3Swap = topic("Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)")

// pancakeSwapV3 binds a PancakeSwap V3 factory: Uniswap V3's events but for the Swap.
func (d *Decoder) pancakeSwapV3(factory [20]byte) {
	d.uniswapV3Factory(factory, market.PancakeSwapV3)
	d.anywhere[topicPancakeV3Swap] = decodeV3Swap
}
