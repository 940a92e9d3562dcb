package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// PoolFacts asks contracts that swapped without our having seen their creation what pools they are. A contract is
// believed only when its declared factory names it for its tokens: anyone can answer anything for themselves.
func (s *Source) PoolFacts(ctx context.Context, at BlockRef, exchanges []chainconfig.Exchange, pools []market.Address,
) ([]market.PoolFact, error) {
	const own = 6
	list := make([]*call, 0, own*len(pools))
	for _, p := range pools {
		for _, data := range []string{callFactory, callToken0, callToken1, callFee, callTickSpacing, callStable} {
			list = append(list, &call{to: p, data: data})
		}
	}
	if _, err := s.callsOrLatest(ctx, at, list); err != nil {
		return nil, err
	}
	out := make([]market.PoolFact, len(pools))
	confirm := make([]*call, 0, len(pools))
	confirmed := make(map[int]*call, len(pools))
	for i, p := range pools {
		out[i] = market.PoolFact{Pool: p}
		c := list[own*i : own*(i+1)]
		info, question, reason := describe(p, c, exchanges)
		if reason != "" {
			if out[i].Reason = reason; slices.ContainsFunc(c, (*call).mute) {
				out[i].Reason = market.PoolMute
			}
			continue
		}
		out[i].Info = info
		q := &call{to: info.Factory, data: question}
		confirm = append(confirm, q)
		confirmed[i] = q
	}
	if _, err := s.callsOrLatest(ctx, at, confirm); err != nil {
		return nil, err
	}
	for i, q := range confirmed {
		if a, ok := q.address(); ok && a == out[i].Pool {
			out[i].Known = true
		} else {
			if out[i].Reason = "its factory does not know it"; q.mute() {
				out[i].Reason = market.PoolMute
			}
			out[i].Info = market.PoolCreated{}
		}
	}
	return out, nil
}

// mute reports whether it isn't known what the contract would answer.
func (c *call) mute() bool { return c.aside == NoAnswer }

// describe reads a pool's answers and says what to ask its factory; reason is why it is no pool of ours.
func describe(pool market.Address, c []*call, exchanges []chainconfig.Exchange) (info market.PoolCreated, question, reason string) {
	factory, ok0 := c[0].address()
	token0, ok1 := c[1].address()
	token1, ok2 := c[2].address()
	if !ok0 || !ok1 || !ok2 {
		return info, "", "it answers no factory or tokens"
	}
	info = market.PoolCreated{Factory: factory, Pool: pool, Token0: token0, Token1: token1}
	for _, x := range exchanges {
		a, err := market.ParseEVMAddress(x.Factory)
		if err != nil || a != factory {
			continue
		}
		info.Protocol = x.Protocol
		switch x.Protocol {
		case market.UniswapV2:
			return info, callGetPair + word(token0) + word(token1), ""
		case market.UniswapV3, market.PancakeSwapV3:
			fee, ok := c[3].uint()
			spacing, ok1 := c[4].uint()
			if !ok || !ok1 || !fee.IsUint64() || fee.Uint64() >= 1<<24 || !spacing.IsUint64() || spacing.Uint64() >= 1<<23 {
				return info, "", "it answers no fee or tick spacing"
			}
			info.FeePips, info.TickSpacing = uint32(fee.Uint64()), int32(spacing.Uint64())
			return info, callGetPoolFee + word(token0) + word(token1) + fmt.Sprintf("%064x", fee.Uint64()), ""
		case market.Solidly:
			stable, ok := c[5].uint()
			if !ok {
				return info, "", "it does not say whether it is stable"
			}
			info.Stable = !stable.IsZero()
			return info, callGetPoolKind + word(token0) + word(token1) + fmt.Sprintf("%064x", min(stable.Uint64(), 1)), ""
		case market.UniswapV4, market.BondingCurve:
		}
	}
	return info, "", "its factory is not declared"
}
