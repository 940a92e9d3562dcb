package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// PriceTopic is the topic of the event that tells the price of a pool of an exchange after a trade; ok is false where there is none.
func PriceTopic(p market.Protocol) (topic [32]byte, ok bool) {
	topic, ok = map[market.Protocol][32]byte{
		market.UniswapV2: topicV2Sync, market.Solidly: topicSolidlySync, market.UniswapV3: topicV3Swap, market.Slipstream: topicV3Swap,
		market.PancakeSwapV3: topicPancakeV3Swap, market.UniswapV4: topicV4Swap,
	}[p]
	return topic, ok
}
