package contracts

import (
	"context"
	"fmt"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/decode"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

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
	var list []*ethcall.Call
	for _, x := range exchanges {
		for _, pair := range pairs {
			for _, data := range poolQuestions(x.Protocol, word(pair[0])+word(pair[1])) {
				list = append(list, &ethcall.Call{To: x.Factory, Data: data})
			}
		}
	}
	if gone, err = cs.calls.CallAtOrNewest(ctx, at, list); err != nil {
		return nil, gone, err
	}
	for _, c := range list {
		if pool, ok := c.Address(); ok && !pool.IsNative() {
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
func (cs Contracts) UsualPools(exchanges []chainconfig.Exchange, pairs [][2]market.Address, fees ...uint32) (pools []market.PoolCreated) {
	tiers := decode.V4UsualTiers()
	if len(fees) > 0 {
		tiers = nil
	}
	for _, fee := range fees {
		tiers = append(tiers, decode.V4TiersOf(fee)...)
	}
	for _, x := range exchanges {
		if x.Protocol != market.UniswapV4 {
			continue
		}
		for _, pair := range pairs {
			pools = append(pools, decode.V4Pools(x.Factory, pair, tiers)...)
			for i, token := range pair {
				if token == cs.wrapped {
					pools = append(pools, decode.V4Pools(x.Factory, [2]market.Address{market.Native, pair[1-i]}, tiers)...)
				}
			}
		}
	}
	return pools
}
