package enrich

import (
	"context"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// sinceCreation finds, among tokens that a block brings up, those that nobody held before it: what is logged from it on is all
// that there ever was of them.
func (e *enrichment) sinceCreation(ctx context.Context, b *market.Block, facts []market.TokenFact, launched launches) error {
	genesis := e.Config.Start.Block == 0 && !e.Config.Start.Now
	var open []int
	var contracts []market.Address
	for i := range facts {
		f := &facts[i]
		unlaunched := e.Machine.FollowsUnlaunched(f.Token)
		switch {
		case !unlaunched && !launched[f.Token] && !e.state.Launched(f.Token): // nobody counts its holders
		case unlaunched && genesis, f.HasSupply && e.Machine.Explains(f.Token, b.Txs, &f.Supply):
			f.FromCreation = true
		case f.HasSupply: // else, as a rule, the nodes don't keep the block's state, and then not that of the one before
			open, contracts = append(open, i), append(contracts, f.Token)
		}
	}
	if len(open) == 0 {
		return nil
	}
	exist, known, err := e.Nodes.AllExist(ctx, contracts, b.Number-1)
	if err != nil || !known {
		return err
	}
	for k, i := range open {
		facts[i].FromCreation = !exist[k]
	}
	return nil
}
