package evm

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// v4Tiers are the fees, in millionths, with the tick spacings that Uniswap's own interface makes V4 pools with; anybody may make others.
var v4Tiers = []struct{ fee, spacing uint32 }{{100, 1}, {500, 10}, {3000, 60}, {10_000, 200}}

// feesOf are the fees, in millionths, of the pools that the factories of V3-like exchanges make for one pair of tokens; owners may add others
// (UniswapV3Factory's and PancakeV3Factory's feeAmountTickSpacing).
func feesOf(p market.Protocol) []uint64 {
	if p == market.PancakeSwapV3 {
		return []uint64{100, 500, 2500, 10_000}
	}
	return []uint64{100, 500, 3000, 10_000}
}

// PoolsOf asks the exchanges' factories for their pools of pairs of tokens; gone reports that no node keeps the block's state, and that the pools
// are those of now. What it finds are claims: PoolFacts says whether each is a pool.
func (cs Contracts) PoolsOf(ctx context.Context, at chain.Ref, exchanges []chainconfig.Exchange, pairs [][2]market.Address) (pools []market.Address, gone bool, err error) {
	var list []*call
	for _, x := range exchanges {
		for _, pair := range pairs {
			for _, data := range poolQuestions(x.Protocol, word(pair[0])+word(pair[1])) {
				list = append(list, &call{to: x.Factory, data: data})
			}
		}
	}
	if gone, err = cs.s.callsOrLatest(ctx, at, list); err != nil {
		return nil, gone, err
	}
	for _, c := range list {
		if pool, ok := c.address(); ok && !pool.IsNative() {
			pools = append(pools, pool)
		}
	}
	return pools, gone, nil
}

// poolQuestions are the calls by which a factory is asked for its pools of two tokens.
func poolQuestions(p market.Protocol, tokens string) (questions []string) {
	switch p {
	case market.UniswapV2:
		questions = []string{callGetPair + tokens}
	case market.Solidly:
		for stable := range 2 {
			questions = append(questions, callGetPoolKind+tokens+fmt.Sprintf("%064x", stable))
		}
	case market.UniswapV3, market.PancakeSwapV3:
		for _, fee := range feesOf(p) {
			questions = append(questions, callGetPoolFee+tokens+fmt.Sprintf("%064x", fee))
		}
	case market.Slipstream:
		questions = slipstreamPoolsOf(tokens)
	case market.UniswapV4, market.BondingCurve, market.PumpSwap, market.RaydiumAMMv4, market.RaydiumCPMM, market.MeteoraDAMMv2: // their pools are no contracts
	}
	return questions
}

// UsualPools are the Uniswap V4 pools without hooks that the exchanges may have of pairs of tokens; a V4 pool's id follows from what it is, so that no
// node has to be asked. Whether they exist their state tells. V4 pools hold the chain's own coin unwrapped, too.
func (cs Contracts) UsualPools(exchanges []chainconfig.Exchange, pairs [][2]market.Address) (pools []market.PoolCreated) {
	for _, x := range exchanges {
		if x.Protocol != market.UniswapV4 {
			continue
		}
		for _, pair := range pairs {
			forms := [][2]market.Address{pair}
			for i, token := range pair {
				if token == cs.s.wrapped {
					forms = append(forms, [2]market.Address{market.Native, pair[1-i]})
				}
			}
			for _, form := range forms {
				for _, tier := range v4Tiers {
					p := market.PoolCreated{
						Protocol: market.UniswapV4, Factory: x.Factory, Token0: form[0], Token1: form[1], FeePips: tier.fee, TickSpacing: int32(tier.spacing),
					}
					if p.Token1.Compare(p.Token0) < 0 {
						p.Token0, p.Token1 = p.Token1, p.Token0
					}
					p.Pool = decode.V4PoolID(p, tier.fee)
					pools = append(pools, p)
				}
			}
		}
	}
	return pools
}
