package contracts

import (
	"context"
	"fmt"
	"slices"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/internal/chainconfig"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// poolCalls are the calls by which a pool is asked about itself.
var poolCalls = []string{callFactory, callToken0, callToken1, callFee, callTickSpacing, callStable}

// feeCall is the place of fee() among poolCalls.
const feeCall = 3

// poolAsked is a contract that may be a pool, with its answers and that of the factory it names; confirm is nil where it names none of ours.
type poolAsked struct {
	pool    market.Address
	own     []*ethcall.Call
	confirm *ethcall.Call
	info    market.PoolCreated
	reason  string
}

// PoolFacts asks contracts that swapped without our having seen their creation what pools they are. A contract is
// believed only when its declared factory names it for its tokens: anyone can answer anything for themselves. Of pools that count two of
// several endpoints have to say the same; unsure are the facts of such pools, by their place, that they don't give.
func (cs Contracts) PoolFacts(ctx context.Context, at chain.Ref, exchanges []chainconfig.Exchange, pools []market.Address,
	counts func(market.PoolFact) bool,
) (facts []market.PoolFact, unsure []bool, err error) {
	list := make([]*ethcall.Call, 0, len(poolCalls)*len(pools))
	asked := make([]poolAsked, len(pools))
	for i, p := range pools {
		for _, data := range poolCalls {
			list = append(list, &ethcall.Call{To: p, Data: data})
		}
		asked[i] = poolAsked{pool: p, own: list[len(list)-len(poolCalls):]}
	}
	gone, err := cs.calls.CallAtOrNewest(ctx, at, list)
	if err != nil {
		return nil, nil, err
	}
	var confirm []*ethcall.Call
	for i := range asked {
		if q := asked[i].describe(exchanges); q != nil {
			confirm = append(confirm, q)
		}
	}
	if _, err := cs.calls.CallAtOrNewest(ctx, at, confirm); err != nil {
		return nil, nil, err
	}
	if unsure, err = cs.vouchForPools(ctx, at, gone, exchanges, asked, counts); err != nil {
		return nil, nil, err
	}
	facts = make([]market.PoolFact, len(asked))
	for i := range asked {
		facts[i] = asked[i].fact()
	}
	return facts, unsure, nil
}

// describe takes the pool's own answers in, and gives the question to its factory; nil where there is none.
func (p *poolAsked) describe(exchanges []chainconfig.Exchange) *ethcall.Call {
	info, question, reason := describe(p.pool, p.own, exchanges)
	if p.info, p.reason, p.confirm = info, reason, nil; reason == "" {
		p.confirm = &ethcall.Call{To: info.Factory, Data: question}
	}
	return p.confirm
}

// fact makes the pool's fact of the answers.
func (p *poolAsked) fact() market.PoolFact {
	out := market.PoolFact{Pool: p.pool, Reason: p.reason}
	if p.confirm == nil {
		if slices.ContainsFunc(p.own, (*ethcall.Call).IsMute) {
			out.Reason = market.PoolMute
		}
		return out
	}
	if a, ok := p.confirm.Address(); ok && a == p.pool {
		out.Known, out.Info = true, p.info
	} else if out.Reason = "its factory does not know it"; p.confirm.IsMute() {
		out.Reason = market.PoolMute
	}
	return out
}

// decisive are the calls that decide what the fact is. A contract of which nothing speaks for a pool is settled by few: strangers can have
// any contract asked.
func (p *poolAsked) decisive(counts func(market.PoolFact) bool) (calls []*ethcall.Call) {
	factory, tokens := p.own[:1], p.own[1:3]
	switch f := p.fact(); {
	case f.Reason == market.PoolMute:
		return nil // it is asked again in any case
	case f.Known && !counts(f):
		return tokens
	case p.confirm != nil && p.info.Protocol == market.Slipstream: // two nodes may answer fee() by different blocks, and so differently
		return append(slices.Delete(slices.Clone(p.own), feeCall, feeCall+1), p.confirm)
	case p.confirm != nil:
		return append(slices.Clone(p.own), p.confirm)
	case p.reason == undeclaredFactory:
		return factory
	}
	const every = 3 // the first are functions of all pools
	for i, c := range p.own {
		if _, ok := c.Address(); !ok && (i < every || p.reason != noPool) {
			calls = append(calls, c)
		}
	}
	return calls
}

// vouchForPools has other endpoints vouch for pools that count, and for that the others are none. That a contract is no pool is unsure where
// endpoints differ: while no other answers it isn't worth asking again.
func (cs Contracts) vouchForPools(ctx context.Context, at chain.Ref, gone bool, exchanges []chainconfig.Exchange, asked []poolAsked,
	counts func(market.PoolFact) bool,
) (unsure []bool, err error) {
	unsure = make([]bool, len(asked))
	vouched := map[*ethcall.Call]bool{}
	// What others answer may make other calls decide: those of a pool where there was none, and what its factory says then.
	const passes = 4
	for range passes {
		list, of := decisiveCalls(asked, counts, vouched)
		if len(list) == 0 {
			break
		}
		open, err := cs.calls.Vouch(ctx, at, gone, list)
		if err != nil {
			return nil, err
		}
		var again []*ethcall.Call
		for k, i := range of {
			if unsure[i] = unsure[i] || open[k]; k+1 == len(of) || of[k+1] != i {
				again = append(again, asked[i].redescribe(exchanges)...)
			}
		}
		if _, err := cs.calls.CallAtOrNewest(ctx, at, again); err != nil {
			return nil, err
		}
	}
	for i := range asked {
		unsure[i] = unsure[i] && (counts(asked[i].fact()) || asked[i].isDisputed())
	}
	return unsure, nil
}

// decisiveCalls are the calls that decide facts and that nobody has vouched for yet, with the place of each one's contract. It marks them.
func decisiveCalls(asked []poolAsked, counts func(market.PoolFact) bool, vouched map[*ethcall.Call]bool) (list []*ethcall.Call, of []int) {
	for i := range asked {
		for _, c := range asked[i].decisive(counts) {
			if !vouched[c] {
				vouched[c], list, of = true, append(list, c), append(of, i)
			}
		}
	}
	return list, of
}

// redescribe takes the pool's own answers in once more, and gives the question to its factory where it is another one.
func (p *poolAsked) redescribe(exchanges []chainconfig.Exchange) (again []*ethcall.Call) {
	before := p.confirm
	q := p.describe(exchanges)
	switch {
	case q == nil:
	case before != nil && q.To == before.To && q.Data == before.Data:
		p.confirm = before
	default:
		again = append(again, q)
	}
	return again
}

// undeclaredFactory and noPool are why most contracts that swap are no pools of ours.
const (
	undeclaredFactory = "its factory is not declared"
	noPool            = "it answers no factory or tokens"
)

// isDisputed reports whether endpoints answer differently about the contract, and no two alike.
func (p *poolAsked) isDisputed() bool {
	differ := func(c *ethcall.Call) bool { return c.Aside == chain.EndpointsDiffer }
	return slices.ContainsFunc(p.own, differ) || p.confirm != nil && differ(p.confirm)
}

// describe reads a pool's answers and says what to ask its factory; reason is why it is no pool of ours.
func describe(pool market.Address, c []*ethcall.Call, exchanges []chainconfig.Exchange) (info market.PoolCreated, question, reason string) {
	factory, ok0 := c[0].Address()
	token0, ok1 := c[1].Address()
	token1, ok2 := c[2].Address()
	if !ok0 || !ok1 || !ok2 {
		return info, "", noPool
	}
	info = market.PoolCreated{Factory: factory, Pool: pool, Token0: token0, Token1: token1}
	for _, x := range exchanges {
		if x.Factory != factory {
			continue
		}
		info.Protocol = x.Protocol
		switch x.Protocol {
		case market.UniswapV2:
			return info, callGetPair + word(token0) + word(token1), ""
		case market.UniswapV3, market.PancakeSwapV3:
			fee, ok := c[feeCall].Uint()
			spacing, ok1 := c[4].Uint()
			if !ok || !ok1 || !fee.IsUint64() || fee.Uint64() >= 1<<24 || !spacing.IsUint64() || spacing.Uint64() >= 1<<23 {
				return info, "", "it answers no fee or tick spacing"
			}
			info.FeePips, info.TickSpacing = uint32(fee.Uint64()), int32(spacing.Uint64())
			return info, callGetPoolFee + word(token0) + word(token1) + fmt.Sprintf("%064x", fee.Uint64()), ""
		case market.Slipstream: // what fee() answers holds for the moment alone
			spacing, ok := c[4].Uint()
			if !ok || !spacing.IsUint64() || spacing.IsZero() || spacing.Uint64() >= 1<<23 {
				return info, "", "it answers no tick spacing"
			}
			info.TickSpacing = int32(spacing.Uint64())
			return info, getPoolOfSpacing(word(token0)+word(token1), info.TickSpacing), ""
		case market.Solidly:
			stable, ok := c[5].Uint()
			if !ok {
				return info, "", "it does not say whether it is stable"
			}
			info.Stable = !stable.IsZero()
			return info, callGetPoolKind + word(token0) + word(token1) + fmt.Sprintf("%064x", min(stable.Uint64(), 1)), ""
		case market.UniswapV4, market.BondingCurve, market.PumpSwap, market.RaydiumAMMv4, market.RaydiumCPMM, market.MeteoraDAMMv2:
		}
	}
	return info, "", undeclaredFactory
}
