package decode

import (
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// V4PoolID is the id of a pool of Uniswap V4 with a fee, which may be DynamicFee: the hash of the pool's key (PoolId.sol).
func V4PoolID(p market.PoolCreated, fee uint32) market.Address {
	hooks := p.Hooks
	if hooks.IsNone() {
		hooks = market.Native
	}
	return market.PoolID(hash.Keccak256(addressWord(p.Token0), addressWord(p.Token1), NumberWord(uint64(fee)), SignedWord(int(p.TickSpacing)), addressWord(hooks)))
}

func addressWord(a market.Address) []byte { return append(make([]byte, 12), a.Bytes()...) }

// V4Key reads a contract's answer with a pool's key (PoolKey.sol): currencies, fee, tick spacing, hooks. ok is false for a key of another pool.
func V4Key(p market.PoolCreated, answer []byte) (_ market.PoolCreated, ok bool) {
	const length = 5 * 32
	if len(answer) < length {
		return p, false
	}
	var w [5][32]byte
	for i := range w {
		w[i] = [32]byte(answer[32*i:])
	}
	fee := Uint(w[2])
	p.Token0, p.Token1 = market.EVMAddress(w[0]), market.EVMAddress(w[1])
	if p.TickSpacing, ok = Int24(w[3]); !ok || !fee.IsUint64() || fee.Uint64() > DynamicFee {
		return p, false
	}
	p.Hooks = market.EVMParty(w[4])
	if fee.Uint64() != DynamicFee {
		p.FeePips = uint32(fee.Uint64())
	}
	return p, V4PoolID(p, uint32(fee.Uint64())) == p.Pool
}

// V4Creation reads a log by which a pool was made, as the pool's id shows.
func V4Creation(l *Log) (created market.PoolCreated, ok bool) {
	if l.NumTopics == 0 || l.Topics[0] != TopicV4Initialize {
		return created, false
	}
	created, ok = V4Initialize(l).(market.PoolCreated)
	if !ok {
		return created, false
	}
	// The id doesn't prove price and tick. Nobody needs them: the pool's present state is read.
	created.SqrtPriceX96, created.Tick = market.Amount{}, 0
	return created, V4PoolID(created, created.FeePips) == created.Pool || V4PoolID(created, DynamicFee) == created.Pool
}
