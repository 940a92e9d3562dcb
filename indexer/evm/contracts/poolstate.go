package contracts

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/chain"
	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/manycalls"
	"github.com/boardwalkhq/boardwalk/indexer/evm/poolstate"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// PoolStates asks pools for what they hold after a block; gone reports that no node keeps its state. Where there are several endpoints two of them have to
// give each answer.
func (cs Contracts) PoolStates(ctx context.Context, at chain.Ref, pools []market.PoolCreated) (states []chain.PoolState, gone bool, err error) {
	err = cs.calls.InOneWay(ctx, func(ways manycalls.Ways) error {
		states, gone, err = poolstate.States(pools, ways, asCalls(func(list []*ethcall.Call) (unsure []bool, gone bool, err error) {
			if gone, err = cs.calls.CallAt(ctx, at, list); err != nil || gone {
				return nil, gone, err
			}
			unsure, err = cs.calls.Vouch(ctx, at, false, list)
			return unsure, false, err
		}))
		return err
	})
	return states, gone, err
}

// asCalls lets package poolstate ask by this package's calls. It marks each as one that changes, since a pool's state does with each block.
func asCalls(ask func(list []*ethcall.Call) (unsure []bool, gone bool, err error)) poolstate.Ask {
	return func(asked []*poolstate.Call) (unsure []bool, gone bool, err error) {
		list := make([]*ethcall.Call, len(asked))
		for i, c := range asked {
			list[i] = &ethcall.Call{To: c.To, Data: c.Data, Questions: c.Questions, Changes: true}
		}
		unsure, gone, err = ask(list)
		for i, c := range list {
			asked[i].Answer, asked[i].OK = c.Answer, c.OK
		}
		return unsure, gone, err
	}
}
