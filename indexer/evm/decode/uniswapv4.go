package decode

import "github.com/boardwalkhq/boardwalk/internal/market"

// TopicV4Initialize announces a pool of Uniswap V4.
var TopicV4Initialize = topic("Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)")

var (
	topicV4Swap            = topic("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")
	topicV4ModifyLiquidity = topic("ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)")
)

// DynamicFee marks a V4 pool whose hook sets the fee (LPFeeLibrary.DYNAMIC_FEE_FLAG).
const DynamicFee = 0x800000

// uniswapV4 binds the events of a V4 PoolManager, which holds every pool (IPoolManager.sol). Another contract's events
// with the same topics could name the same pool ids and are not ours.
func (d *Decoder) uniswapV4(manager [20]byte) {
	d.at[source{manager, TopicV4Initialize}] = V4Initialize
	d.at[source{manager, topicV4Swap}] = decodeV4Swap
	d.at[source{manager, topicV4ModifyLiquidity}] = decodeV4ModifyLiquidity
}

// V4Initialize reads a pool's Initialize, which has the whole key of the pool; it is nil where the log is none.
func V4Initialize(l *Log) market.Event {
	w, ok := words(l, 5)
	if l.NumTopics != 4 || !ok {
		return nil
	}
	fee := Uint(w[0])
	spacing, ok0 := Int24(w[1])
	tick, ok1 := Int24(w[4])
	if !ok0 || !ok1 || !fee.IsUint64() || fee.Uint64() >= 1<<24 {
		return nil
	}
	created := market.PoolCreated{
		Protocol: market.UniswapV4, Factory: Address(l.Address), Pool: market.PoolID(l.Topics[1]),
		Token0: market.EVMAddress(l.Topics[2]), Token1: market.EVMAddress(l.Topics[3]), Hooks: market.EVMParty(w[2]),
		TickSpacing: spacing, SqrtPriceX96: Uint(w[3]), Tick: tick,
	}
	if fee.Uint64() != DynamicFee {
		created.FeePips = uint32(fee.Uint64())
	}
	return created
}

// decodeV4Swap turns the amounts round: V4 logs them from the swapper's view. The recipient is not in the log.
func decodeV4Swap(l *Log) market.Event {
	w, ok := words(l, 6)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	tick, ok := Int24(w[4])
	fee := Uint(w[5])
	if !ok || !fee.IsUint64() || fee.Uint64() >= 1<<24 {
		return nil
	}
	sender := market.EVMAddress(l.Topics[2])
	return market.Swap{
		Pool: market.PoolID(l.Topics[1]), Sender: sender, Recipient: sender,
		Amount0: market.SignedFromWord(w[0]).Negate(), Amount1: market.SignedFromWord(w[1]).Negate(),
		SqrtPriceX96: Uint(w[2]), Liquidity: Uint(w[3]), Tick: tick, FeePips: uint32(fee.Uint64()),
	}
}

func decodeV4ModifyLiquidity(l *Log) market.Event {
	w, ok := words(l, 3)
	if l.NumTopics != 3 || !ok {
		return nil
	}
	lower, ok0 := Int24(w[0])
	upper, ok1 := Int24(w[1])
	delta := market.SignedFromWord(w[2])
	if !ok0 || !ok1 || lower >= upper || delta.IsZero() {
		return nil
	}
	return market.RangeLiquidity{Pool: market.PoolID(l.Topics[1]), TickLower: lower, TickUpper: upper, Delta: delta}
}
