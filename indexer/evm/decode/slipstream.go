package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// topicSlipstreamPoolCreated announces a pool by its tick spacing, without a fee (ICLFactory.sol of velodrome-finance/slipstream).
var topicSlipstreamPoolCreated = topic("PoolCreated(address,address,int24,address)")

// slipstream binds a Slipstream factory. Its pools log Uniswap V3's events (ICLPoolEvents.sol), but the price comes first: the factory creates
// and initializes a pool in one call, and logs PoolCreated after the pool's own Initialize (CLFactory.sol). No event tells the fee: the pool
// asks its factory for it at each swap, and the factory a module that can change it with the price.
func (d *Decoder) slipstream(factory [20]byte) {
	d.at[source{factory, topicSlipstreamPoolCreated}] = decodeSlipstreamPoolCreated
	d.uniswapV3Pools()
}

func decodeSlipstreamPoolCreated(l *Log) market.Event {
	w, ok := words(l, 1)
	if l.NumTopics != 4 || !ok {
		return nil
	}
	spacing, ok := Int24(l.Topics[3])
	if !ok || spacing <= 0 {
		return nil
	}
	return market.PoolCreated{
		Protocol: market.Slipstream, Factory: Address(l.Address), Pool: market.EVMAddress(w[0]),
		Token0: market.EVMAddress(l.Topics[1]), Token1: market.EVMAddress(l.Topics[2]), TickSpacing: spacing,
	}
}
