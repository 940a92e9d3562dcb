package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

var (
	topicV3PoolCreated = topic("PoolCreated(address,address,uint24,int24,address)")
	topicV3Initialize  = topic("Initialize(uint160,int24)")
	topicV3Swap        = topic("Swap(address,address,int256,int256,uint160,uint128,int24)")
	topicV3Mint        = topic("Mint(address,address,int24,int24,uint128,uint256,uint256)")
	topicV3Burn        = topic("Burn(address,int24,int24,uint128,uint256,uint256)")
)

// uniswapV3 binds the events of a Uniswap V3 factory and of pools (IUniswapV3Factory.sol, IUniswapV3PoolEvents.sol).
func (d *Decoder) uniswapV3(factory [20]byte) { d.uniswapV3Factory(factory, market.UniswapV3) }

// uniswapV3Factory is uniswapV3 for whatever protocol has the same events.
func (d *Decoder) uniswapV3Factory(factory [20]byte, protocol market.Protocol) {
	d.at[source{factory, topicV3PoolCreated}] = func(l *Log) market.Event { return decodeV3PoolCreated(l, protocol) }
	d.uniswapV3Pools()
}

// uniswapV3Pools binds the events of pools alone.
func (d *Decoder) uniswapV3Pools() {
	d.anywhere[topicV3Initialize] = decodeV3Initialize
	d.anywhere[topicV3Swap] = decodeV3Swap
	d.anywhere[topicV3Mint] = decodeV3Mint
	d.anywhere[topicV3Burn] = decodeV3Burn
}

func decodeV3PoolCreated(l *Log, protocol market.Protocol) market.Event {
	w, ok := words(l, 2)
	if l.NumTopics != 4 || !ok {
		return nil
	}
	spacing, ok := Int24(w[0])
	fee := Uint(l.Topics[3])
	if !ok || !fee.IsUint64() || fee.Uint64() >= 1<<24 {
		return nil
	}
	return market.PoolCreated{
		Protocol: protocol, Factory: Address(l.Address), Pool: market.EVMAddress(w[1]),
		Token0: market.EVMAddress(l.Topics[1]), Token1: market.EVMAddress(l.Topics[2]),
		FeePips: uint32(fee.Uint64()), TickSpacing: spacing,
	}
}

func decodeV3Initialize(l *Log) market.Event {
	w, ok := words(l, 2)
	if l.NumTopics != 1 || !ok {
		return nil
	}
	tick, ok := Int24(w[1])
	if !ok {
		return nil
	}
	return market.PoolPriced{Pool: Address(l.Address), SqrtPriceX96: Uint(w[0]), Tick: tick}
}

// decodeV3Swap reads the five words that all V3 forks begin with; amounts are positive into the pool.
func decodeV3Swap(l *Log) market.Event {
	w, ok := words(l, 5)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	tick, ok := Int24(w[4])
	if !ok {
		return nil
	}
	return market.Swap{
		Pool: Address(l.Address), Sender: market.EVMAddress(l.Topics[1]), Recipient: market.EVMAddress(l.Topics[2]),
		Amount0: market.SignedFromWord(w[0]), Amount1: market.SignedFromWord(w[1]),
		SqrtPriceX96: Uint(w[2]), Liquidity: Uint(w[3]), Tick: tick,
	}
}

// decodeV3Mint reads (sender, amount, amount0, amount1); owner and ticks are topics.
func decodeV3Mint(l *Log) market.Event {
	w, ok := words(l, 4)
	if !ok {
		return nil
	}
	return v3Range(l, market.SignedAmount{Abs: Uint(w[1])})
}

// decodeV3Burn reads (amount, amount0, amount1); owner and ticks are topics.
func decodeV3Burn(l *Log) market.Event {
	w, ok := words(l, 3)
	if !ok {
		return nil
	}
	return v3Range(l, market.SignedAmount{Abs: Uint(w[0])}.Negate())
}

func v3Range(l *Log, delta market.SignedAmount) market.Event {
	if l.NumTopics != 4 {
		return nil
	}
	lower, ok0 := Int24(l.Topics[2])
	upper, ok1 := Int24(l.Topics[3])
	if !ok0 || !ok1 || lower >= upper || delta.IsZero() {
		return nil
	}
	return market.RangeLiquidity{Pool: Address(l.Address), TickLower: lower, TickUpper: upper, Delta: delta}
}
