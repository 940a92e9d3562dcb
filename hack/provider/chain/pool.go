package chain

import (
	"math"
	"math/big"
	"slices"

	"github.com/holiman/uint256"

	"github.com/boardwalkhq/boardwalk/hack/simnet/world"
)

// pool is a pool of which swaps are made up.
type pool struct {
	address        Address
	token0, token1 Address
	v3             bool
	liquidity      uint256.Int // of Uniswap V3; it lies over all prices
	// opening is the price that trades return to, token1 per token0 in smallest units.
	opening float64
}

// poolState is what changes of a pool.
type poolState struct {
	reserve0, reserve1 uint256.Int
	sqrtPrice          uint256.Int // of Uniswap V3
	tick               int32
}

// poolStates are the states of all pools after a block.
type poolStates []poolState

func (s *poolStates) clone() *poolStates {
	out := slices.Clone(*s)
	return &out
}

// feePips is the fee of every pool here, in millionths.
const feePips, million = 3000, 1_000_000

// price is token1 per token0.
func (p *pool) price(s *poolState) float64 {
	if p.v3 {
		root := s.sqrtPrice.Float64() / (1 << 96)
		return root * root
	}
	return s.reserve1.Float64() / s.reserve0.Float64()
}

// depth is how much of a token a trade is measured by: what a constant product would hold of it.
func (p *pool) depth(s *poolState, zero bool) float64 {
	if !p.v3 {
		if zero {
			return s.reserve0.Float64()
		}
		return s.reserve1.Float64()
	}
	root := s.sqrtPrice.Float64() / (1 << 96)
	if zero {
		return p.liquidity.Float64() / root
	}
	return p.liquidity.Float64() * root
}

// swap gives an amount of one token to the pool, and the other's amount that comes out. zero says that token0 is given.
func (p *pool) swap(s *poolState, zero bool, in *uint256.Int) (out uint256.Int) {
	if p.v3 {
		out = p.swapV3(s, zero, in)
	} else {
		out = swapV2(s, zero, in)
	}
	gain, loss := &s.reserve0, &s.reserve1
	if !zero {
		gain, loss = loss, gain
	}
	gain.Add(gain, in)
	loss.Sub(loss, &out)
	return out
}

// swapV2 is UniswapV2Library.getAmountOut.
func swapV2(s *poolState, zero bool, in *uint256.Int) (out uint256.Int) {
	from, to := &s.reserve0, &s.reserve1
	if !zero {
		from, to = to, from
	}
	var fed, below uint256.Int
	fed.Mul(in, uint256.NewInt(997))
	below.Add(below.Mul(from, uint256.NewInt(1000)), &fed)
	out.Div(out.Mul(&fed, to), &below)
	return out
}

// swapV3 moves the price along a liquidity that never changes (Uniswap V3 whitepaper, section 6.2.3).
func (p *pool) swapV3(s *poolState, zero bool, in *uint256.Int) (out uint256.Int) {
	var fed, scaled, next, moved uint256.Int
	fed.Div(fed.Mul(in, uint256.NewInt(million-feePips)), uint256.NewInt(million))
	scaled.Lsh(&p.liquidity, 96)
	if zero {
		var below uint256.Int
		below.Add(&scaled, below.Mul(&fed, &s.sqrtPrice))
		next.MulDivOverflow(&scaled, &s.sqrtPrice, &below)
		next.AddUint64(&next, 1) // rounded up
		moved.Sub(&s.sqrtPrice, &next)
		out.MulDivOverflow(&p.liquidity, &moved, new(uint256.Int).Lsh(uint256.NewInt(1), 96))
	} else {
		next.Div(next.Lsh(&fed, 96), &p.liquidity)
		next.Add(&next, &s.sqrtPrice)
		moved.Sub(&next, &s.sqrtPrice)
		out.MulDivOverflow(&scaled, &moved, &next)
		out.Div(&out, &s.sqrtPrice)
	}
	s.sqrtPrice = next
	s.tick = tickOf(&next)
	return out
}

// tickOf is the greatest tick whose price isn't above this one. Nearer than a part in 10^15 to a tick it may be its neighbour.
func tickOf(sqrtPrice *uint256.Int) int32 {
	return int32(math.Floor(2 * math.Log(sqrtPrice.Float64()/(1<<96)) / math.Log(1.0001)))
}

func newPools(opened []world.VolumePool) (pools []pool, states *poolStates) {
	pools, all := make([]pool, len(opened)), make(poolStates, len(opened))
	for i, r := range opened {
		p, s := &pools[i], &all[i]
		p.address, p.token0, p.token1, p.v3 = address(r.Address), address(r.Token0), address(r.Token1), r.Protocol == world.UniswapV3
		s.reserve0, s.reserve1 = *uint256.MustFromBig(r.Reserve0), *uint256.MustFromBig(r.Reserve1)
		if p.v3 {
			p.liquidity, s.sqrtPrice, s.tick = *uint256.MustFromBig(r.Liquidity), *uint256.MustFromBig(r.SqrtPrice), int32(r.Tick)
		}
		p.opening = p.price(s)
	}
	return pools, &all
}

// asSimnets gives the pools whose state differs between two times, as simnet writes them into anvil's.
func asSimnets(opened []world.VolumePool, before, now *poolStates) (changed []world.VolumePool) {
	for i := range *now {
		s := &(*now)[i]
		if *s == (*before)[i] {
			continue
		}
		one := opened[i]
		one.Reserve0, one.Reserve1 = s.reserve0.ToBig(), s.reserve1.ToBig()
		if one.Protocol == world.UniswapV3 {
			one.SqrtPrice, one.Tick = s.sqrtPrice.ToBig(), int(s.tick)
		}
		changed = append(changed, one)
	}
	return changed
}

func address(text string) (a Address) {
	n, _ := new(big.Int).SetString(text, 0) // simnet's own
	n.FillBytes(a[:])
	return a
}
