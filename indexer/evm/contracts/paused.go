package contracts

import (
	"context"

	"github.com/boardwalkhq/boardwalk/indexer/evm/ethcall"
	"github.com/boardwalkhq/boardwalk/indexer/evm/hash"
	"github.com/boardwalkhq/boardwalk/internal/market"
)

// callPaused is what OpenZeppelin's Pausable answers, and what most pausable contracts have by that name.
var callPaused = hash.SelectorHex("paused()")

// Paused asks contracts at the newest block whether they are paused: the answers are in the contracts' order. One without the
// function, or without code, isn't paused.
func (cs Contracts) Paused(ctx context.Context, contracts []market.Address) ([]bool, error) {
	list := make([]*ethcall.Call, len(contracts))
	for i, c := range contracts {
		list[i] = &ethcall.Call{To: c, Data: callPaused}
	}
	if err := cs.calls.CallNewest(ctx, list); err != nil {
		return nil, err
	}
	paused := make([]bool, len(list))
	for i, c := range list {
		// A fallback function may answer anything: only a true boolean counts.
		if v, ok := c.Uint(); ok && len(c.Answer) == 32 {
			paused[i] = v.IsUint64() && v.Uint64() == 1
		}
	}
	return paused, nil
}
