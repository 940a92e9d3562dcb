package decode

import (
	"slices"

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

// V4Tier is the fee of a pool of Uniswap V4, in hundredths of a basis point, and its tick spacing.
type V4Tier struct {
	Fee     uint32
	Spacing int32
}

// V4UsualTiers are the tiers that Uniswap's own interface offers; anybody may make pools of others.
func V4UsualTiers() []V4Tier { return []V4Tier{{100, 1}, {500, 10}, {3000, 60}, {10_000, 200}} }

// V4TiersOf are the tiers that a pool of a fee may have, without the usual one. Uniswap's own interface gives a pool with another fee a spacing of a fiftieth of the fee, and on
// chains above Ethereum of a hundredth, rounded and at least 1 (calculateTickSpacingFromFeeAmount). Pools that others make often have the spacing of a usual tier.
func V4TiersOf(fee uint32) (tiers []V4Tier) {
	usual := V4UsualTiers()
	spacings := []int32{int32(max((fee+25)/50, 1)), int32(max((fee+50)/100, 1))}
	for _, t := range usual {
		spacings = append(spacings, t.Spacing)
	}
	for _, spacing := range spacings {
		if t := (V4Tier{fee, spacing}); !slices.Contains(usual, t) && !slices.Contains(tiers, t) {
			tiers = append(tiers, t)
		}
	}
	return tiers
}

// V4Pools are the pools of two tokens, whichever is first, that a pool manager may have without a hook: one of each tier.
func V4Pools(manager market.Address, tokens [2]market.Address, tiers []V4Tier) (pools []market.PoolCreated) {
	if tokens[1].Compare(tokens[0]) < 0 {
		tokens[0], tokens[1] = tokens[1], tokens[0]
	}
	for _, t := range tiers {
		p := market.PoolCreated{Protocol: market.UniswapV4, Factory: manager, Token0: tokens[0], Token1: tokens[1], FeePips: t.Fee, TickSpacing: t.Spacing}
		p.Pool = V4PoolID(p, t.Fee)
		pools = append(pools, p)
	}
	return pools
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
