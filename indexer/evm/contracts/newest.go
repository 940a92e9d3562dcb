package contracts

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/node"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// If nodes don't give the state after a given block, they give the newest state. It is the state after the newest block, if that block is the
// same before and after the question.

const (
	// newestTries is how often an endpoint is asked for pools' newest state until its head stays the same meanwhile, newestTime how long it may
	// take. Each time half as many pools are asked, which takes less time.
	newestTries = 3
	newestTime  = 5 * time.Second
	// newestAsked is how many endpoints are asked at once: two have to be at the same block to agree.
	newestAsked = 3
)

// newestStates are the states that one endpoint told.
type newestStates struct {
	by     *node.Endpoint
	after  chain.Ref
	states []chain.PoolState
}

// NewestPoolStates asks pools for what they hold now, and says after which block that is. Endpoints may be at different blocks; of each one
// that was told there are the states, and only the chain can show which of them it has. Where several endpoints are at one block, two have to
// give a state; where one alone is, and there are others, its states are unsure. Endpoints that fail, or whose head moves on meanwhile each time,
// tell nothing.
func (cs Contracts) NewestPoolStates(ctx context.Context, pools []market.PoolCreated) ([]chain.StatesAfter, error) {
	list := cs.askedForNewest()
	told := make([]newestStates, len(list))
	if err := cs.calls.InOneWay(ctx, func(ways manycalls.Ways) error {
		cs.findWay(ctx, pools, ways)
		var asking sync.WaitGroup
		for i, e := range list {
			asking.Go(func() { told[i] = cs.newestOn(ctx, e, pools, ways) })
		}
		asking.Wait()
		return ctx.Err()
	}); err != nil {
		return nil, err
	}
	var out []chain.StatesAfter
	for i, t := range told {
		if t.states == nil {
			continue
		}
		same := []newestStates{t}
		for j := i + 1; j < len(told); j++ {
			if told[j].states != nil && told[j].after == t.after {
				same = append(same, told[j])
				told[j].states = nil
			}
		}
		out = append(out, chain.StatesAfter{After: t.after, States: cs.agreedStates(same, len(pools))})
	}
	return out, nil
}

// askedForNewest are the endpoints that are asked for the newest state.
func (cs Contracts) askedForNewest() (list []*node.Endpoint) {
	for _, e := range cs.pool.Candidates() {
		if len(list) < newestAsked && (len(list) == 0 || !e.IsSlow()) {
			list = append(list, e)
		}
	}
	return list
}

// findWay finds out which way there is, and who takes deployless calls, so that this takes none of the time between two heads.
func (cs Contracts) findWay(ctx context.Context, pools []market.PoolCreated, ways manycalls.Ways) {
	isV3 := func(p market.PoolCreated) bool { return p.Protocol.Concentrated() && p.Protocol != market.UniswapV4 }
	if !slices.ContainsFunc(pools, isV3) || ways.First() != manycalls.ByMulticall3 {
		return
	}
	const oneWord = 32 // bytes
	c := &ethcall.Call{To: poolstate.Multicall3Address, Data: manycalls.ByMulticall3.Data(manycalls.Probe(1, oneWord), oneWord)}
	if err := cs.calls.CallNewest(ctx, []*ethcall.Call{c}); err == nil && manycalls.ByMulticall3.IsMissing(c.Answer, !c.OK, 1) {
		ways.Next(manycalls.ByMulticall3)
	}
}

// newestOn asks one endpoint.
func (cs Contracts) newestOn(ctx context.Context, e *node.Endpoint, pools []market.PoolCreated, ways manycalls.Ways) newestStates {
	out := newestStates{by: e}
	after, ok := cs.withinOneBlock(ctx, e, len(pools), func(ctx context.Context, count int) (err error) {
		out.states, _, err = poolstate.States(pools[:count], ways, asCalls(func(list []*ethcall.Call) (unsure []bool, gone bool, err error) {
			return make([]bool, len(list)), false, ethcall.AskNewest(ctx, e, list)
		}))
		return err
	})
	if out.after = after; !ok {
		out.states = nil
	}
	return out
}

// withinOneBlock has an endpoint asked for the newest state of so many contracts, until its head is the same before and after; then it gives that head. Each further try
// asks for half as many. ok is false where the head moves on each time, or the endpoint fails.
func (cs Contracts) withinOneBlock(ctx context.Context, e *node.Endpoint, count int, ask func(ctx context.Context, count int) error) (head chain.Ref, ok bool) {
	timed, cancel := context.WithTimeout(ctx, newestTime)
	defer cancel()
	answers := false
	_ = cs.pool.On(timed, e, func(ctx context.Context, e *node.Endpoint) error {
		for try := 0; try < newestTries && count > 0; try++ {
			var before, after chain.Header
			if err := e.Do(ctx, node.TagRequest(node.Newest, &before)); err != nil {
				return err
			}
			answers = true
			if err := ask(ctx, count); err != nil {
				return err
			}
			if err := e.Do(ctx, node.TagRequest(node.Newest, &after)); err != nil {
				return err
			}
			if before.Hash == after.Hash {
				head, ok = chain.Ref{Number: before.Number, Hash: before.Hash}, true
				return nil
			}
			count = (count + 1) / 2
		}
		return nil
	})
	if !answers && timed.Err() != nil && ctx.Err() == nil {
		cs.calls.TookTooLong(e)
	}
	return head, ok
}

// agreedStates are the states of which two endpoints that are at one block give the same. There may be fewer of one than of another.
func (cs Contracts) agreedStates(told []newestStates, pools int) []chain.PoolState {
	out := make([]chain.PoolState, pools)
	for k := range out {
		var given []newestStates
		for _, t := range told {
			if k < len(t.states) {
				given = append(given, t)
			}
		}
		if len(given) == 1 {
			out[k] = given[0].states[k]
			out[k].Unsure = len(cs.pool.List) > 1
		}
		for i := range given {
			for j := range given[:i] {
				if given[i].states[k] == given[j].states[k] {
					out[k] = given[i].states[k]
				}
			}
		}
		for _, t := range given {
			if out[k].Known && t.states[k] != out[k] && len(given) > 1 {
				cs.calls.Contradicted(t.by)
			}
		}
	}
	return out
}
