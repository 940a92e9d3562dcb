package evm

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// PoolStates asks pools for what they hold after a block; gone reports that no node keeps its state. Where there are several endpoints two of them have to
// give each answer.
func (cs Contracts) PoolStates(ctx context.Context, at chain.Ref, pools []market.PoolCreated) (states []chain.PoolState, gone bool, err error) {
	err = cs.s.inOneWay(ctx, func(ways manycalls.Ways) error {
		states, gone, err = poolstate.States(pools, ways, asCalls(func(list []*call) (unsure []bool, gone bool, err error) {
			if gone, err = cs.s.calls(ctx, at, list); err != nil || gone {
				return nil, gone, err
			}
			unsure, err = cs.s.vouch(ctx, at, false, list)
			return unsure, false, err
		}))
		return err
	})
	return states, gone, err
}

// asCalls has the questions of package poolstate asked as calls of this one. A pool changes with each block, so that another block's answers count for nothing.
func asCalls(ask func(list []*call) (unsure []bool, gone bool, err error)) poolstate.Ask {
	return func(questions []*poolstate.Call) (unsure []bool, gone bool, err error) {
		list := make([]*call, len(questions))
		for i, q := range questions {
			list[i] = &call{to: q.To, data: q.Data, questions: q.Questions, changes: true}
		}
		unsure, gone, err = ask(list)
		for i, c := range list {
			questions[i].Answer, questions[i].OK = c.answer, c.ok
		}
		return unsure, gone, err
	}
}
