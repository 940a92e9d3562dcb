package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

var (
	topicPairCreated = topic("PairCreated(address,address,address,uint256)")
	topicV2Sync      = topic("Sync(uint112,uint112)")
	topicV2Swap      = topic("Swap(address,uint256,uint256,uint256,uint256,address)")
	topicV2Mint      = topic("Mint(address,uint256,uint256)")
	topicV2Burn      = topic("Burn(address,uint256,uint256,address)")
)

// uniswapV2 binds the events of a Uniswap V2 factory and of pairs (UniswapV2Factory.sol, UniswapV2Pair.sol).
func (d *Decoder) uniswapV2(factory [20]byte) {
	d.at[source{factory, topicPairCreated}] = decodePairCreated
	d.anywhere[topicV2Sync] = decodeSync
	d.anywhere[topicV2Swap] = decodeV2Swap
	d.anywhere[topicV2Mint] = decodeV2Mint
	d.anywhere[topicV2Burn] = decodeV2Burn
}

func decodePairCreated(l *Log) market.Event {
	pair, ok := l.word(0)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	return market.PoolCreated{
		Protocol: market.UniswapV2, Factory: Address(l.Address), Pool: market.EVMAddress(pair),
		Token0: market.EVMAddress(l.Topics[1]), Token1: market.EVMAddress(l.Topics[2]),
	}
}

func decodeSync(l *Log) market.Event {
	w, ok := words(l, 2)
	if l.NumTopics != 1 || !ok {
		return nil
	}
	return market.Reserves{Pool: Address(l.Address), Reserve0: Uint(w[0]), Reserve1: Uint(w[1])}
}

// decodeV2Swap reads a pair's Swap. A fee on transfer, or a flash swap, can send the same token in and out: what
// counts is the difference.
func decodeV2Swap(l *Log) market.Event {
	w, ok := words(l, 4)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	return inAndOut(l, w, l.Topics[1], l.Topics[2])
}

// inAndOut is a swap logged as amount0In, amount1In, amount0Out, amount1Out.
func inAndOut(l *Log, w [8][32]byte, sender, to [32]byte) market.Event {
	in := func(i int) market.SignedAmount {
		return market.SignedAmount{Abs: Uint(w[i])}.Add(market.SignedAmount{Abs: Uint(w[i+2])}.Negate())
	}
	return market.Swap{
		Pool: Address(l.Address), Sender: market.EVMAddress(sender), Recipient: market.EVMAddress(to),
		Amount0: in(0), Amount1: in(1),
	}
}

func decodeV2Mint(l *Log) market.Event {
	w, ok := words(l, 2)
	if l.NumTopics != 2 || !ok {
		return nil
	}
	return market.PairLiquidity{Pool: Address(l.Address), Amount0: Uint(w[0]), Amount1: Uint(w[1])}
}

func decodeV2Burn(l *Log) market.Event {
	w, ok := words(l, 2)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	return market.PairLiquidity{Pool: Address(l.Address), Amount0: Uint(w[0]), Amount1: Uint(w[1]), Burn: true}
}
