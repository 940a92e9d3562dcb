package enrich

import (
	"context"
	"slices"

	"github.com/boardwalkhq/boardwalk/internal/market"
)

// mutesAtOnce is the most tokens that are asked again at one block.
const mutesAtOnce = 8

// askMute asks tokens that told no decimals once more, at blocks where balances are sampled: at the first that is
// sampleBlocks blocks after they came up, at the first that is twice as many after, and so on. An answer becomes a
// fact of the block. Only near the head, where nodes keep the states, is anybody asked: an index of the past takes
// what an earlier index was told.
func (e *enrichment) askMute(ctx context.Context, b *market.Block) error {
	if b.Number == 0 || b.Number%sampleBlocks != 0 {
		return nil
	}
	known, err := e.recorded(ctx, b)
	if err != nil {
		return err
	}
	told := func(token market.Address) bool {
		return slices.ContainsFunc(b.Facts, func(f market.Fact) bool { t, ok := f.(market.TokenFact); return ok && t.Token == token })
	}
	for _, f := range known {
		if t, ok := f.(market.TokenFact); ok && !told(t.Token) {
			e.add(b, t)
		}
	}
	if !e.following || len(known) > 0 {
		return nil
	}
	e.correct(ctx, b, told)
	due, err := e.mute(ctx, b)
	if err != nil {
		return err
	}
	due = slices.DeleteFunc(due, told)
	if len(due) == 0 {
		return nil
	}
	facts, unsure, err := e.Nodes.TokenFacts(ctx, ref(b), due)
	if err != nil {
		return err
	}
	for i, f := range facts {
		if !f.HasDecimals {
			continue
		}
		// The answer is of now, and transfers since the token came up aren't counted in it: wantedSupplies asks for the supply.
		f.HasSupply, f.Supply = false, market.Amount{}
		e.addTold(b, f, unsure[i])
		e.Log.InfoContext(ctx, "a token that told no decimals does now", "token", f.Token.String(), "block", b.Number)
	}
	return nil
}

// mute draws the tokens that are due at a block. Its hash says where in their order it begins, so that none holds up
// another.
func (e *enrichment) mute(ctx context.Context, b *market.Block) (due []market.Address, err error) {
	from := market.Drawn(b.Hash, e.Config.Native.Wrapped)
	for pause := uint64(sampleBlocks); pause <= b.Number && len(due) < mutesAtOnce; pause *= 2 {
		end := b.Number - pause + 1
		more, err := e.Tokens.Mute(ctx, e.Index(), end-min(end, sampleBlocks), end, from, mutesAtOnce-len(due))
		if err != nil {
			return nil, err
		}
		due = append(due, more...)
	}
	return due, nil
}
