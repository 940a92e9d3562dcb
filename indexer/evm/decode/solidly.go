package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

var (
	topicSolidlyPoolCreated = topic("PoolCreated(address,address,bool,address,uint256)")
	topicSolidlySync        = topic("Sync(uint256,uint256)")
	topicSolidlySwap        = topic("Swap(address,address,uint256,uint256,uint256,uint256)")
)

// solidly binds a Solidly factory of the Velodrome V2 and Aerodrome kind (IPoolFactory.sol, IPool.sol).
func (d *Decoder) solidly(factory [20]byte) {
	d.at[source{factory, topicSolidlyPoolCreated}] = decodeSolidlyPoolCreated
	d.anywhere[topicSolidlySync] = decodeSync
	d.anywhere[topicSolidlySwap] = decodeSolidlySwap
}

func decodeSolidlyPoolCreated(l *Log) market.Event {
	w, ok := words(l, 1)
	if l.NumTopics != 4 || !ok {
		return nil
	}
	return market.PoolCreated{
		Protocol: market.Solidly, Factory: Address(l.Address), Pool: market.EVMAddress(w[0]),
		Token0: market.EVMAddress(l.Topics[1]), Token1: market.EVMAddress(l.Topics[2]),
		Stable: l.Topics[3][31] != 0,
	}
}

func decodeSolidlySwap(l *Log) market.Event {
	w, ok := words(l, 4)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	return inAndOut(l, w, l.Topics[1], l.Topics[2])
}
